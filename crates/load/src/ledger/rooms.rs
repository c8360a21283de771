//! The rooms of a run on this machine: their names, publications and members.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::ledger::elsewhere::{Elsewhere, Heard, PUBLISHED_ROOMS_MAX, Publications, Published};
use crate::ledger::room::{PUBLICATIONS_MAX, Publication, Room};
use crate::ledger::table::{ROOMS_MAX, Table};
use crate::ledger::{Account, Seen, Stamp, Tracker};
use crate::observe::{Nanos, UserId};

/// A room's number here and a machine; by them another machine's room is found, with its number there.
type RoomOfMachine = (u32, u16);

/// All rooms, shared by the shards. Nothing but a new room's name takes a lock that others wait for.
#[derive(Debug)]
pub struct Rooms {
    /// A missing publication that is this old is lost; a younger one may be on its way.
    settle_after: Nanos,
    /// The place of this machine among the run's, and how many they are.
    origin: u16,
    machines: u16,
    names: RwLock<HashMap<Arc<str>, u32>>,
    table: Table<Room>,
    elsewhere: RwLock<HashMap<RoomOfMachine, (u32, Arc<Room>)>>,
    unjudged_order: AtomicU64,
    stale: AtomicU64,
    unjudged_publications: AtomicU64,
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
    /// Publications that could not be numbered, or not be taken back or doubted.
    pub publications: u64,
}

impl Rooms {
    /// No rooms yet. `settle_after` is how long a message may take before it is called lost: the run's drain time.
    #[must_use]
    pub fn new(settle_after: Nanos) -> Self {
        Self::of_machine(settle_after, 0, 1)
    }

    /// The same on one of several machines, whose place among them is `origin`.
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

