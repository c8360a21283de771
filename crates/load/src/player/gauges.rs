//! Live counters of a run.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// Counters over all shards. Each may be read at any time; they are not mutually consistent.
#[derive(Debug, Default)]
pub struct Gauges {
    /// Users that the schedule has asked for so far, including those that could not be started.
    pub wanted: AtomicU64,
    /// Users currently playing.
    pub users: AtomicU64,
    /// Sessions that have ended, in whatever way; a user of a closed phase counts once per session.
    pub finished: AtomicU64,
    /// Open WebSockets.
    pub connected: AtomicU64,
    /// Joined Phoenix topics.
    pub joined: AtomicU64,
    /// Entries in all users' presence lists, for joins with `presence`.
    pub present: AtomicU64,
    /// Maximum of [`Gauges::present`].
    pub present_max: AtomicU64,
    /// Maximum length of any one presence list.
    pub present_longest_max: AtomicU64,
    /// Memory of the user tables, in bytes; it never shrinks.
    pub users_bytes: AtomicU64,
    /// Memory of the users' timers, in bytes; it never shrinks.
    pub timers_bytes: AtomicU64,
    /// Index of the current phase among all phases of all rounds, from 0.
    pub phase: AtomicU64,
    /// Time for which shards were blocked because the collector could not keep up, in nanoseconds.
    pub stalled_ns: AtomicU64,
}

impl Gauges {
    /// Updates the gauges when one user's presence list changes from `before` to `after` entries.
    pub(crate) fn list_changed(&self, before: u64, after: u64) {
        // Wraps around if the list has become shorter; the sum over all users does not.
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
