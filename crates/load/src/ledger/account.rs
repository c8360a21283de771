//! What a receiver should have received, and what happened to it.

use std::ops::AddAssign;

/// The totals of one receiver or of several. `expected = delivered + lost + in_flight`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// Messages addressed to it while it was a member.
    pub expected: u64,
    /// Messages that were received, each counted once.
    pub delivered: u64,
    /// Messages that were not received although there was enough time.
    pub lost: u64,
    /// Messages that were not received, but were sent shortly before the receiver left or the run was stopped.
    pub in_flight: u64,
}

impl Account {
    /// `missing` of the expected messages were not received; `recent` of them were sent too recently to be called lost.
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
