//! A shard's part of a recoverable topic's order: how far its members have come, and which joins have something to
//! recover.
//!
//! Publications come from the topic's home in order. If one does not follow the last one, or finds no room in the
//! topic's queue, the shard asks the home for what is missing. Until the answer arrives, the shard ignores other
//! publications: the answer will contain them.

use crate::ids::JoinInstance;
use crate::place::{Epoch, Place, Position, PublisherId};
use crate::planted::PlantedBug;
use crate::sizes::block_bytes;
use std::collections::BTreeMap;

/// Boxed, so that ephemeral topics do not pay for it.
#[derive(Default)]
pub(crate) struct Follow {
    /// The position of the newest publication that was queued for the members; `None` until the home has sent it.
    pub(crate) reached: Option<Position>,
    pub(crate) pace: Pace,
    /// Joins with something to recover, in the order of their arrival.
    pub(crate) recovering: BTreeMap<u32, Recovering>,
    /// The offset of a request for the recovering joins that the home has not answered yet.
    pub(crate) asked_since: Option<u64>,
    /// Whether the topic is on the hub's list of topics with a request for their home.
    pub(crate) listed: bool,
    publishers: Publishers,
    /// The bytes that the shard's counters include for this value.
    pub(crate) accounted: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Pace {
    /// Everything that came was queued.
    #[default]
    Keeping,
    /// Something is missing; it is requested as soon as the queue has room.
    Behind,
    /// The missing part has been requested from the home.
    Asked,
}

/// A join that wants what it missed.
pub(crate) struct Recovering {
    pub(crate) slot: u32,
    pub(crate) instance: JoinInstance,
    pub(crate) request: RecoverRequest,
    /// Whether it has been accepted and waits for nothing else.
    pub(crate) ready: bool,
}

/// The position from which a client wants to recover.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecoverRequest {
    pub(crate) epoch: Epoch,
    pub(crate) offset: u64,
    pub(crate) publisher: Option<PublisherId>,
}

/// How to handle a publication from the home.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It is the next one.
    Queue,
    /// It is here already, or will come again with the missing part.
    Pass,
    /// Something before it is missing.
    Miss,
}

impl Follow {
    pub(crate) fn step(&self, place: &Place) -> Step {
        let Some(reached) = &self.reached else { return Step::Pass };
        match self.pace {
            Pace::Behind | Pace::Asked => Step::Pass,
            Pace::Keeping if reached.epoch != place.epoch => Step::Miss,
            Pace::Keeping if place.offset <= reached.offset => Step::Pass,
            Pace::Keeping if place.previous == reached.offset => Step::Queue,
            Pace::Keeping if PlantedBug::GapGoesUnseen.is_planted() => Step::Queue,
            Pace::Keeping => Step::Miss,
        }
    }

    pub(crate) fn offset(&self) -> u64 {
        self.reached.as_ref().map_or(0, |reached| reached.offset)
    }

    pub(crate) fn advance(&mut self, offset: u64) {
        if let Some(reached) = &mut self.reached {
            reached.offset = offset;
        }
    }

    /// Returns the lowest offset from which the ready joins want the history of this epoch.
    pub(crate) fn recoveries_since(&self) -> Option<u64> {
        let ready = self.recovering.values().filter(|recovering| recovering.ready);
        ready.map(|recovering| recovering.request.offset).min()
    }

    /// Returns whether there is a request to send to the home.
    pub(crate) fn has_question(&self, queue_is_empty: bool) -> bool {
        let behind = self.pace == Pace::Behind && queue_is_empty;
        let recovers = self.asked_since.is_none() && self.pace == Pace::Keeping;
        behind || (recovers && self.recovering.values().any(|recovering| recovering.ready))
    }

    /// Stores the publisher id that an established join sent back.
    pub(crate) fn name(&mut self, slot: u32, publisher: PublisherId) {
        self.publishers.insert(slot, publisher);
    }

    /// Returns the id that the member in this slot sent back or published under.
    pub(crate) fn publisher_of(&self, slot: u32) -> Option<PublisherId> {
        self.publishers.by_slot.get(&slot).copied()
    }

    pub(crate) fn slot_of(&self, publisher: PublisherId) -> Option<u32> {
        self.publishers.by_name.get(&publisher).copied()
    }

    /// Forgets a join that has ended, whether or not it was established.
    pub(crate) fn forget(&mut self, slot: u32, instance: JoinInstance) {
        self.recovering.remove(&instance.0);
        self.publishers.remove(slot);
    }

    /// Returns the memory it takes now, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let recovering = self.recovering.len() * size_of::<(u32, Recovering)>();
        let publishers = self.publishers.by_slot.len() * PUBLISHER_BYTES;
        block_bytes(size_of::<Follow>()) + (recovering + publishers) * 3 / 2
    }
}

const PUBLISHER_BYTES: usize = 2 * size_of::<(u32, PublisherId)>();

/// Members with a known publisher id: those that sent one back, and those that published for the others only.
#[derive(Default)]
struct Publishers {
    by_slot: BTreeMap<u32, PublisherId>,
    by_name: BTreeMap<PublisherId, u32>,
}

impl Publishers {
    /// If two members send back the same id, the later one gets it.
    fn insert(&mut self, slot: u32, name: PublisherId) {
        self.remove(slot);
        if let Some(other) = self.by_name.insert(name, slot) {
            self.by_slot.remove(&other);
        }
        self.by_slot.insert(slot, name);
    }

    fn remove(&mut self, slot: u32) {
        if let Some(name) = self.by_slot.remove(&slot) {
            self.by_name.remove(&name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(text: &str) -> Epoch {
        Epoch::new(text).expect("an epoch")
    }

    fn place(offset: u64, previous: u64) -> Place {
        Place { epoch: epoch("a"), offset, previous, except: None }
    }

    fn at(offset: u64) -> Follow {
        Follow { reached: Some(Position { epoch: epoch("a"), offset }), ..Follow::default() }
    }

    #[test]
    fn what_follows_is_queued_once_and_what_does_not_is_missed() {
        for (offset, previous, step) in [
            (6, 5, Step::Queue),
            (9, 5, Step::Queue),
            (5, 4, Step::Pass),
            (4, 2, Step::Pass),
            (9, 7, Step::Miss),
        ] {
            assert_eq!(at(5).step(&place(offset, previous)), step, "{offset} after {previous}");
        }
        let other = Place { epoch: epoch("b"), ..place(6, 5) };
        assert_eq!(at(5).step(&other), Step::Miss);
        assert_eq!(Follow::default().step(&place(1, 0)), Step::Pass, "the home has not said where it stands");
    }

    #[test]
    fn who_has_asked_passes_over_what_else_comes() {
        for pace in [Pace::Behind, Pace::Asked] {
            assert_eq!(Follow { pace, ..at(5) }.step(&place(6, 5)), Step::Pass);
        }
    }

    #[test]
    fn a_name_is_one_members() {
        let name = |text| PublisherId::parse(text).expect("a name");
        let (ann, bob) = (name("AAAAAAAAAAAAAAAA"), name("BBBBBBBBBBBBBBBB"));
        let mut follow = at(0);
        follow.name(1, ann);
        follow.name(2, ann);
        assert_eq!((follow.slot_of(ann), follow.publisher_of(1)), (Some(2), None));
        follow.name(2, bob);
        assert_eq!((follow.slot_of(ann), follow.slot_of(bob)), (None, Some(2)));
        follow.forget(2, JoinInstance(0));
        assert_eq!((follow.slot_of(bob), follow.publisher_of(2)), (None, None));
    }
}
