//! Which publications of one room one user has received.

use crate::ledger::Account;
use crate::ledger::holes::Holes;

/// Number of newest publications whose receipt is recorded in the tracker itself.
const WINDOW: u32 = u64::BITS;

/// Records which of one room's publications one user has received: 32 bytes, and more only while publications are
/// missing.
///
/// Indices are the room's publication numbers on one machine. Publications from `joined` on are expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tracker {
    /// Bit b: whether publication `next - 1 - b` was received. Publications before the join count as received.
    window: u64,
    /// State that a member that receives everything in order does not need.
    rare: Option<Box<Rare>>,
    /// The first expected publication.
    joined: u32,
    /// The publication after the newest one received.
    next: u32,
    /// Number of expected publications received.
    delivered: u32,
    /// Number of the user's own publications, which it should not receive.
    excluded: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Rare {
    /// Missing publications behind the window.
    holes: Holes,
    /// The first publication that is no longer expected, once the user has begun to leave.
    departed: Option<u32>,
}

/// Classification of an index by a tracker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Received for the first time, before any later one.
    Fresh,
    /// Received for the first time, after a later publication of the room. It is out of order only if that one is from
    /// the same sender, which [`super::Rooms::receive`] determines.
    Overtaken,
    /// Received before.
    Duplicate,
    /// Published before the join took effect or after the leave began.
    Unexpected,
    /// Older than what the tracker remembers: whether it was received before is unknown, and it has been given up as
    /// missing.
    Stale,
}

impl Tracker {
    /// Returns the tracker of a member from publication `joined` on.
    #[must_use]
    pub fn new(joined: u32) -> Self {
        Self { window: u64::MAX, rare: None, joined, next: joined, delivered: 0, excluded: 0 }
    }

    /// Returns the first publication that this user should receive.
    #[must_use]
    pub fn joined(&self) -> u32 {
        self.joined
    }

    /// Returns the publication after the newest one received.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Returns the number of expected publications received.
    #[must_use]
    pub fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Records that publication `index` was received.
    pub fn observe(&mut self, index: u32) -> Seen {
        if self.is_outside(index) {
            return Seen::Unexpected;
        }
        let seen = self.mark(index);
        self.delivered += u32::from(matches!(seen, Seen::Fresh | Seen::Overtaken));
        seen
    }

    /// Records that publication `index` is the user's own and will not come back to it.
    pub fn exclude(&mut self, index: u32) {
        if !self.is_outside(index) && matches!(self.mark(index), Seen::Fresh | Seen::Overtaken) {
            self.excluded += 1;
        }
    }

    /// The user begins to leave: publications from `at` on are not expected; earlier ones may still arrive.
    pub fn depart(&mut self, at: u32) {
        let rare = self.rare.get_or_insert_default();
        rare.departed.get_or_insert(at);
    }

    /// Returns the publication at which the user began to leave.
    #[must_use]
    pub fn departed(&self) -> Option<u32> {
        self.rare.as_ref().and_then(|rare| rare.departed)
    }

    /// Returns the account of a user that leaves at publication `at` (or has departed before): missing publications
    /// below `settled` are lost, the others in flight.
    #[must_use]
    pub fn leave(&self, at: u32, settled: u32) -> Account {
        let end = self.departed().unwrap_or(at).max(self.joined);
        let expected = u64::from(end - self.joined).saturating_sub(u64::from(self.excluded));
        let missing = expected.saturating_sub(u64::from(self.delivered));
        Account::new(expected, missing, self.missing_within(settled.clamp(self.joined, end), end))
    }

    /// Returns whether publication `index` was received or need not be; `None` if that was forgotten.
    #[must_use]
    pub fn has_seen(&self, index: u32) -> Option<bool> {
        if index >= self.next {
            return Some(false);
        }
        let back = self.next - 1 - index;
        if back < WINDOW {
            return Some(self.window & 1 << back != 0);
        }
        match &self.rare {
            None => Some(true),
            Some(rare) if rare.holes.has_forgotten(index) => None,
            Some(rare) => Some(!rare.holes.contains(index)),
        }
    }

