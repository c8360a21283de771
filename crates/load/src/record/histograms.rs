//! `histograms.json`: the times of a whole run, in a form in which several runs or machines can be merged.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::scenario::plan::Metric;
use crate::statistics::{Population, RunFacts, Statistics};

/// The times of a run by metric, in microseconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Histograms {
    /// Version of the format.
    pub format: u32,
    /// Keyed by name: `latency`, `service_latency`, `first_receiver`, `last_receiver`, `connect`, `join`, `reply`,
    /// `reply_intended`, `http`, `http_intended`, `send_lag`.
    pub metrics: BTreeMap<String, Population>,
    /// Steps and transactions, keyed by label.
    pub labelled: BTreeMap<String, Population>,
}

impl Histograms {
    /// The version that is written.
    pub const FORMAT: u32 = 1;

    /// Returns the histograms of a run.
    #[must_use]
    pub fn of(statistics: &Statistics, facts: &RunFacts) -> Self {
        let of_metric = |(name, metric): (&str, Metric)| {
            Some((name.to_owned(), statistics.population(&metric)?.into_owned()))
        };
        let mut metrics: BTreeMap<_, _> = Metric::NAMED.into_iter().filter_map(of_metric).collect();
        metrics.insert("first_receiver".to_owned(), statistics.first_receiver());
        Self {
            format: Self::FORMAT,
            metrics,
            labelled: statistics
                .labelled()
                .map(|(label, population)| (facts.label(label), population.clone()))
                .collect(),
        }
    }

    /// Returns the distributions of the metrics, keyed by name.
    #[must_use]
    pub fn distributions(&self) -> BTreeMap<String, Histogram<u64>> {
        let distribution = |(name, times): (&String, &Population)| (name.clone(), times.histogram().clone());
        self.metrics.iter().map(distribution).collect()
    }

    /// Merges the histograms of another run or machine.
    pub fn merge(&mut self, other: &Self) {
        for (mine, others) in [(&mut self.metrics, &other.metrics), (&mut self.labelled, &other.labelled)] {
            for (name, population) in others {
                mine.entry(name.clone()).or_default().merge(population);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Kind, Observation};
    use crate::report::metric;
    use crate::statistics::example::observation;

    #[test]
    fn whatever_a_report_draws_is_kept_and_led_back_to_by_its_name() {
        let mut statistics = Statistics::new();
        let send = Observation { kind: Kind::Send, room: 1, count: 2, message: 7, ..observation() };
        statistics.observe(&send);
        for at in [3_000_000, 9_000_000] {
            statistics.observe(&Observation { kind: Kind::Receive, at, count: 0, ..send });
        }
        let kept = Histograms::of(&statistics, &RunFacts::default()).distributions();
        let names = [
            metric::LATENCY,
            metric::SERVICE_LATENCY,
            metric::CONNECT,
            metric::JOIN,
            metric::REPLY,
            metric::HTTP,
            metric::SEND_LAG,
            metric::FIRST_RECEIVER,
            metric::LAST_RECEIVER,
        ];
        assert!(names.iter().all(|name| kept.contains_key(*name)), "{:?}", kept.keys());
        let longest_ms = |name: &str| kept[name].max() / 1_000;
        assert_eq!((longest_ms(metric::FIRST_RECEIVER), longest_ms(metric::LAST_RECEIVER)), (3, 9));
    }
}
