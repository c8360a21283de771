//! The status of a run at one moment.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::statistics::{Counts, ErrorCount, SeriesRow, Times, Verdict};

/// The status of a run at one moment: everything that views show, and the body of `/api/status`.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Status {
    /// Name of the scenario.
    pub scenario: String,
    /// The server under test, as the user wrote it.
    pub target: String,
    /// Seed of the run.
    pub seed: u64,
    /// The stage of the run.
    pub stage: Stage,
    /// The current phase; `None` before the first and after the last.
    pub phase: Option<PhaseStatus>,
    /// Seconds since the start of the first phase.
    pub elapsed_seconds: f64,
    /// Seconds to the planned end; `None` if the plan has none.
    pub remaining_seconds: Option<f64>,
    /// Completed share of the plan, 0 … 1; `None` if the plan has no end.
    pub progress: Option<f64>,
    /// Numbers of users.
    pub users: Users,
    /// The last complete second.
    pub latest: SeriesRow,
    /// Totals of the run so far.
    pub totals: Counts,
    /// Times of the run so far.
    pub times: Times,
    /// Message latency of the run so far, from the intended send time.
    pub latency: Buckets,
    /// The generator's own delay of sends in the run so far.
    pub send_lag: Buckets,
    /// Connect times of the run so far.
    pub connect: Buckets,
    /// Errors so far, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Whether the figures so far are credible.
    pub verdict: Verdict,
    /// What ended the run: `finished`, `duration`, `stopped`, `aborted`, or an error. Empty until it has ended.
    pub ended_by: String,
}

/// The stage of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The machine is examined and the shards are created.
    #[default]
    Starting,
    /// Phases are running.
    Running,
    /// Nothing new starts; messages in flight are waited for.
    Draining,
    /// The run is over.
    Ended,
}

/// The current phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PhaseStatus {
    /// Its number, from 1, over all rounds.
    pub number: u32,
    /// How many there are, over all rounds.
    pub of: u32,
    /// Its name in the scenario.
    pub name: String,
}

/// Numbers of users at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Users {
    /// Planned by the scenario.
    pub wanted: u64,
    /// Arrived and not finished.
    pub active: u64,
    /// With an open WebSocket.
    pub connected: u64,
    /// Current joins.
    pub joined: u64,
}

/// Upper bounds of the buckets of [`Buckets`] in microseconds; a final bucket holds longer times.
pub const LATENCY_BOUNDS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Times counted in buckets, a form that Prometheus can sum over time and machines.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Buckets {
    /// Number of times above the previous bound and up to this one of [`LATENCY_BOUNDS_US`]; the last counts those
    /// above all bounds.
    pub counts: [u64; LATENCY_BOUNDS_US.len() + 1],
    /// Sum of all times in seconds.
    pub sum_seconds: f64,
}

impl Status {
    /// Returns the status of a run that has not started, with a valid verdict.
    pub fn starting(scenario: &str, target: &str, seed: u64) -> Self {
        Self {
            scenario: scenario.to_owned(),
            target: target.to_owned(),
            seed,
            verdict: Verdict { valid: true, reasons: Vec::new() },
            ..Self::default()
        }
    }
}

impl Stage {
    /// Returns the stage as one word.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Starting => "starting",
            Stage::Running => "running",
            Stage::Draining => "draining",
            Stage::Ended => "ended",
        }
    }
}

impl Buckets {
    /// Buckets the values of a histogram in microseconds, with the histogram's own precision.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let mut buckets = Self::default();
        let mut sum_us = 0.0;
        for value in histogram.iter_recorded() {
            let count = value.count_at_value();
            buckets.counts[LATENCY_BOUNDS_US.partition_point(|bound| *bound < value.value_iterated_to())] +=
                count;
            sum_us += count as f64 * histogram.median_equivalent(value.value_iterated_to()) as f64;
        }
        buckets.sum_seconds = sum_us / 1e6;
        buckets
    }

    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_in_the_bucket_of_the_first_bound_that_is_not_below_it() {
        let mut histogram = Histogram::<u64>::new(3).expect("a histogram");
        for time_us in [40, 100, 101, 999, 1_000, 60_000_000] {
            histogram.record(time_us).expect("within the range");
        }
        let buckets = Buckets::of(&histogram);
        assert_eq!(buckets.counts[0], 2);
        assert_eq!(buckets.counts[1], 1);
        assert_eq!(buckets.counts[3], 2);
        assert_eq!(buckets.counts[LATENCY_BOUNDS_US.len()], 1);
        assert_eq!(buckets.count(), 6);
        assert!((buckets.sum_seconds - 60.002_24).abs() < 0.06, "{}", buckets.sum_seconds);
    }
}
