//! Where a run stands, for whoever wants to look at any time.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Counts of all shards together; each may be read at any time, and none waits for another.
#[derive(Debug, Default)]
pub struct Gauges {
    /// Users that the schedule has wanted so far; those that could not be started are among them.
    pub wanted: AtomicU64,
    /// Users that are playing.
    pub users: AtomicU64,
    /// Users whose session has ended, in whatever way; a user of a closed phase counts for each of its sessions.
    pub finished: AtomicU64,
    /// Open WebSockets.
    pub connected: AtomicU64,
    /// Joined Phoenix topics.
    pub joined: AtomicU64,
    /// Entries in the users' lists of who is present, for joins with `presence`.
    pub present: AtomicU64,
    /// The most that [`Gauges::present`] has been.
    pub present_max: AtomicU64,
    /// Entries of the longest of those lists at any moment.
    pub present_longest_max: AtomicU64,
    /// Memory of the tables of users, in bytes; it never shrinks.
    pub users_bytes: AtomicU64,
    /// Memory of the users' timers, in bytes; it never shrinks.
    pub timers_bytes: AtomicU64,
    /// The phase that runs: its place among all phases of all rounds, from 0.
    pub phase: AtomicU64,
    /// How long shards have waited because the collector could not keep up, in nanoseconds.
    pub stalled_ns: AtomicU64,
}

impl Gauges {
    /// One user's list of who is present had so many entries before, and has so many now.
    pub(crate) fn list_changed(&self, before: u64, after: u64) {
        // Wraps around for a list that has become shorter, as the sum over all users does not.
        let change = after.wrapping_sub(before);
        let all = self.present.fetch_add(change, Relaxed).wrapping_add(change);
        self.present_max.fetch_max(all, Relaxed);
        self.present_longest_max.fetch_max(after, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_who_is_present_are_remembered_at_their_longest() {
        let gauges = Gauges::default();
        for (before, after) in [(0, 5), (0, 3), (5, 0), (3, 4), (4, 0)] {
            gauges.list_changed(before, after);
        }
        let read = |gauge: &AtomicU64| gauge.load(Relaxed);
        assert_eq!([&gauges.present, &gauges.present_max, &gauges.present_longest_max].map(read), [0, 8, 5]);
    }
}
