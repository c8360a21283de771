//! What one user has got of one room.

use crate::ledger::Account;
use crate::ledger::holes::Holes;

/// Publications behind the newest whose coming is kept in the tracker itself.
const WINDOW: u32 = u64::BITS;

/// What one user has got of one room's publications: 32 bytes, and more only while publications are missing.
///
/// Indices are the room's publication numbers of one origin. Publications from `joined` on are expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tracker {
    /// Bit b: whether publication `next - 1 - b` came. What was published before the join counts as come.
    window: u64,
    /// What is not needed by a member that gets everything in its turn.
    rare: Option<Box<Rare>>,
    /// The first expected publication.
    joined: u32,
    /// The publication after the newest that came.
    next: u32,
    /// Expected publications that came.
    delivered: u32,
    /// The user's own publications, which it is not to get.
    excluded: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Rare {
    /// Missing publications behind the window.
    holes: Holes,
    /// The first publication that is not expected any more, once the user has begun to leave.
    departed: Option<u32>,
}

/// What an index means to a tracker.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen {
    /// Came for the first time, and nothing later had come before.
    Fresh,
    /// Came for the first time, after a later publication of the room. It is out of order only if that one was of the
    /// same sender: [`super::Rooms::receive`] finds out.
    Overtaken,
    /// Had come before.
    Duplicate,
    /// Published before the join took effect or after the leave began.
    Unexpected,
    /// Older than what the tracker remembers: it may have come before or not, and has been given up as missing.
    Stale,
}

impl Tracker {
    /// A member from publication `joined` on.
    #[must_use]
    pub fn new(joined: u32) -> Self {
        Self { window: u64::MAX, rare: None, joined, next: joined, delivered: 0, excluded: 0 }
    }

    /// The first publication that this user should get.
    #[must_use]
    pub fn joined(&self) -> u32 {
        self.joined
    }

    /// The publication after the newest that came.
    #[must_use]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Expected publications that have come.
    #[must_use]
    pub fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Takes note that publication `index` came.
    pub fn observe(&mut self, index: u32) -> Seen {
        if self.is_outside(index) {
            return Seen::Unexpected;
        }
        let seen = self.mark(index);
        self.delivered += u32::from(matches!(seen, Seen::Fresh | Seen::Overtaken));
        seen
    }

    /// Takes note that publication `index` is the user's own and will not come back to it.
    pub fn exclude(&mut self, index: u32) {
        if !self.is_outside(index) && matches!(self.mark(index), Seen::Fresh | Seen::Overtaken) {
            self.excluded += 1;
        }
    }

    /// The user begins to leave: publications from `at` on are not expected; earlier ones may still come.
    pub fn depart(&mut self, at: u32) {
        let rare = self.rare.get_or_insert_default();
        rare.departed.get_or_insert(at);
    }

    /// Where the user began to leave.
    #[must_use]
    pub fn departed(&self) -> Option<u32> {
        self.rare.as_ref().and_then(|rare| rare.departed)
    }

    /// The account of a user that leaves at publication `at` (or has departed before): what is missing below `settled`
    /// is lost, the rest in flight.
    #[must_use]
    pub fn leave(&self, at: u32, settled: u32) -> Account {
        let end = self.departed().unwrap_or(at).max(self.joined);
        let expected = u64::from(end - self.joined).saturating_sub(u64::from(self.excluded));
        let missing = expected.saturating_sub(u64::from(self.delivered));
        Account::new(expected, missing, self.missing_within(settled.clamp(self.joined, end), end))
    }

    /// The account of a user by gaps alone, where it is not known what was published: from the first that came to the
    /// newest. What is missing is lost if the user stayed to the end of the drain, else in flight.
    #[must_use]
    pub fn account_gaps(&self, stayed: bool) -> Account {
        self.leave(self.next, if stayed { self.next } else { self.joined })
    }

    /// Whether publication `index` came, or need not come; `None` if that was forgotten.
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
        // The last number is none that a room gives out; without it, the next after any other is a number too.
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

    /// Moves the window's front to `index`, which came; what is missing at its back becomes a hole.
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

    /// Notes what is missing among the `leaving` oldest of the window, and whatever lies between it and the window that
    /// ends with `index`.
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

    /// How many of `from..to` are missing and not forgotten.
    fn missing_within(&self, from: u32, to: u32) -> u64 {
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
