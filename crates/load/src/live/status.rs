//! A run at one moment.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::statistics::{Counts, ErrorCount, SeriesRow, Times, Verdict};

/// A run at one moment: all that its views show, and the body of `/api/status`.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Status {
    /// Name of the scenario.
    pub scenario: String,
    /// What is under test, as the user wrote it.
    pub target: String,
    /// Seed that it is played with.
    pub seed: u64,
    /// How far the run has come.
    pub stage: Stage,
    /// The phase that runs; `None` before the first and after the last.
    pub phase: Option<PhaseStatus>,
    /// Since the start of the first phase, in seconds.
    pub elapsed_seconds: f64,
    /// To the planned end, in seconds; `None` when the plan has none.
    pub remaining_seconds: Option<f64>,
    /// Share of the plan that is done, 0 … 1; `None` when the plan has no end.
    pub progress: Option<f64>,
    /// The crowd.
    pub users: Users,
    /// The last second that is complete.
    pub latest: SeriesRow,
    /// The run so far.
    pub totals: Counts,
    /// Times of the run so far.
    pub times: Times,
    /// Message latency of the run so far, from the intended send time.
    pub latency: Buckets,
    /// The generator's own delay of sends in the run so far.
    pub send_lag: Buckets,
    /// Times of connects in the run so far.
    pub connect: Buckets,
    /// Errors so far, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Whether the figures so far are to be believed.
    pub verdict: Verdict,
    /// What ended the run: `finished`, `duration`, `stopped`, `aborted`, or an error. Empty until it has ended.
    pub ended_by: String,
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The machine is looked at and the shards are made.
    #[default]
    Starting,
    /// Phases are played.
    Running,
    /// Nothing new begins; what is on its way is waited for.
    Draining,
    /// It is over.
    Ended,
}

/// Which phase runs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct PhaseStatus {
    /// Its number, from 1, over all rounds.
    pub number: u32,
    /// How many there are, over all rounds.
    pub of: u32,
    /// As the scenario calls it.
    pub name: String,
}

/// The crowd at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Users {
    /// Wanted by the scenario.
    pub wanted: u64,
    /// Arrived and not finished.
    pub active: u64,
    /// With an open WebSocket.
    pub connected: u64,
    /// Joins in force.
    pub joined: u64,
}

/// Upper bounds of the buckets of [`Buckets`], in microseconds; a last bucket holds what is longer.
pub const LATENCY_BOUNDS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    2_500_000, 5_000_000, 10_000_000,
];

/// Times counted in buckets, in the form that Prometheus adds up over time and machines.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Buckets {
    /// How many times fell between a bound of [`LATENCY_BOUNDS_US`] and the one before; the last are those above all.
    pub counts: [u64; LATENCY_BOUNDS_US.len() + 1],
    /// All of them together, in seconds.
    pub sum_seconds: f64,
}

impl Status {
    /// A run that has not begun, and of which nothing bad is known.
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
    /// In a word.
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
    /// Counts the values of a histogram whose unit is the microsecond. A value is off by no more than the histogram's
    /// own precision.
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

    /// How many times were counted.
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
