//! The rooms of a run on this machine: their names, publications and members.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use crate::ledger::recent::{RECENT_SENDERS, Recent};
use crate::ledger::table::{ROOMS_MAX, Table};
use crate::ledger::{Account, Seen, Stamp, Tracker};
use crate::observe::{Nanos, UserId};

/// Publications of one room that can be taken back; further ones stay expected, and are counted.
pub const WITHDRAWN_MAX: usize = 1024;

/// Publications of one room that can be numbered; further ones have no index and are not judged.
const PUBLICATIONS_MAX: u32 = u32::MAX - 1;

/// All rooms, shared by the shards. Nothing but a new room's name takes a lock that others wait for.
#[derive(Debug)]
pub struct Rooms {
    /// A missing publication that is this old is lost; a younger one may be on its way.
    settle_after: Nanos,
    names: RwLock<HashMap<Arc<str>, u32>>,
    table: Table<Room>,
    unjudged_order: AtomicU64,
    stale: AtomicU64,
    unjudged_publications: AtomicU64,
}

#[derive(Debug)]
struct Room {
    name: Arc<str>,
    /// Members above, next publication below, so that both are read and changed at the same moment.
    state: AtomicU64,
    recent: OnceLock<Box<Recent>>,
    settling: Settling,
}

/// Which publications are old enough to be called lost when they are missing.
#[derive(Debug, Default)]
struct Settling {
    /// When the last publication was.
    published_at: AtomicU64,
    /// When `marked` was set.
    marked_at: AtomicU64,
    /// Publications below were made before `marked_at`.
    marked: AtomicU32,
    /// Publications below are old enough.
    settled: AtomicU32,
}

/// No more rooms can be named: [`ROOMS_MAX`] are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomsFull;

impl fmt::Display for RoomsFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {ROOMS_MAX} rooms; let the scenario join fewer different topics")
    }
}

impl std::error::Error for RoomsFull {}

/// A room's new publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Publication {
    /// Its number in the room, from 0.
    pub index: u32,
    /// Members of the room on this machine at that moment, the sender included if it is one.
    pub members: u32,
}

/// What a received publication is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Receipt {
    /// Expected, and in order as far as its sender goes.
    Ok,
    /// Expected, and overtaken by a later one of the same sender.
    Reordered,
    /// Had come before.
    Duplicate,
    /// Published before the join took effect or after the leave began, or never at all.
    Unexpected,
    /// Too old to tell; given up as missing before.
    Stale,
}

/// What could not be judged, over the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unjudged {
    /// Overtaken messages whose overtakers' senders were forgotten or unknown; counted as in order.
    pub order: u64,
    /// Messages that came so late that it was forgotten whether they had come before.
    pub stale: u64,
    /// Publications that could not be numbered, or not be taken back.
    pub publications: u64,
}

impl Rooms {
    /// No rooms yet. `settle_after` is how long a message may take before it is called lost: the run's drain time.
    #[must_use]
    pub fn new(settle_after: Nanos) -> Self {
        Self {
            settle_after,
            names: RwLock::default(),
            table: Table::new(),
            unjudged_order: AtomicU64::new(0),
            stale: AtomicU64::new(0),
            unjudged_publications: AtomicU64::new(0),
        }
    }

