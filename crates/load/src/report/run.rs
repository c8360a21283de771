//! The input of a report.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use crate::statistics::{SeriesRow, Spread, Summary};

/// Names of a run's distributions: the keys of [`Run::histograms`].
pub mod metric {
    /// Message latency from the intended send time.
    pub const LATENCY: &str = "latency";
    /// Message latency from the actual send time.
    pub const SERVICE_LATENCY: &str = "service_latency";
    /// Connect times.
    pub const CONNECT: &str = "connect";
    /// Join times.
    pub const JOIN: &str = "join";
    /// Times of replies to pushes.
    pub const REPLY: &str = "reply";
    /// HTTP request times.
    pub const HTTP: &str = "http";
    /// The generator's own delay of sends.
    pub const SEND_LAG: &str = "send_lag";
    /// From the intended send time to a publication's first receiver.
    pub const FIRST_RECEIVER: &str = "first_receiver";
    /// From the intended send time to a publication's last receiver.
    pub const LAST_RECEIVER: &str = "last_receiver";
}

/// The parts of one run that a report needs.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// What distinguishes it from other runs: `4 clients, 100 rooms`, or the directory's name.
    pub configuration: String,
    /// The run's summary.
    pub summary: Summary,
    /// Second by second, ascending.
    pub series: Vec<SeriesRow>,
    /// Distributions of times in microseconds, by the names in [`metric`]; those not measured may be missing.
    pub histograms: BTreeMap<String, Histogram<u64>>,
    /// The result of the C10K test as the original prints it, if the run kept its samples.
    pub wsdemo_term: Option<String>,
}

impl Run {
    /// Returns the name of the scenario, or the configuration if the scenario has none.
    pub(super) fn heading(&self) -> &str {
        if self.summary.scenario.is_empty() { &self.configuration } else { &self.summary.scenario }
    }

    /// Returns the configuration, or the name of the scenario if the run has none.
    pub(super) fn name(&self) -> &str {
        if self.configuration.is_empty() { &self.summary.scenario } else { &self.configuration }
    }
    /// Returns the distribution of this name, if anything was measured.
    pub fn histogram(&self, name: &str) -> Option<&Histogram<u64>> {
        self.histograms.get(name).filter(|histogram| !histogram.is_empty())
    }

    /// Returns a figure of each row with its time in seconds.
    pub(super) fn over_time(&self, figure: impl Fn(&SeriesRow) -> Option<f64>) -> Vec<(f64, Option<f64>)> {
        self.series.iter().map(|row| (f64::from(row.second), figure(row))).collect()
    }

    /// Returns whether any second has times of this kind.
    pub(super) fn measured(&self, times: impl Fn(&SeriesRow) -> &Spread) -> bool {
        self.series.iter().any(|row| times(row).count > 0)
    }

    /// Returns the length of the run in seconds, never 0, so that it can be a divisor.
    pub(super) fn seconds(&self) -> f64 {
        if self.summary.seconds > 0.0 { self.summary.seconds } else { (self.series.len() as f64).max(1.0) }
    }
}
