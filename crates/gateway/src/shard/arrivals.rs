//! Tells whether connections arrive at a shard in a storm, as they do after an outage. This module owns the count of
//! those that came lately; it does not know what is done in a storm.

use std::time::{Duration, Instant};

/// How long arrivals are counted before the count is judged.
const WINDOW: Duration = Duration::from_millis(500);

/// The least number of connections in a window that is a storm: with a hundred shards, 5,000 a second for all of them.
const STORM: u32 = 25;

/// The connections that a shard accepted lately.
pub(crate) struct Arrivals {
    since: Instant,
    count: u32,
    is_storm: bool,
}

impl Arrivals {
    pub(crate) fn new(now: Instant) -> Arrivals {
        Arrivals { since: now, count: 0, is_storm: false }
    }

    /// Counts a connection.
    pub(crate) fn add(&mut self) {
        // Where there are no turns, nobody asks, and the count is never reset.
        self.count = self.count.saturating_add(1);
    }

    /// Returns whether those of the last complete window were a storm. A window in which nobody asked lasts longer.
    pub(crate) fn are_a_storm(&mut self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.since);
        if elapsed >= WINDOW {
            self.is_storm = WINDOW.saturating_mul(self.count) >= elapsed.saturating_mul(STORM);
            (self.since, self.count) = (now, 0);
        }
        self.is_storm
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_in_a_window_are_a_storm_until_one_with_few_is_over() {
        let mut now = Instant::now();
        let mut arrivals = Arrivals::new(now);
        let mut window = |count, length| {
            (0..count).for_each(|_| arrivals.add());
            now += length;
            arrivals.are_a_storm(now)
        };
        assert!(!window(STORM - 1, WINDOW));
        assert!(!window(STORM, WINDOW / 2), "the window is not over");
        assert!(window(0, WINDOW / 2));
        assert!(window(0, WINDOW / 2), "nor is this one");
        assert!(!window(STORM - 1, WINDOW / 2));
        assert!(!window(STORM, WINDOW * 2), "half as many for twice the time");
        assert!(window(STORM * 2, WINDOW * 2));
        assert!(!window(0, WINDOW * 100), "nobody came for long");
    }
}
