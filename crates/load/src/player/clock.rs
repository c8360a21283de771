//! The run's time: nanoseconds since its start, which may still lie ahead.

use std::time::{Duration, Instant};

use crate::observe::Nanos;

/// A due time that never comes.
pub(crate) const NEVER: Nanos = Nanos::MAX;

/// Tells the run's time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    start_unix_ns: u64,
}

impl Clock {
    pub(crate) fn new(start: Instant, start_unix_ns: u64) -> Self {
        Self { start, start_unix_ns }
    }

    /// Nanoseconds since the start; 0 before it.
    pub(crate) fn now(&self) -> Nanos {
        self.at(Instant::now())
    }

    /// A moment as nanoseconds since the start; 0 before it.
    pub(crate) fn at(&self, moment: Instant) -> Nanos {
        nanos(moment.saturating_duration_since(self.start))
    }

    /// How long until the start, if it lies ahead.
    pub(crate) fn until_start(&self) -> Option<Duration> {
        self.start.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Milliseconds since 1970 at a time of the run.
    pub(crate) fn unix_ms(&self, at: Nanos) -> u64 {
        self.start_unix_ns.saturating_add(at) / 1_000_000
    }

    /// Microseconds since 1970 at a time of the run.
    pub(crate) fn unix_us(&self, at: Nanos) -> u64 {
        self.start_unix_ns.saturating_add(at) / 1_000
    }
}

/// A duration in nanoseconds, [`NEVER`] where it is longer than five centuries.
pub(crate) fn nanos(duration: Duration) -> Nanos {
    u64::try_from(duration.as_nanos()).unwrap_or(NEVER)
}

/// Seconds, as distributions give them, in nanoseconds; nothing below 0.
pub(crate) fn nanos_of_seconds(seconds: f64) -> Nanos {
    // The cast saturates, and makes 0 of what is no number.
    (seconds.max(0.0) * 1e9) as Nanos
}
