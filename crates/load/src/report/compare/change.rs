//! How one metric changed, and what is accepted of that.

use serde::Serialize;

use super::metrics::Metric;

/// Which changes for the worse are accepted.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Tolerance {
    /// Of times, rates and memory, as a share: 0.05 is 5 %.
    pub relative: f64,
    /// Of errors, in errors per second.
    pub errors_per_second: f64,
    /// Of losses, as a share of the expected deliveries.
    pub losses: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 0.05, errors_per_second: 0.0, losses: 0.0 }
    }
}

/// How one metric changed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Which metric.
    pub metric: Metric,
    /// What is typical of a second (of the whole run, for losses) before, in the metric's unit.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// The change: a share of before, or for errors and losses the difference.
    pub change: f64,
    /// The 95 % interval of the change; `None` where there is too little to give one.
    pub interval: Option<(f64, f64)>,
    /// The chance of such a change between equal runs, before Holm's correction; `None` where it was not tested.
    pub p: Option<f64>,
    /// Blocks that the test went over.
    pub blocks: usize,
    /// Seconds of each block.
    pub block_seconds: usize,
    /// What it comes to.
    pub outcome: Outcome,
}

/// What a change comes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Better, and more than noise.
    Better,
    /// Worse by more than the tolerance, and more than noise.
    Worse,
    /// Worse, and more than noise, but by no more than the tolerance.
    Tolerated,
    /// No more than noise.
    Same,
    /// Too few independent blocks to tell a change from noise.
    TooShort,
}
