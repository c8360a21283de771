//! The rate limit on new connections in total: a lock-free token bucket, in the form of the generic cell rate algorithm
//! (ITU-T I.371). Its only state is the time at which the bucket will be full again.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

pub(crate) struct Pace {
    /// The interval between two connections at the full rate.
    interval_ns: u64,
    /// How far ahead of schedule the last connection of a burst may come.
    burst_ns: u64,
    full_at_ns: AtomicU64,
    began: Instant,
}

impl Pace {
    /// Allows the given number of connections per second, and bursts of the given size; both at least one.
    pub(crate) fn new(per_second: u32, burst: u32) -> Pace {
        let interval_ns = (1_000_000_000 / u64::from(per_second.max(1))).max(1);
        let burst_ns = interval_ns * u64::from(burst.max(1) - 1);
        Pace { interval_ns, burst_ns, full_at_ns: AtomicU64::new(0), began: Instant::now() }
    }

    /// Returns whether one more connection is allowed now, and counts it if so.
    pub(crate) fn admits(&self) -> bool {
        self.admits_at(self.began.elapsed().as_nanos() as u64)
    }

    fn admits_at(&self, now_ns: u64) -> bool {
        let next = |full_at_ns: u64| {
            let full_at_ns = full_at_ns.max(now_ns);
            (full_at_ns - now_ns <= self.burst_ns).then_some(full_at_ns + self.interval_ns)
        };
        self.full_at_ns.fetch_update(Relaxed, Relaxed, next).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_NS: u64 = 1_000_000_000;

    fn admitted(pace: &Pace, now_ns: u64) -> usize {
        (0..1000).take_while(|_| pace.admits_at(now_ns)).count()
    }

    #[test]
    fn a_burst_is_let_in_and_then_the_rate() {
        let pace = Pace::new(100, 20);
        assert_eq!(admitted(&pace, 0), 20);
        assert_eq!(admitted(&pace, SECOND_NS / 100), 1);
        assert_eq!(admitted(&pace, SECOND_NS / 10), 9);
        assert_eq!(admitted(&pace, 10 * SECOND_NS), 20, "what was not used does not grow beyond the burst");
    }

    #[test]
    fn whoever_is_refused_does_not_delay_the_next() {
        let pace = Pace::new(1, 1);
        assert_eq!(admitted(&pace, 0), 1);
        for now_ns in 1..1000 {
            assert!(!pace.admits_at(now_ns));
        }
        assert!(pace.admits_at(SECOND_NS));
    }
}
