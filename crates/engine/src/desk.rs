//! What is asked of the control thread, and where.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;

use crate::driver::ShardIndex;
use crate::handoff::HandedOff;
use crate::mailbox::{Bell, Queue};
use crate::transfer::Token as Ticket;

/// What other threads ask of the control thread.
pub(crate) enum Errand {
    /// Take this socket to a shard with a table of its own.
    Carry {
        shard: ShardIndex,
        ticket: Ticket,
        socket: OwnedFd,
    },
    /// A connection left a shard that shares the table.
    Welcome(HandedOff),
    Stop,
}

/// Where errands are left.
pub(crate) struct ControlDesk {
    errands: Queue<Errand>,
    bell: Bell,
}

impl ControlDesk {
    /// The control thread waits for this bell.
    pub(crate) fn new(bell: Bell) -> Self {
        Self { errands: Queue::new(), bell }
    }

    pub(crate) fn put(&self, errand: Errand) {
        if self.errands.push(errand, usize::MAX).is_ok() {
            self.bell.ring();
        }
    }

    /// Takes what was left.
    pub(crate) fn take_into(&self, errands: &mut VecDeque<Errand>) {
        self.errands.take_into(errands);
        self.errands.handled(errands.len());
    }

    /// The control thread is about to wait for the bell. Says whether there is something to do first.
    pub(crate) fn announce_sleep(&self) -> bool {
        self.bell.announce_sleep();
        self.errands.waiting() > 0
    }

    pub(crate) fn announce_awake(&self) {
        self.bell.announce_awake();
    }
}
