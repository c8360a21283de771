//! The change of one metric, and which changes are tolerated.

use serde::Serialize;

use super::metrics::Metric;

/// Changes for the worse up to these amounts are tolerated.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Tolerance {
    /// For times, rates and memory, as a ratio: 0.05 is 5 %.
    pub relative: f64,
    /// For errors, in errors per second.
    pub errors_per_second: f64,
    /// For losses, as a share of the expected deliveries.
    pub losses: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 0.05, errors_per_second: 0.0, losses: 0.0 }
    }
}

/// The change of one metric.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// The metric.
    pub metric: Metric,
    /// The typical value per second (for losses, of the whole run) before, in the metric's unit.
    pub before: f64,
    /// The same after.
    pub after: f64,
    /// The change, relative to before; for errors and losses, the difference.
    pub change: f64,
    /// The 95 % interval of the change; `None` if there is too little data for one.
    pub interval: Option<(f64, f64)>,
    /// The p-value, before Holm's correction; `None` if the change was not tested.
    pub p: Option<f64>,
    /// Number of blocks tested.
    pub blocks: usize,
    /// Length of each block in seconds.
    pub block_seconds: usize,
    /// Classification.
    pub outcome: Outcome,
}

/// The classification of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Better, beyond noise.
    Better,
    /// Worse by more than the tolerance, beyond noise.
    Worse,
    /// Worse beyond noise, but within the tolerance.
    Tolerated,
    /// Within noise.
    Same,
    /// Too few independent blocks to distinguish a change from noise.
    TooShort,
}
