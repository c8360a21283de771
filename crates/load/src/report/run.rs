//! What a report is made of.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::statistics::{SeriesRow, Spread, Summary};

/// Names of the distributions of a run: the keys of [`Run::histograms`].
pub mod metric {
    /// Message latency from the intended send time.
    pub const LATENCY: &str = "latency";
    /// Message latency from the actual send time.
    pub const SERVICE_LATENCY: &str = "service_latency";
    /// Connects.
    pub const CONNECT: &str = "connect";
    /// Joins.
    pub const JOIN: &str = "join";
    /// Replies to pushes.
    pub const REPLY: &str = "reply";
    /// HTTP requests.
    pub const HTTP: &str = "http";
    /// The generator's own delay of sends.
    pub const SEND_LAG: &str = "send_lag";
    /// From the intended send time to a publication's first receiver.
    pub const FIRST_RECEIVER: &str = "first_receiver";
    /// From the intended send time to a publication's last receiver.
    pub const LAST_RECEIVER: &str = "last_receiver";
}

/// One run, as far as a report needs it.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What tells it from other runs: `4 clients, 100 rooms`, or the folder's name.
    pub configuration: String,
    /// What it comes to.
    pub summary: Summary,
    /// Second by second, ascending.
    pub series: Vec<SeriesRow>,
    /// Distributions of times in microseconds, by the names in [`metric`]; what was not measured may be missing.
    pub histograms: BTreeMap<String, Histogram<u64>>,
    /// The C10K test's result as the original prints it, where the run kept its samples.
    pub wsdemo_term: Option<String>,
}

impl Run {
    /// What was played: the scenario, or what tells the run from others where that has no name.
    pub(super) fn heading(&self) -> &str {
        if self.summary.scenario.is_empty() { &self.configuration } else { &self.summary.scenario }
    }

    /// What tells it from other runs: its configuration, or the scenario where it has none.
    pub(super) fn name(&self) -> &str {
        if self.configuration.is_empty() { &self.summary.scenario } else { &self.configuration }
    }
    /// The distribution of this name, if anything was measured.
    pub fn histogram(&self, name: &str) -> Option<&Histogram<u64>> {
        self.histograms.get(name).filter(|histogram| !histogram.is_empty())
    }

    /// Seconds and a figure of each row.
    pub(super) fn over_time(&self, figure: impl Fn(&SeriesRow) -> Option<f64>) -> Vec<(f64, Option<f64>)> {
        self.series.iter().map(|row| (f64::from(row.second), figure(row))).collect()
    }

    /// Whether any second has times of this kind.
    pub(super) fn measured(&self, times: impl Fn(&SeriesRow) -> &Spread) -> bool {
        self.series.iter().any(|row| times(row).count > 0)
    }

    /// The run's length in seconds, at least the least that can be divided by.
    pub(super) fn seconds(&self) -> f64 {
        if self.summary.seconds > 0.0 { self.summary.seconds } else { (self.series.len() as f64).max(1.0) }
    }
}
