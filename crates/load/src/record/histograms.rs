//! `histograms.json`: the whole run's times in a form that several runs or machines can be merged in.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::scenario::plan::Metric;
use crate::statistics::{Population, RunFacts, Statistics};

/// The times of a run by metric, in microseconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Histograms {
    /// Version of this form.
    pub format: u32,
    /// By name: `latency`, `service_latency`, `last_receiver`, `connect`, `join`, `reply`, `http`, `send_lag`.
    pub metrics: BTreeMap<String, Population>,
    /// Steps and transactions, by their label.
    pub labelled: BTreeMap<String, Population>,
}

impl Histograms {
    /// The version that is written.
    pub const FORMAT: u32 = 1;

    /// Those of a run.
    #[must_use]
    pub fn of(statistics: &Statistics, facts: &RunFacts) -> Self {
        let metrics = [
            ("latency", Metric::Latency),
            ("service_latency", Metric::ServiceLatency),
            ("last_receiver", Metric::LastReceiver),
            ("connect", Metric::Connect),
            ("join", Metric::Join),
            ("reply", Metric::Reply),
            ("http", Metric::Http),
            ("send_lag", Metric::SendLag),
        ];
        Self {
            format: Self::FORMAT,
            metrics: metrics
                .into_iter()
                .filter_map(|(name, metric)| {
                    Some((name.to_owned(), statistics.population(&metric)?.into_owned()))
                })
                .collect(),
            labelled: statistics
                .labelled()
                .map(|(label, population)| (facts.label(label), population.clone()))
                .collect(),
        }
    }

    /// The distributions of the metrics by their name.
    #[must_use]
    pub fn distributions(&self) -> BTreeMap<String, Histogram<u64>> {
        let distribution = |(name, times): (&String, &Population)| (name.clone(), times.histogram().clone());
        self.metrics.iter().map(distribution).collect()
    }

    /// Adds those of another run or machine.
    pub fn merge(&mut self, other: &Self) {
        for (mine, others) in [(&mut self.metrics, &other.metrics), (&mut self.labelled, &other.labelled)] {
            for (name, population) in others {
                mine.entry(name.clone()).or_default().merge(population);
            }
        }
    }
}
