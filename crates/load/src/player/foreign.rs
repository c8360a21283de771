//! Messages that users on other machines of the run sent to rooms: what a receiver can know about them.
//!
//! Their numbers say which of them are missing between the first that came and the last. Nothing else of them is known
//! here, so nobody is expected to get one before it, or a later one, has come.

use std::collections::BTreeMap;

use crate::ledger::{Account, Receipt, Rooms, Stamp, Tracker};

/// What has come from other machines, for all users of a shard. Runs on one machine have none.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    /// By the user's place, and the room as the machine that sent the message numbers it.
    trackers: BTreeMap<(u32, u16, u32), Tracker>,
}

impl Foreign {
    /// A message came to the user at a place. Returns how many deliveries are known to be expected since: this one, and
    /// those whose numbers it skipped.
    pub(crate) fn receive(&mut self, rooms: &Rooms, place: u32, stamp: &Stamp) -> (Receipt, u32) {
        let key = (place, stamp.origin, stamp.room);
        let tracker = self.trackers.entry(key).or_insert_with(|| Tracker::new(stamp.index));
        let known = tracker.next();
        let receipt = rooms.receive_remote(tracker, stamp);
        (receipt, tracker.next() - known)
    }

    /// The user at a place leaves, or hears nothing any more: what it is missing is lost if it stayed to the end.
    pub(crate) fn leave(&mut self, place: u32, stayed: bool) -> Account {
        let mut account = Account::default();
        while let Some((&key, _)) = self.trackers.range((place, 0, 0)..=(place, u16::MAX, u32::MAX)).next() {
            if let Some(tracker) = self.trackers.remove(&key) {
                account += tracker.account_gaps(stayed);
            }
        }
        account
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(origin: u16, index: u32) -> Stamp {
        Stamp { run_tag: 1, origin, room: 0, index, sender: 9, sequence: index + 1, intended: 0, delay_ns: 0 }
    }

    #[test]
    fn what_is_expected_of_another_machine_is_what_came_and_what_was_skipped() {
        let rooms = Rooms::new(1);
        let mut foreign = Foreign::default();
        for (index, expected) in [
            (7, (Receipt::Ok, 1)),
            (8, (Receipt::Ok, 1)),
            (11, (Receipt::Ok, 3)),
            (8, (Receipt::Duplicate, 0)),
            (10, (Receipt::Ok, 0)),
            (3, (Receipt::Unexpected, 0)),
        ] {
            assert_eq!(foreign.receive(&rooms, 4, &stamp(2, index)), expected, "{index}");
        }
        // Another user's, and another machine's, are counted apart.
        assert_eq!(foreign.receive(&rooms, 5, &stamp(2, 20)), (Receipt::Ok, 1));
        assert_eq!(foreign.receive(&rooms, 4, &stamp(3, 2)), (Receipt::Ok, 1));
        let account = foreign.leave(4, true);
        assert_eq!(account, Account { expected: 6, delivered: 5, lost: 1, in_flight: 0 });
        assert_eq!(foreign.leave(4, true), Account::default());
        assert_eq!(foreign.leave(5, false).delivered, 1);
    }

    #[test]
    fn what_a_user_misses_that_leaves_early_is_in_flight() {
        let rooms = Rooms::new(1);
        let mut foreign = Foreign::default();
        for index in [0, 2] {
            foreign.receive(&rooms, 0, &stamp(1, index));
        }
        assert_eq!(foreign.leave(0, false), Account { expected: 3, delivered: 2, lost: 0, in_flight: 1 });
    }
}