    /// Takes a publication back that certainly, or possibly, never went out: the sender's connection ended, or its
    /// outbox was full. Whoever got it all the same keeps it; nobody is expected to.
    pub fn withdraw(&self, room: u32, index: u32) {
        let withdrawn = self.table.entry(room).is_some_and(|room| room.recent().withdraw(index));
        if !withdrawn {
            self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Nobody knows whether a publication was taken: its sender was not told that it was. Whoever gets it has it; nobody
    /// else has lost it.
    pub fn doubt(&self, room: u32, index: u32) {
        let noted = self.table.entry(room).is_some_and(|room| room.recent().doubt(index));
        if !noted {
            self.unjudged_publications.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A user's join has taken effect: it gets what is published from now on. A room that does not exist publishes
    /// nothing.
    #[must_use]
    pub fn join(&self, room: u32) -> Tracker {
        Tracker::new(self.table.entry(room).map_or(0, Room::add_member))
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
        room.excuse(&tracker, settled, account)
    }

    /// Takes note that a member got a message with this stamp, which must be of this run and machine. (A member that
    /// does not get its own messages back and gets one all the same must not come here: it is [`Receipt::Unexpected`].)
    pub fn receive(&self, tracker: &mut Tracker, stamp: &Stamp) -> Receipt {
        let Some(room) = self.table.entry(stamp.room).filter(|room| stamp.index < room.state().1) else {
            return Receipt::Unexpected;
        };
        match tracker.observe(stamp.index) {
            Seen::Overtaken => self.judge_order(room.overtaken_by_same_sender(tracker, stamp)),
            seen => self.judge(seen),
        }
    }

    /// The same for a message that another machine of this run published and that came in the room of this number here.
    pub fn receive_elsewhere(&self, elsewhere: &mut Elsewhere, room: u32, stamp: &Stamp) -> Receipt {
        let is_of_another = stamp.origin < self.machines && stamp.origin != self.origin;
        if !is_of_another || stamp.index >= PUBLICATIONS_MAX {
            return Receipt::Unexpected;
        }
        let origins = elsewhere.origins_mut();
        let place = origins.iter().position(|heard| heard.origin == stamp.origin);
        let place = place.unwrap_or_else(|| {
            let (number, senders) = self.elsewhere(room, stamp);
            origins.push(Heard { origin: stamp.origin, room: number, tracker: Tracker::new(0), senders });
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

    /// Another machine's room: its number there, as the first of its messages that came here has it.
    fn elsewhere(&self, room: u32, stamp: &Stamp) -> (u32, Arc<Room>) {
        let mut elsewhere = self.elsewhere.write().unwrap_or_else(PoisonError::into_inner);
        let newcomer = || (stamp.room, Arc::new(Room::new("".into())));
        elsewhere.entry((room, stamp.origin)).or_insert_with(newcomer).clone()
    }

    /// What this machine published, for the others to judge by.
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

    /// How many machines play the run.
    #[must_use]
    pub fn machines(&self) -> u16 {
        self.machines
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
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::ledger::{RECENT_SENDERS, WITHDRAWN_MAX};

    const SECOND: Nanos = 1_000_000_000;

    fn stamp(room: u32, index: u32, sender: UserId) -> Stamp {
        Stamp { room, index, sender, ..Stamp::default() }
    }

    #[test]
    fn a_name_has_one_number_and_a_number_its_name() {
        let rooms = Rooms::new(SECOND);
        let numbers: Vec<_> = ["a", "b", "a", ""].into_iter().map(|name| rooms.intern(name)).collect();
        assert_eq!(numbers, [Ok(0), Ok(1), Ok(0), Ok(2)]);
        assert_eq!(rooms.count(), 3);
        assert_eq!(rooms.name(1).as_deref(), Some("b"));
        assert_eq!(rooms.name(3), None);
    }

    #[test]
    fn a_member_should_get_what_is_published_between_its_join_and_its_leave() {
        let rooms = Rooms::new(SECOND);
        let room = rooms.intern("lobby").expect("there is room");
        assert_eq!(rooms.publish(room, 1, 0), Some(Publication { index: 0, members: 0 }));
        let mut member = rooms.join(room);
        assert_eq!(rooms.publish(room, 1, 1), Some(Publication { index: 1, members: 1 }));
        assert_eq!(rooms.publish(room, 1, 2), Some(Publication { index: 2, members: 1 }));
        let receipts = [0, 1, 1, 3].map(|index| rooms.receive(&mut member, &stamp(room, index, 1)));
        // Nobody has published number 3, whatever the message says.
        assert_eq!(receipts, [Receipt::Unexpected, Receipt::Ok, Receipt::Duplicate, Receipt::Unexpected]);
        rooms.depart(room, &mut member);
        rooms.depart(room, &mut member);
        assert_eq!(rooms.members(room), 0);
        assert_eq!(rooms.publish(room, 1, 3), Some(Publication { index: 3, members: 0 }));
        let account = rooms.account(room, member, 4);
        assert_eq!(account, Account { expected: 2, delivered: 1, lost: 0, in_flight: 1 });
    }

    #[test]
    fn out_of_order_is_what_the_same_sender_overtook() {
        let rooms = Rooms::new(SECOND);
        let room = rooms.intern("lobby").expect("there is room");
        let mut member = rooms.join(room);
        for sender in [1, 2, 1, 2] {
            rooms.publish(room, sender, 0);
        }
        let receipts = [(2, 1), (1, 2), (0, 1), (3, 2)]
            .map(|(index, sender)| rooms.receive(&mut member, &stamp(room, index, sender)));
        assert_eq!(receipts, [Receipt::Ok, Receipt::Ok, Receipt::Reordered, Receipt::Ok]);
        assert_eq!(rooms.unjudged(), Unjudged::default());
    }

    #[test]
    fn what_cannot_be_judged_any_more_is_counted() {
        let rooms = Rooms::new(SECOND);
        let room = rooms.intern("lobby").expect("there is room");
        let mut member = rooms.join(room);
        for sender in 0..RECENT_SENDERS + 10 {
            rooms.publish(room, sender, 0);
        }
        assert_eq!(rooms.receive(&mut member, &stamp(room, 5, 5)), Receipt::Ok);
        assert_eq!(rooms.receive(&mut member, &stamp(room, 3, 3)), Receipt::Ok);
        assert_eq!(rooms.unjudged(), Unjudged { order: 1, ..Unjudged::default() });
        assert_eq!(rooms.publish(room + 1, 0, 0), None);
        assert_eq!(rooms.unjudged().publications, 1);
    }

    #[test]
    fn what_is_missing_is_lost_after_the_settling_time_and_in_flight_before() {
        let rooms = Rooms::new(SECOND);
        let room = rooms.intern("lobby").expect("there is room");
        let join = || rooms.join(room);
        let members = [join(), join(), join(), join()];
        // One each 100 ms.
        for beat in 0..40 {
            rooms.publish(room, 1, beat * SECOND / 10);
        }
        let at_ms = [3_900, 3_950, 4_899, 4_900];
        let accounts =
            [0, 1, 2, 3].map(|n| rooms.account(room, members[n].clone(), at_ms[n] * SECOND / 1_000));
        for (account, at_ms) in accounts.into_iter().zip(at_ms) {
            assert_eq!((account.expected, account.lost + account.in_flight), (40, 40));
            let older =
                |settle_ms: u64| (0..40).filter(|beat| beat * 100 + settle_ms <= at_ms).count() as u64;
            assert!(account.lost <= older(1_000), "at {at_ms} ms: {account:?}");
            assert!(account.lost >= older(2_200), "at {at_ms} ms: {account:?}");
        }
        assert_eq!(accounts[3].lost, 40);
    }

    #[test]
    fn what_was_taken_back_is_expected_of_nobody_who_did_not_get_it() {
        let rooms = Rooms::new(SECOND);
        let room = rooms.intern("lobby").expect("there is room");
        let (mut lucky, unlucky) = (rooms.join(room), rooms.join(room));
        for _ in 0..3 {
            rooms.publish(room, 1, 0);
        }
        rooms.withdraw(room, 1);
        rooms.withdraw(room, 1);
        rooms.receive(&mut lucky, &stamp(room, 1, 1));
        let account = |expected, delivered| Account { expected, delivered, lost: 2, in_flight: 0 };
        assert_eq!(rooms.account(room, lucky, 5 * SECOND), account(3, 1));
        assert_eq!(rooms.account(room, unlucky, 5 * SECOND), account(2, 0));
        (0..=WITHDRAWN_MAX as u32).for_each(|index| rooms.withdraw(room, index));
        assert_eq!(rooms.unjudged().publications, 1);
    }

    #[test]
    fn what_is_in_doubt_is_expected_and_lost_to_nobody() {
        let rooms = Rooms::new(SECOND);
        let room = rooms.intern("lobby").expect("there is room");
        let (mut lucky, unlucky) = (rooms.join(room), rooms.join(room));
        for _ in 0..3 {
            rooms.publish(room, 1, 0);
        }
        rooms.doubt(room, 1);
        rooms.doubt(room, 1);
        rooms.receive(&mut lucky, &stamp(room, 1, 1));
        let account = |delivered, lost, in_flight| Account { expected: 3, delivered, lost, in_flight };
        assert_eq!(rooms.account(room, lucky, 5 * SECOND), account(1, 2, 0));
        assert_eq!(rooms.account(room, unlucky, 5 * SECOND), account(0, 2, 1));
        (0..=WITHDRAWN_MAX as u32).for_each(|index| rooms.doubt(room, index));
        assert_eq!(rooms.unjudged().publications, 1);
    }

    #[test]
    fn many_threads_share_the_rooms() {
        const THREADS: u32 = 4;
        const ROUNDS: u32 = 2_000;
        let rooms = Rooms::new(SECOND);
        let results: Vec<(u64, u64, Vec<u32>)> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let rooms = &rooms;
                    scope.spawn(move || {
                        let (mut receivers, mut expected, mut indices) = (0, 0, Vec::new());
                        for round in 0..ROUNDS {
                            let room = rooms.intern(&format!("room {}", round % 100)).expect("there is room");
                            let member = rooms.join(room);
                            let publication =
                                rooms.publish(room, thread, u64::from(round)).expect("it is a room");
                            receivers += u64::from(publication.members);
                            expected += rooms.account(room, member, u64::from(round)).expected;
                            if round % 100 == 0 {
                                indices.push(publication.index);
                            }
                        }
                        (receivers, expected, indices)
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("it did not panic")).collect()
        });
        let receivers: u64 = results.iter().map(|(receivers, ..)| receivers).sum();
        let expected: u64 = results.iter().map(|(_, expected, _)| expected).sum();
        assert_eq!(receivers, expected, "each publication is expected by those who were members then");
        let indices: HashSet<u32> = results.into_iter().flat_map(|(.., indices)| indices).collect();
        assert_eq!(indices.len() as u32, THREADS * ROUNDS / 100);
        assert_eq!(rooms.count(), 100);
        assert!((0..100).all(|room| rooms.members(room) == 0 && rooms.next(room) == THREADS * ROUNDS / 100));
    }
}
