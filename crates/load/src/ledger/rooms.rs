//! The rooms of a run on this machine: their names, publications and members.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::ledger::receipt::{Receipt, Unjudged};
use crate::ledger::remote::{OriginReceipts, PUBLISHED_ROOMS_MAX, Publications, Published, RemoteReceipts};
use crate::ledger::room::{PUBLICATIONS_MAX, Publication, Room};
use crate::ledger::table::{ROOMS_MAX, Table};
use crate::ledger::{Account, Seen, Stamp, Tracker};
use crate::observe::{Nanos, UserId};

/// A room's number here and a machine: the key for another machine's room.
type RoomOfMachine = (u32, u16);

/// All rooms, shared by the shards. Only a new room's name takes a lock on which others wait.
#[derive(Debug)]
pub struct Rooms {
    /// A missing publication at least this old is lost; a younger one may be in flight.
    settle_after: Nanos,
    /// The index of this machine in the run, and the number of machines.
    origin: u16,
    machines: u16,
    names: RwLock<HashMap<Arc<str>, u32>>,
    table: Table<Room>,
    elsewhere: RwLock<HashMap<RoomOfMachine, (u32, Arc<Room>)>>,
    unjudged_order: AtomicU64,
    stale: AtomicU64,
    unjudged_publications: AtomicU64,
}

/// The limit of [`ROOMS_MAX`] room names is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoomsFull;

impl fmt::Display for RoomsFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {ROOMS_MAX} rooms; change the scenario to join fewer different topics")
    }
}

impl std::error::Error for RoomsFull {}

impl Rooms {
    /// Returns an empty set of rooms. `settle_after` is how long a message may take before it is called lost: the run's
    /// drain time.
    #[must_use]
    pub fn new(settle_after: Nanos) -> Self {
        Self::of_machine(settle_after, 0, 1)
    }

    /// Like [`Self::new`], on the machine with index `origin` of several.
    #[must_use]
    pub fn of_machine(settle_after: Nanos, origin: u16, machines: u16) -> Self {
        Self {
            settle_after,
            origin,
            machines,
            names: RwLock::default(),
            table: Table::new(),
            elsewhere: RwLock::default(),
            unjudged_order: AtomicU64::new(0),
            stale: AtomicU64::new(0),
            unjudged_publications: AtomicU64::new(0),
        }
    }

    /// Returns the number of the room with this name, creating the room if it is new.
    ///
    /// # Errors
    /// [`RoomsFull`] if the room is new and there are [`ROOMS_MAX`] already.
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

