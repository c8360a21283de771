//! What a receiver should have got, and what became of it.

use std::ops::AddAssign;

/// One receiver's account, or the sum of several. `expected = delivered + lost + in_flight`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// Messages that were meant for it while it was a member.
    pub expected: u64,
    /// Those that came, each once.
    pub delivered: u64,
    /// Those that did not come although there was time for it.
    pub lost: u64,
    /// Those that did not come and were sent shortly before the receiver left or the run was stopped.
    pub in_flight: u64,
}

impl Account {
    /// `missing` of the expected ones did not come, `recent` of them were sent too shortly before to be called lost.
    pub(super) fn new(expected: u64, missing: u64, recent: u64) -> Self {
        let missing = missing.min(expected);
        let in_flight = recent.min(missing);
        Self { expected, delivered: expected - missing, lost: missing - in_flight, in_flight }
    }
}

impl AddAssign for Account {
    fn add_assign(&mut self, other: Self) {
        self.expected += other.expected;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.in_flight += other.in_flight;
    }
}
