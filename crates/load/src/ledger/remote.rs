//! What a member receives from users on other machines, and what it should have received.
//!
//! Machines do not share a room's publication count, but a stamp has the sending machine's. Received messages are
//! judged at once: duplicates and reordering. Missing messages are judged at the end of the run, when each machine
//! reports what it published and when ([`Publications`]): a member should have received what was certainly published
//! after its join and before its leave, within the accuracy of the clocks. What cannot be determined is counted as
//! unjudged, never as lost.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::room::Room;
use super::{Timeline, Tracker};
use crate::observe::{Nanos, UserId};

/// Maximum number of rooms whose publications one machine reports to the others; for further ones, messages between
/// machines are not judged.
pub const PUBLISHED_ROOMS_MAX: usize = 1 << 18;

/// What one member has received from other machines' users in one room.
#[derive(Debug)]
pub struct RemoteReceipts {
    joined_at: Nanos,
    departed_at: Option<Nanos>,
    origins: Vec<OriginReceipts>,
}

/// What was received from one machine.
#[derive(Debug)]
pub(super) struct OriginReceipts {
    pub(super) origin: u16,
    /// The room's number on that machine.
    pub(super) room: u32,
    /// Counts from that machine's first publication, whenever the member joined.
    pub(super) tracker: Tracker,
    /// The senders of that machine's publications, as far as any member here received them.
    pub(super) senders: Arc<Room>,
}

/// A member that has left and waits to be judged.
#[derive(Debug)]
pub struct Stay {
    /// The member.
    pub user: UserId,
    /// Its source address, as in observations.
    pub source: u16,
    /// The room's number on this machine.
    pub room: u32,
    joined_at: Nanos,
    departed_at: Nanos,
    origins: Vec<OriginReceipts>,
}

/// What one machine published.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Publications {
    /// Keyed by room name; rooms without a publication are omitted.
    pub rooms: HashMap<String, Published>,
    /// Whether all rooms with publications are included.
    pub is_whole: bool,
}

/// What one machine published in one room.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Published {
    /// The room's number on that machine.
    pub number: u32,
    /// Number of publications.
    pub count: u32,
    /// Publication times.
    pub timeline: Timeline,
    /// Publications that were not sent, or may not have been: nobody is expected to receive them.
    pub withdrawn: Vec<u32>,
}

/// What all machines published, from which each judges what its members received from the others.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Settlement {
    /// One entry per machine; `None` if unknown.
    pub machines: Vec<Option<Publications>>,
    /// Maximum clock difference between two machines.
    pub clock_error_ns: Nanos,
}

/// Deliveries from one machine that did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Missing {
    /// They were expected, and there was enough time.
    pub lost: u64,
    /// They were expected, but the member left soon after they were sent.
    pub in_flight: u64,
    /// It cannot be determined whether they were expected; 1 for a machine about which nothing is known.
    pub unjudged: u64,
}

impl RemoteReceipts {
    /// Returns the record of a member that joined at a time.
    #[must_use]
    pub fn new(joined_at: Nanos) -> Self {
        Self { joined_at, departed_at: None, origins: Vec::new() }
    }

    /// The member begins to leave. Further calls have no effect.
    pub fn depart(&mut self, at: Nanos) {
        self.departed_at.get_or_insert(at);
    }

    /// The member has left.
    #[must_use]
    pub fn leave(self, user: UserId, source: u16, room: u32, at: Nanos) -> Stay {
        let Self { joined_at, departed_at, origins } = self;
        Stay { user, source, room, joined_at, departed_at: departed_at.unwrap_or(at), origins }
    }

    pub(super) fn origins_mut(&mut self) -> &mut Vec<OriginReceipts> {
        &mut self.origins
    }
}