    /// Returns the number of rooms; room numbers are below it.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.names.read().unwrap_or_else(PoisonError::into_inner).len() as u32
    }

    /// Returns the name of a room; `None` if there is no such room.
    #[must_use]
    pub fn name(&self, room: u32) -> Option<Arc<str>> {
        Some(self.table.entry(room)?.name.clone())
    }

    /// Returns the number of members of a room on this machine.
    #[must_use]
    pub fn members(&self, room: u32) -> u32 {
        self.table.entry(room).map_or(0, |room| room.state().0)
    }

    /// Returns the index of the room's next publication.
    #[must_use]
    pub fn next(&self, room: u32) -> u32 {
        self.table.entry(room).map_or(0, |room| room.state().1)
    }

    /// Assigns an index to a publication by `sender`; call this right before the message is sent. `None` if there is no
    /// such room or its indices are used up; such a message is sent without a stamp.
    pub fn publish(&self, room: u32, sender: UserId, now: Nanos) -> Option<Publication> {
        let room = self.table.entry(room);
        let publication = room.and_then(|room| room.publish(sender, now, self.settle_after));
        match (room, publication) {
            (Some(room), Some(publication)) if self.machines > 1 => room.note_time(publication.index, now),
            (Some(_), Some(_)) => {}
            (None, _) | (_, None) => {
                self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
            }
        }
        publication
    }

    /// Withdraws a publication that was certainly or possibly not sent: the sender's connection ended, or its outbox
    /// was full. Receipts of it still count, but nobody is expected to receive it.
    pub fn withdraw(&self, room: u32, index: u32) {
        let withdrawn = self.table.entry(room).is_some_and(|room| room.recent().withdraw(index));
        if !withdrawn {
            self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Marks a publication as doubtful: its sender was not told that the server accepted it. Receipts of it count as
    /// delivered, but nobody else has lost it.
    pub fn doubt(&self, room: u32, index: u32) {
        let noted = self.table.entry(room).is_some_and(|room| room.recent().doubt(index));
        if !noted {
            self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A user's join has taken effect: it is to receive what is published from now on. A room that does not exist
    /// publishes nothing.
    #[must_use]
    pub fn join(&self, room: u32) -> Tracker {
        Tracker::new(self.table.entry(room).map_or(0, Room::add_member))
    }

    /// A user begins to leave: it is not expected to receive anything published from now on. Earlier publications may
    /// still arrive until [`Self::account`] is called. Further calls for the same tracker have no effect.
    pub fn depart(&self, room: u32, tracker: &mut Tracker) {
        if tracker.departed().is_none() {
            let next = self.table.entry(room).map_or(0, Room::remove_member);
            tracker.depart(next);
        }
    }

    /// Departs, if that has not been done, and returns what the user should have received and what happened to it.
    pub fn account(&self, room: u32, mut tracker: Tracker, now: Nanos) -> Account {
        self.depart(room, &mut tracker);
        let Some(room) = self.table.entry(room) else { return Account::default() };
        let settled = room.settled(now, self.settle_after);
        let account = tracker.leave(tracker.next(), settled);
        room.excuse(&tracker, settled, account)
    }

    /// Records that a member received a message with this stamp, which must be from this run and machine. (A user's own
    /// message that it should not get back must not be passed here: it is [`Receipt::Unexpected`].)
    pub fn receive(&self, tracker: &mut Tracker, stamp: &Stamp) -> Receipt {
        let Some(room) = self.table.entry(stamp.room).filter(|room| stamp.index < room.state().1) else {
            return Receipt::Unexpected;
        };
        match tracker.observe(stamp.index) {
            Seen::Overtaken => self.judge_order(room.overtaken_by_same_sender(tracker, stamp)),
            seen => self.judge(seen),
        }
    }

    /// Like [`Self::receive`], for a message published by another machine of this run that arrived in room `room` of
    /// this machine.
    pub fn receive_elsewhere(&self, elsewhere: &mut RemoteReceipts, room: u32, stamp: &Stamp) -> Receipt {
        let is_of_another = stamp.origin < self.machines && stamp.origin != self.origin;
        if !is_of_another || stamp.index >= PUBLICATIONS_MAX {
            return Receipt::Unexpected;
        }
        let origins = elsewhere.origins_mut();
        let place = origins.iter().position(|heard| heard.origin == stamp.origin);
        let place = place.unwrap_or_else(|| {
            let (number, senders) = self.elsewhere(room, stamp);
            origins.push(OriginReceipts {
                origin: stamp.origin,
                room: number,
                tracker: Tracker::new(0),
                senders,
            });
            origins.len() - 1
        });
        let heard = &mut origins[place];
        if heard.room != stamp.room {
            return Receipt::Unexpected;
        }
        heard.senders.heard(stamp.index, stamp.sender);
        match heard.tracker.observe(stamp.index) {
            Seen::Overtaken => {
                self.judge_order(heard.senders.overtaken_by_same_sender(&heard.tracker, stamp))
            }
            seen => self.judge(seen),
        }
    }

    /// Returns another machine's room and its number there, taken from the first of its messages that arrived here.
    fn elsewhere(&self, room: u32, stamp: &Stamp) -> (u32, Arc<Room>) {
        let mut elsewhere = self.elsewhere.write().unwrap_or_else(PoisonError::into_inner);
        let newcomer = || (stamp.room, Arc::new(Room::new("".into())));
        elsewhere.entry((room, stamp.origin)).or_insert_with(newcomer).clone()
    }

    /// Returns what this machine published, from which the others judge what they received.
    #[must_use]
    pub fn publications(&self) -> Publications {
        let mut rooms = HashMap::new();
        let mut is_whole = true;
        for (number, room) in (0..self.count()).filter_map(|number| Some((number, self.table.entry(number)?)))
        {
            let count = room.state().1;
            if count == 0 {
                continue;
            }
            if rooms.len() >= PUBLISHED_ROOMS_MAX {
                is_whole = false;
                break;
            }
            let withdrawn = room.recent().withdrawn();
            let published = Published { number, count, timeline: room.timeline(), withdrawn };
            rooms.insert(room.name.to_string(), published);
        }
        Publications { rooms, is_whole }
    }

    /// Returns the number of machines that play the run.
    #[must_use]
    pub fn machines(&self) -> u16 {
        self.machines
    }

    /// Returns the counts of what could not be judged so far.
    #[must_use]
    pub fn unjudged(&self) -> Unjudged {
        Unjudged {
            order: self.unjudged_order.load(Ordering::Relaxed),
            stale: self.stale.load(Ordering::Relaxed),
            publications: self.unjudged_publications.load(Ordering::Relaxed),
        }
    }

    fn judge(&self, seen: Seen) -> Receipt {
        match seen {
            Seen::Fresh => Receipt::Ok,
            Seen::Overtaken => self.judge_order(None),
            Seen::Duplicate => Receipt::Duplicate,
            Seen::Unexpected => Receipt::Unexpected,
            Seen::Stale => {
                self.stale.fetch_add(1, Ordering::Relaxed);
                Receipt::Stale
            }
        }
    }

    fn judge_order(&self, overtaken: Option<bool>) -> Receipt {
        match overtaken {
            Some(true) => Receipt::Reordered,
            Some(false) => Receipt::Ok,
            None => {
                self.unjudged_order.fetch_add(1, Ordering::Relaxed);
                Receipt::Ok
            }
        }
    }
}

#[cfg(test)]
mod tests;