    fn is_outside(&self, index: u32) -> bool {
        // No room ever assigns the highest index; excluding it ensures that `index + 1` does not overflow.
        index < self.joined || index == u32::MAX || self.departed().is_some_and(|departed| index >= departed)
    }

    fn mark(&mut self, index: u32) -> Seen {
        if index >= self.next {
            self.advance(index);
            return Seen::Fresh;
        }
        let back = self.next - 1 - index;
        if back < WINDOW {
            let bit = 1 << back;
            let seen = if self.window & bit == 0 { Seen::Overtaken } else { Seen::Duplicate };
            self.window |= bit;
            return seen;
        }
        let Some(rare) = &mut self.rare else { return Seen::Duplicate };
        if rare.holes.has_forgotten(index) {
            return Seen::Stale;
        }
        if !rare.holes.fill(index) {
            return Seen::Duplicate;
        }
        if **rare == Rare::default() {
            self.rare = None;
        }
        Seen::Overtaken
    }

    /// Moves the window's front to `index`, which was received; what is missing at its back becomes a hole.
    fn advance(&mut self, index: u32) {
        let shift = index - self.next + 1;
        let leaving = shift.min(WINDOW);
        let leaving_bits = u64::MAX << (WINDOW - leaving);
        if self.window & leaving_bits != leaving_bits || shift > WINDOW {
            self.keep_holes(leaving, index);
        }
        self.window = self.window.checked_shl(shift).unwrap_or(0) | 1;
        self.next = index + 1;
    }

    /// Records what is missing among the `leaving` oldest publications of the window, and between it and the window
    /// that ends with `index`.
    fn keep_holes(&mut self, leaving: u32, index: u32) {
        let holes = &mut self.rare.get_or_insert_default().holes;
        for back in (WINDOW - leaving..WINDOW).rev() {
            if self.window & 1 << back == 0 {
                let missing = self.next - 1 - back;
                holes.push(missing, missing + 1);
            }
        }
        holes.push(self.next, (index + 1).saturating_sub(WINDOW));
    }

    /// Returns how many publications in `from..to` are missing and not forgotten.
    pub(super) fn missing_within(&self, from: u32, to: u32) -> u64 {
        let never_reached = u64::from(to.saturating_sub(from.max(self.next)));
        let in_window = (0..WINDOW.min(self.next))
            .filter(|back| self.window & 1 << back == 0)
            .filter(|back| (from..to).contains(&(self.next - 1 - back)))
            .count() as u64;
        let behind = self.rare.as_ref().map_or(0, |rare| rare.holes.count_within(from, to));
        never_reached + in_window + behind
    }
}