    /// The number of the room of this name; the first that asks makes it.
    ///
    /// # Errors
    /// [`RoomsFull`] when the room is new and there are [`ROOMS_MAX`].
    pub fn intern(&self, name: &str) -> Result<u32, RoomsFull> {
        if let Some(&room) = self.names.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Ok(room);
        }
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(&room) = names.get(name) {
            return Ok(room);
        }
        let room = u32::try_from(names.len()).ok().filter(|&room| room < ROOMS_MAX).ok_or(RoomsFull)?;
        let name: Arc<str> = name.into();
        self.table.set(room, Room::new(name.clone()));
        names.insert(name, room);
        Ok(room)
    }

    /// How many rooms there are; their numbers are below.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.names.read().unwrap_or_else(PoisonError::into_inner).len() as u32
    }

    /// Name of a room; `None` where there is none of this number.
    #[must_use]
    pub fn name(&self, room: u32) -> Option<Arc<str>> {
        Some(self.table.entry(room)?.name.clone())
    }

    /// Members of a room on this machine.
    #[must_use]
    pub fn members(&self, room: u32) -> u32 {
        self.table.entry(room).map_or(0, |room| room.state().0)
    }

    /// The index that the room's next publication will have.
    #[must_use]
    pub fn next(&self, room: u32) -> u32 {
        self.table.entry(room).map_or(0, |room| room.state().1)
    }

    /// `sender` publishes to the room now: to be called right before the message goes. `None` where there is no such
    /// room or its numbers are used up; such a message goes without a stamp.
    pub fn publish(&self, room: u32, sender: UserId, now: Nanos) -> Option<Publication> {
        let publication =
            self.table.entry(room).and_then(|room| room.publish(sender, now, self.settle_after));
        if publication.is_none() {
            self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
        }
        publication
    }

    /// Takes a publication back that certainly, or possibly, never went out: the sender's connection ended, or its
    /// outbox was full. Whoever got it all the same keeps it; nobody is expected to.
    pub fn withdraw(&self, room: u32, index: u32) {
        let withdrawn = self.table.entry(room).is_some_and(|room| room.recent().withdraw(index));
        if !withdrawn {
            self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A user's join has taken effect: it gets what is published from now on. A room that does not exist publishes
    /// nothing.
    #[must_use]
    pub fn join(&self, room: u32) -> Tracker {
        const ONE_MEMBER: u64 = 1 << 32;
        Tracker::new(self.table.entry(room).map_or(0, |room| {
            let before = room.state.fetch_add(ONE_MEMBER, Ordering::AcqRel);
            before as u32
        }))
    }

    /// A user begins to leave: nothing that is published from now on is expected of it. What was published before may
    /// still come until [`Self::account`] is made. Once a tracker has departed, departing again does nothing.
    pub fn depart(&self, room: u32, tracker: &mut Tracker) {
        if tracker.departed().is_none() {
            let next = self.table.entry(room).map_or(0, Room::remove_member);
            tracker.depart(next);
        }
    }

    /// Departs, if that has not been done, and tells what the user should have got and what became of it.
    pub fn account(&self, room: u32, mut tracker: Tracker, now: Nanos) -> Account {
        self.depart(room, &mut tracker);
        let Some(room) = self.table.entry(room) else { return Account::default() };
        let settled = room.settled(now, self.settle_after);
        let account = tracker.leave(tracker.next(), settled);
        room.excuse_withdrawn(&tracker, settled, account)
    }

    /// Takes note that a member got a message with this stamp, which must be of this run and machine. (A member that
    /// does not get its own messages back and gets one all the same must not come here: it is [`Receipt::Unexpected`].)
    pub fn receive(&self, tracker: &mut Tracker, stamp: &Stamp) -> Receipt {
        let Some(room) = self.table.entry(stamp.room).filter(|room| stamp.index < room.state().1) else {
            return Receipt::Unexpected;
        };
        match tracker.observe(stamp.index) {
            Seen::Fresh => Receipt::Ok,
            Seen::Duplicate => Receipt::Duplicate,
            Seen::Unexpected => Receipt::Unexpected,
            Seen::Stale => {
                self.stale.fetch_add(1, Ordering::Relaxed);
                Receipt::Stale
            }
            Seen::Overtaken => match room.overtaken_by_same_sender(tracker, stamp) {
                Some(true) => Receipt::Reordered,
                Some(false) => Receipt::Ok,
                None => {
                    self.unjudged_order.fetch_add(1, Ordering::Relaxed);
                    Receipt::Ok
                }
            },
        }
    }

    /// The same for a message that another machine of this run published, by a tracker of that room and origin which
    /// began as `Tracker::new(index)` with the first that came. Whether the same sender overtook it is not known.
    pub fn receive_remote(&self, tracker: &mut Tracker, stamp: &Stamp) -> Receipt {
        match tracker.observe(stamp.index) {
            Seen::Fresh => Receipt::Ok,
            Seen::Duplicate => Receipt::Duplicate,
            Seen::Unexpected => Receipt::Unexpected,
            Seen::Stale => {
                self.stale.fetch_add(1, Ordering::Relaxed);
                Receipt::Stale
            }
            Seen::Overtaken => {
                self.unjudged_order.fetch_add(1, Ordering::Relaxed);
                Receipt::Ok
            }
        }
    }

    /// What could not be judged so far.
    #[must_use]
    pub fn unjudged(&self) -> Unjudged {
        Unjudged {
            order: self.unjudged_order.load(Ordering::Relaxed),
            stale: self.stale.load(Ordering::Relaxed),
            publications: self.unjudged_publications.load(Ordering::Relaxed),
        }
    }
}

impl Room {
    fn new(name: Arc<str>) -> Self {
        Self { name, state: AtomicU64::new(0), recent: OnceLock::new(), settling: Settling::default() }
    }

    /// Members and next publication.
    fn state(&self) -> (u32, u32) {
        let state = self.state.load(Ordering::Acquire);
        ((state >> 32) as u32, state as u32)
    }

    fn recent(&self) -> &Recent {
        self.recent.get_or_init(Box::default)
    }

    fn publish(&self, sender: UserId, now: Nanos, settle_after: Nanos) -> Option<Publication> {
        // Before the number is given out, so that nobody takes a publication of now for a settled one.
        self.settling.published_at.fetch_max(now, Ordering::AcqRel);
        // Not a plain addition: beyond the last number it would make a member.
        let before = self
            .state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| {
                ((state as u32) < PUBLICATIONS_MAX).then_some(state + 1)
            })
            .ok()?;
        let publication = Publication { index: before as u32, members: (before >> 32) as u32 };
        self.recent().set_sender(publication.index, sender);
        self.settling.roll(publication.index, now, settle_after);
        Some(publication)
    }

    /// Returns the first publication that the member is not to get.
    fn remove_member(&self) -> u32 {
        let one_less = |state: u64| Some(if state >> 32 == 0 { state } else { state - (1 << 32) });
        match self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_less) {
            Ok(before) | Err(before) => before as u32,
        }
    }

    fn settled(&self, now: Nanos, settle_after: Nanos) -> u32 {
        let next = self.state().1;
        if now.saturating_sub(self.settling.published_at.load(Ordering::Acquire)) >= settle_after {
            return next;
        }
        self.settling.roll(next, now, settle_after);
        self.settling.settled.load(Ordering::Acquire)
    }

    /// Whether a later publication of the same sender came before this one; `None` where senders were forgotten.
    fn overtaken_by_same_sender(&self, tracker: &Tracker, stamp: &Stamp) -> Option<bool> {
        let recent = self.recent.get()?;
        // Publications that far behind have lost their place, so there is no point in looking at more.
        let mut forgotten = tracker.next() - stamp.index > RECENT_SENDERS;
        let first = (stamp.index + 1).max(tracker.next().saturating_sub(RECENT_SENDERS));
        for index in (first..tracker.next()).rev() {
            if tracker.has_seen(index) != Some(true) {
                continue;
            }
            let sender = recent.sender(index);
            if self.state().1 - index > RECENT_SENDERS {
                forgotten = true;
                break;
            }
            if sender == Some(stamp.sender) {
                return Some(true);
            }
        }
        (!forgotten).then_some(false)
    }

    /// Publications that were taken back and did not come are not expected.
    fn excuse_withdrawn(&self, tracker: &Tracker, settled: u32, mut account: Account) -> Account {
        let Some(recent) = self.recent.get() else { return account };
        let end = tracker.departed().unwrap_or(tracker.next());
        recent.for_each_withdrawn(tracker.joined(), end, |index| {
            let missing = if index < settled { &mut account.lost } else { &mut account.in_flight };
            if tracker.has_seen(index) == Some(false) && *missing > 0 {
                *missing -= 1;
                account.expected -= 1;
            }
        });
        account
    }
}

impl Settling {
    /// Once the mark is old enough, what lies below it is settled, and the mark moves to publication `next`, before
    /// which everything was published by now.
    fn roll(&self, next: u32, now: Nanos, settle_after: Nanos) {
        let marked_at = self.marked_at.load(Ordering::Acquire);
        if now.saturating_sub(marked_at) < settle_after {
            return;
        }
        let won = self.marked_at.compare_exchange(marked_at, now, Ordering::AcqRel, Ordering::Acquire);
        if won.is_ok() {
            self.settled.fetch_max(self.marked.load(Ordering::Acquire), Ordering::AcqRel);
            self.marked.fetch_max(next, Ordering::AcqRel);
        }
    }
}
