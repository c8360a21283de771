//! The waiting time before an engine is tried again.

use crate::limits::{BACKOFF_MAX, BACKOFF_MIN};
use std::time::Duration;

/// Doubles with each attempt, up to a bound; jitter spreads the nodes of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    tries: u32,
}

impl Backoff {
    /// Starts over after a successful connection.
    pub(crate) fn reset(&mut self) {
        self.tries = 0;
    }

    /// Returns how long to wait; `random` selects a value between half and all of the current maximum.
    pub(crate) fn next(&mut self, random: u32) -> Duration {
        let whole = BACKOFF_MIN.saturating_mul(1 << self.tries.min(16)).min(BACKOFF_MAX);
        self.tries += 1;
        whole / 2 + whole.mul_f64(f64::from(random) / f64::from(u32::MAX) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_a_bound_and_begin_anew_once_the_engine_was_there() {
        let mut backoff = Backoff::default();
        let longest: Vec<Duration> = (0..12).map(|_| backoff.next(u32::MAX)).collect();
        assert_eq!(longest[0], BACKOFF_MIN);
        assert!(longest.windows(2).all(|pair| pair[0] <= pair[1]), "{longest:?}");
        assert_eq!(longest[11], BACKOFF_MAX);
        backoff.reset();
        assert_eq!(backoff.next(0), BACKOFF_MIN / 2);
    }
}
