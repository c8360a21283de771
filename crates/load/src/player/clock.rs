//! The run's time: nanoseconds since its start, which may still be in the future.

use std::time::{Duration, Instant};

use crate::observe::Nanos;

/// A due time that never comes.
pub(crate) const NEVER: Nanos = Nanos::MAX;

/// Converts moments to the run's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    start_unix_ns: u64,
}

impl Clock {
    pub(crate) fn new(start: Instant, start_unix_ns: u64) -> Self {
        Self { start, start_unix_ns }
    }

    /// Returns nanoseconds since the start; 0 before it.
    pub(crate) fn now(&self) -> Nanos {
        self.at(Instant::now())
    }

    /// Converts a moment to nanoseconds since the start; 0 before it.
    pub(crate) fn at(&self, moment: Instant) -> Nanos {
        nanos(moment.saturating_duration_since(self.start))
    }

    /// Returns the time left until the start, if it is in the future.
    pub(crate) fn until_start(&self) -> Option<Duration> {
        self.start.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Converts a time of the run to milliseconds since the Unix epoch.
    pub(crate) fn unix_ms(&self, at: Nanos) -> u64 {
        self.start_unix_ns.saturating_add(at) / 1_000_000
    }

    /// Converts a time of the run to microseconds since the Unix epoch.
    pub(crate) fn unix_us(&self, at: Nanos) -> u64 {
        self.start_unix_ns.saturating_add(at) / 1_000
    }
}

/// Converts a duration to nanoseconds; [`NEVER`] if it is longer than five centuries.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(NEVER)
}

/// Converts seconds, as distributions return them, to nanoseconds; negative values become 0.
pub(crate) fn nanos_of_seconds(seconds: f64) -> Nanos {
    // The cast saturates, and turns NaN into 0.
    (seconds.max(0.0) * 1e9) as Nanos
}