const _: () = assert!(size_of::<Tracker>() <= 32);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn account(expected: u64, delivered: u64, lost: u64, in_flight: u64) -> Account {
        Account { expected, delivered, lost, in_flight }
    }

    #[test]
    fn each_publication_counts_once_wherever_it_comes() {
        let mut tracker = Tracker::new(10);
        let table = [
            (9, Seen::Unexpected),
            (10, Seen::Fresh),
            (10, Seen::Duplicate),
            (13, Seen::Fresh),
            (12, Seen::Overtaken),
            (12, Seen::Duplicate),
            (500, Seen::Fresh),
            (11, Seen::Overtaken),
            (11, Seen::Duplicate),
            (14, Seen::Overtaken),
            (13, Seen::Duplicate),
            (u32::MAX, Seen::Unexpected),
        ];
        for (index, expected) in table {
            assert_eq!(tracker.observe(index), expected, "{index}");
        }
        assert_eq!(tracker.leave(502, 502), account(492, 6, 486, 0));
        // Publications from 300 on are too recent to be called lost: 201 of them are missing.
        assert_eq!(tracker.leave(502, 300), account(492, 6, 285, 201));
    }

    #[test]
    fn what_comes_while_leaving_counts_if_it_was_published_before() {
        let mut tracker = Tracker::new(0);
        tracker.observe(0);
        tracker.depart(3);
        assert_eq!(tracker.observe(2), Seen::Fresh);
        assert_eq!(tracker.observe(3), Seen::Unexpected);
        tracker.depart(9);
        assert_eq!(tracker.departed(), Some(3));
        assert_eq!(tracker.leave(100, 0), account(3, 2, 0, 1));
    }

    #[test]
    fn the_users_own_publications_are_not_expected() {
        let mut tracker = Tracker::new(0);
        tracker.observe(0);
        tracker.exclude(1);
        tracker.exclude(1);
        assert_eq!(tracker.observe(2), Seen::Fresh);
        tracker.depart(3);
        tracker.exclude(3);
        assert_eq!(tracker.leave(3, 3), account(2, 2, 0, 0));
    }

    #[test]
    fn memory_is_bounded_and_given_back() {
        let mut tracker = Tracker::new(0);
        for index in (0..200_000).step_by(2) {
            tracker.observe(index);
        }
        assert_eq!(tracker.observe(1), Seen::Stale);
        assert_eq!(tracker.has_seen(1), None);
        assert_eq!(tracker.observe(199_701), Seen::Overtaken);
        assert_eq!(tracker.leave(200_000, 200_000), account(200_000, 100_001, 99_999, 0));
        let mut healed = Tracker::new(0);
        healed.observe(100);
        (0..100).for_each(|index| assert_eq!(healed.observe(index), Seen::Overtaken));
        assert_eq!(healed.rare, None);
        assert_eq!(healed.observe(3), Seen::Duplicate);
    }

    proptest! {
        /// As long as no more is missing than a tracker remembers, it behaves like a set.
        #[test]
        fn it_behaves_as_a_set(
            joined in prop_oneof![0..100_u32, (u32::MAX - 5_000)..(u32::MAX - 4_000)],
            steps in prop::collection::vec((0..400_i64, -300..8_i64, 0..10_u8), 1..300),
            settled in 0..1_400_u32,
        ) {
            let mut tracker = Tracker::new(joined);
            let (mut came, mut own, mut newest) = (BTreeSet::new(), BTreeSet::new(), i64::from(joined) - 1);
            for (far, near, choice) in steps {
                let index = if choice == 0 { i64::from(joined) + far } else { (newest + near).max(0) };
                let Ok(index) = u32::try_from(index) else { continue };
                if choice == 1 {
                    tracker.exclude(index);
                    if index >= joined && !came.contains(&index) {
                        own.insert(index);
                        newest = newest.max(i64::from(index));
                    }
                    continue;
                }
                let expected = if index < joined {
                    Seen::Unexpected
                } else if came.contains(&index) || own.contains(&index) {
                    Seen::Duplicate
                } else if i64::from(index) > newest {
                    Seen::Fresh
                } else {
                    Seen::Overtaken
                };
                prop_assert_eq!(tracker.observe(index), expected);
                if matches!(expected, Seen::Fresh | Seen::Overtaken) {
                    came.insert(index);
                    newest = newest.max(i64::from(index));
                }
            }
            let end = (newest + 1) as u32;
            let settled = joined.saturating_add(settled);
            let missing = (joined..end).filter(|index| !came.contains(index) && !own.contains(index));
            let (lost, in_flight): (Vec<u32>, Vec<u32>) = missing.partition(|&index| index < settled);
            let expected = u64::from(end - joined) - own.len() as u64;
            prop_assert_eq!(
                tracker.leave(end, settled),
                account(expected, came.len() as u64, lost.len() as u64, in_flight.len() as u64)
            );
            for index in joined..end {
                prop_assert_eq!(tracker.has_seen(index), Some(came.contains(&index) || own.contains(&index)));
            }
        }
    }
}