impl Stay {
    /// Returns what did not arrive from another machine in the room with this name. A missing message is lost if the
    /// member stayed at least `settle_after` after it was sent.
    #[must_use]
    pub fn missing(&self, origin: u16, name: &str, settlement: &Settlement, settle_after: Nanos) -> Missing {
        let unknown = Missing { unjudged: 1, ..Missing::default() };
        let Some(Some(publications)) = settlement.machines.get(usize::from(origin)) else { return unknown };
        let heard = self.origins.iter().find(|heard| heard.origin == origin);
        let published = match publications.rooms.get(name) {
            Some(published) => published,
            None if publications.is_whole && heard.is_none() => return Missing::default(),
            None => return unknown,
        };
        if heard.is_some_and(|heard| heard.room != published.number) {
            return unknown;
        }
        let nothing = Tracker::new(0);
        let tracker = heard.map_or(&nothing, |heard| &heard.tracker);
        self.judge(tracker, published, settlement.clock_error_ns, settle_after)
    }

    fn judge(&self, tracker: &Tracker, published: &Published, error: Nanos, settle_after: Nanos) -> Missing {
        let Published { count, timeline, withdrawn, .. } = published;
        let before = |time: Nanos| timeline.made_before(time.saturating_sub(error)).min(*count);
        let after = |time: Nanos| timeline.made_after(time.saturating_add(error)).min(*count);
        let missing = |from: u32, to: u32| {
            let taken_back = withdrawn.iter().filter(|index| (from..to).contains(*index));
            let excused = taken_back.filter(|index| tracker.has_seen(**index) == Some(false)).count() as u64;
            tracker.missing_within(from, to).saturating_sub(excused)
        };
        // `first..end` was certainly published while the member was present; `maybe_first..maybe_end` possibly.
        let (maybe_first, first) = (before(self.joined_at), after(self.joined_at));
        let (end, maybe_end) = (before(self.departed_at), after(self.departed_at));
        let settled = before(self.departed_at.saturating_sub(settle_after)).clamp(first, end.max(first));
        let forgotten = u64::from(*count)
            .saturating_sub(u64::from(tracker.delivered()))
            .saturating_sub(tracker.missing_within(0, *count));
        let head = missing(maybe_first, first.min(maybe_end));
        let tail = missing(end.max(first), maybe_end);
        Missing {
            lost: missing(first, settled),
            in_flight: missing(settled, end),
            unjudged: head.saturating_add(tail).saturating_add(forgotten),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Receipt, Rooms, Stamp};
    use super::*;

    const SECOND: Nanos = 1_000_000_000;
    const ERROR: Nanos = SECOND / 1_000;

    fn settlement(machines: Vec<Option<Publications>>) -> Settlement {
        Settlement { machines, clock_error_ns: ERROR }
    }

    /// Two machines; the first publishes ten times in a room, once per second from second 1 on.
    fn machines() -> (Rooms, Rooms, u32, u32) {
        let (sending, receiving) = (Rooms::of_machine(SECOND, 0, 2), Rooms::of_machine(SECOND, 1, 2));
        // The machines number their rooms differently.
        sending.intern("hall").expect("there is room");
        let (there, here) = (
            sending.intern("lobby").expect("there is room"),
            receiving.intern("lobby").expect("there is room"),
        );
        for second in 1..=10 {
            sending.publish(there, 7, second * SECOND);
        }
        (sending, receiving, there, here)
    }

    fn stamp(room: u32, index: u32, sender: UserId) -> Stamp {
        Stamp { room, index, sender, ..Stamp::default() }
    }

    #[test]
    fn what_comes_from_another_machine_is_judged_at_once() {
        let (_, rooms, there, here) = machines();
        let mut member = RemoteReceipts::new(0);
        let mut other = RemoteReceipts::new(0);
        let mut receive =
            |index, sender| rooms.receive_elsewhere(&mut member, here, &stamp(there, index, sender));
        assert_eq!(
            [receive(0, 7), receive(2, 7), receive(2, 7)],
            [Receipt::Ok, Receipt::Ok, Receipt::Duplicate]
        );
        assert_eq!(receive(4, 8), Receipt::Ok);
        assert_eq!(receive(3, 9), Receipt::Ok, "another sender's came first");
        assert_eq!(receive(1, 7), Receipt::Reordered, "the same sender's third came first");
        let of_another_room = rooms.receive_elsewhere(&mut other, here, &stamp(there + 1, 0, 7));
        assert_eq!(of_another_room, Receipt::Unexpected);
        let own = Stamp { origin: 1, ..stamp(there, 0, 7) };
        assert_eq!(rooms.receive_elsewhere(&mut other, here, &own), Receipt::Unexpected);
        let of_nobody = Stamp { origin: 2, ..stamp(there, 0, 7) };
        assert_eq!(rooms.receive_elsewhere(&mut other, here, &of_nobody), Receipt::Unexpected);
    }

    #[test]
    fn head_gaps_and_tail_are_lost_once_it_is_known_what_was_published() {
        let (sending, rooms, there, here) = machines();
        let mut member = RemoteReceipts::new(SECOND / 2);
        for index in [1, 2, 4, 7] {
            rooms.receive_elsewhere(&mut member, here, &stamp(there, index, 7));
        }
        let known = settlement(vec![Some(sending.publications()), None]);
        let stay = member.leave(3, 0, here, 20 * SECOND);
        let missing = stay.missing(0, "lobby", &known, SECOND);
        assert_eq!(missing, Missing { lost: 6, in_flight: 0, unjudged: 0 });
        let nobody = RemoteReceipts::new(SECOND / 2).leave(3, 0, here, 20 * SECOND);
        assert_eq!(nobody.missing(0, "lobby", &known, SECOND).lost, 10, "nothing at all came");
        assert_eq!(nobody.missing(0, "elsewhere", &known, SECOND), Missing::default());
    }

    #[test]
    fn who_came_later_and_left_earlier_misses_only_what_was_sent_meanwhile() {
        let (sending, _, _, here) = machines();
        let known = settlement(vec![Some(sending.publications()), None]);
        let stay = |joined_at, left_at| RemoteReceipts::new(joined_at).leave(3, 0, here, left_at);
        let missing = |joined_at, left_at| stay(joined_at, left_at).missing(0, "lobby", &known, SECOND);
        let half = SECOND / 2;
        // Publications of seconds 4 to 7, the last of them half a second before the leave.
        assert_eq!(
            missing(3 * SECOND + half, 7 * SECOND + half),
            Missing { lost: 3, in_flight: 1, unjudged: 0 }
        );
        // Within the clock error of a publication its status cannot be determined.
        assert_eq!(missing(4 * SECOND, 20 * SECOND), Missing { lost: 6, in_flight: 0, unjudged: 1 });
        assert_eq!(missing(half, 4 * SECOND), Missing { lost: 2, in_flight: 1, unjudged: 1 });
        assert_eq!(missing(15 * SECOND, 20 * SECOND), Missing::default());
    }

    #[test]
    fn what_was_taken_back_is_not_missing_and_of_a_lost_machine_nothing_is_known() {
        let (sending, _, there, here) = machines();
        sending.withdraw(there, 3);
        let known = settlement(vec![Some(sending.publications()), None]);
        let stay = RemoteReceipts::new(0).leave(3, 0, here, 20 * SECOND);
        assert_eq!(stay.missing(0, "lobby", &known, SECOND), Missing { lost: 9, in_flight: 0, unjudged: 0 });
        let unknown = Missing { unjudged: 1, ..Missing::default() };
        assert_eq!(stay.missing(0, "lobby", &settlement(vec![None, None]), SECOND), unknown);
    }

    #[test]
    fn what_a_member_has_forgotten_is_not_called_lost() {
        let (sending, rooms) = (Rooms::of_machine(SECOND, 0, 2), Rooms::of_machine(SECOND, 1, 2));
        let (there, here) = (sending.intern("a").expect("room"), rooms.intern("a").expect("room"));
        let mut member = RemoteReceipts::new(0);
        for index in 0..2_000_u32 {
            sending.publish(there, 7, SECOND + u64::from(index));
            if index % 2 == 0 {
                rooms.receive_elsewhere(&mut member, here, &stamp(there, index, 7));
            }
        }
        let known = settlement(vec![Some(sending.publications()), None]);
        let missing = member.leave(3, 0, here, 20 * SECOND).missing(0, "a", &known, SECOND);
        assert_eq!(missing.lost + missing.in_flight + missing.unjudged, 1_000, "{missing:?}");
        assert!(missing.unjudged > 0 && missing.lost > 0, "{missing:?}");
    }
}
