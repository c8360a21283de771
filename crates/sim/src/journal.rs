//! What the test channels report about themselves while the hub runs them.
//!
//! From here, and from nothing inside the hub, the oracle learns when a join began and ended and what was published.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A socket from opening to end; slots are reused, these ids are not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ClientId(pub(crate) u32);

/// One `phx_join`. Its number is also the join's `ref` and, where it has one, its `join_ref`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct JoinId(pub(crate) u32);

/// One publication; its payload carries the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct PublicationId(pub(crate) u64);

/// Each presence meta carries one of these, new for each track and each update.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark(pub(crate) u64);

/// One publication, as its publisher meant it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Published {
    pub(crate) id: PublicationId,
    pub(crate) topic: String,
    /// The client whose channel published; `None` for the server itself.
    pub(crate) publisher: Option<ClientId>,
    /// Whether the publisher is left out.
    pub(crate) from: bool,
    /// Whether channels that intercept handle it themselves.
    pub(crate) intercepted: bool,
    /// Whether it is binary.
    pub(crate) binary: bool,
}

/// One thing that a channel did or that was done to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Note {
    Joined {
        join: JoinId,
    },
    Ended {
        join: JoinId,
    },
    Published(Published),
    /// An intercepted publication reached the channel, which pushes or withholds it.
    HandedOut {
        join: JoinId,
        id: PublicationId,
        pushed: bool,
    },
    Tracked {
        join: JoinId,
        key: String,
        mark: Mark,
    },
    Untracked {
        join: JoinId,
        key: String,
    },
    Kicked {
        socket_id: String,
    },
}

/// Shared by the channels of all shards of one run, which is one thread.
#[derive(Clone, Default)]
pub(crate) struct Journal(Rc<Shared>);

#[derive(Default)]
struct Shared {
    notes: RefCell<Vec<Note>>,
    numbers: Cell<u64>,
}

impl Journal {
    pub(crate) fn note(&self, note: Note) {
        self.0.notes.borrow_mut().push(note);
    }

    pub(crate) fn take(&self) -> Vec<Note> {
        self.0.notes.take()
    }

    /// Returns a number that no publication and no mark had before.
    pub(crate) fn number(&self) -> u64 {
        self.0.numbers.set(self.0.numbers.get() + 1);
        self.0.numbers.get()
    }
}
