//! All times of one metric: the complete population, not a sample.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::Spread;
use super::hdr::{self, HistogramError};
use super::limits::{RUN_DIGITS, TIME_US_MAX};
use crate::observe::Nanos;

/// Times of one metric in microseconds, each within 0.1 %, regardless of their number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub struct Population {
    histogram: Histogram<u64>,
    min_us: u64,
    max_us: u64,
    beyond_range: u64,
}

/// The serialized form of a population.
#[derive(Serialize, Deserialize)]
struct Written {
    count: u64,
    min_us: u64,
    max_us: u64,
    beyond_range: u64,
    hdr: String,
}

impl Default for Population {
    fn default() -> Self {
        // The histogram starts small and grows with longer times, up to TIME_US_MAX.
        let mut histogram = Histogram::new_with_bounds(1, 2 * 10_u64.pow(u32::from(RUN_DIGITS)), RUN_DIGITS)
            .expect("constant bounds that the library documents as valid");
        histogram.auto(true);
        Self { histogram, min_us: u64::MAX, max_us: 0, beyond_range: 0 }
    }
}

impl Population {
    /// Records one time.
    pub fn record(&mut self, time_us: u64) {
        self.record_many(time_us, 1);
    }

    /// Records the same time `count` times.
    pub fn record_many(&mut self, time_us: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.min_us = self.min_us.min(time_us);
        self.max_us = self.max_us.max(time_us);
        if time_us > TIME_US_MAX {
            self.beyond_range = self.beyond_range.saturating_add(count);
        }
        self.histogram
            .record_n(time_us.min(TIME_US_MAX), count)
            .expect("the histogram grows to any time of the range");
    }

    /// Adds another's times.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("the histogram grows to any time of the range");
        self.min_us = self.min_us.min(other.min_us);
        self.max_us = self.max_us.max(other.max_us);
        self.beyond_range = self.beyond_range.saturating_add(other.beyond_range);
    }

    /// Returns the number of times.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns how many of them were longer than [`TIME_US_MAX`]; these count as [`TIME_US_MAX`] except in the maximum.
    #[must_use]
    pub fn beyond_range(&self) -> u64 {
        self.beyond_range
    }

    /// Returns the shortest time in microseconds, exact; `None` if there are none.
    #[must_use]
    pub fn min_us(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.min_us)
    }

    /// Returns the longest time in microseconds, exact; `None` if there are none.
    #[must_use]
    pub fn max_us(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_us)
    }

    /// Returns the arithmetic mean in microseconds; `None` if there are none.
    #[must_use]
    pub fn mean_us(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.histogram.mean())
    }

    /// Returns the quantile at this share (0 … 1) in microseconds; `None` if there are none.
    #[must_use]
    pub fn quantile_us(&self, share: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.value_at_quantile(share).clamp(self.min_us, self.max_us))
    }

    /// Returns the underlying histogram.
    #[must_use]
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    /// Returns the key figures of the distribution.
    #[must_use]
    pub fn spread(&self) -> Spread {
        Spread::of(&self.histogram, self.min_us, self.max_us)
    }
}

impl Spread {
    /// Returns the key figures of a histogram whose shortest and longest times are known exactly.
    pub(super) fn of<T: hdrhistogram::Counter>(histogram: &Histogram<T>, min_us: u64, max_us: u64) -> Self {
        if histogram.is_empty() {
            return Self::default();
        }
        let [p50, p75, p90, p95, p99, p999] = QUANTILES_OF_A_SPREAD;
        // The histogram returns the upper end of a bucket, which may exceed the longest time.
        let quantile = |share| histogram.value_at_quantile(share).clamp(min_us, max_us);
        Self {
            count: histogram.len(),
            min_us,
            mean_us: hundredths(histogram.mean()),
            stddev_us: hundredths(histogram.stdev()),
            p50_us: quantile(p50),
            p75_us: quantile(p75),
            p90_us: quantile(p90),
            p95_us: quantile(p95),
            p99_us: quantile(p99),
            p999_us: quantile(p999),
            max_us,
        }
    }
}

/// Rounds to hundredths; more digits would exceed the histogram's precision.
fn hundredths(time_us: f64) -> f64 {
    (time_us * 100.0).round() / 100.0
}

const QUANTILES_OF_A_SPREAD: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

impl From<Population> for Written {
    fn from(population: Population) -> Self {
        Self {
            count: population.count(),
            min_us: population.min_us().unwrap_or(0),
            max_us: population.max_us,
            beyond_range: population.beyond_range,
            hdr: hdr::to_text(&population.histogram),
        }
    }
}

impl TryFrom<Written> for Population {
    type Error = HistogramError;

    fn try_from(written: Written) -> Result<Self, HistogramError> {
        let mut population = Self::default();
        let histogram = hdr::from_text::<u64>(&written.hdr, RUN_DIGITS)?;
        population.histogram.add(&histogram).expect("the histogram grows to any time of the range");
        if !population.histogram.is_empty() {
            population.min_us = written.min_us;
            population.max_us = written.max_us.max(written.min_us);
            population.beyond_range = written.beyond_range;
        }
        Ok(population)
    }
}

/// Returns whole microseconds between two times; 0 if the clocks of two machines put the end before the start.
pub(super) fn elapsed_us(from: Nanos, to: Nanos) -> u64 {
    to.saturating_sub(from) / 1_000
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn population_of(times_us: &[u64]) -> Population {
        let mut population = Population::default();
        for &time_us in times_us {
            population.record(time_us);
        }
        population
    }

    #[test]
    fn a_population_without_times_has_no_figures() {
        let population = Population::default();
        assert_eq!(population.spread(), Spread::default());
        assert_eq!(population.quantile_us(0.99), None);
        assert_eq!(population.min_us(), None);
    }

    #[test]
    fn a_time_beyond_the_range_is_counted_and_keeps_the_maximum_exact() {
        let population = population_of(&[5, TIME_US_MAX, TIME_US_MAX + 7, u64::MAX]);
        assert_eq!(population.count(), 4);
        assert_eq!(population.beyond_range(), 2);
        assert_eq!(population.spread().max_us, u64::MAX);
        assert_eq!(population.spread().min_us, 5);
    }

    #[test]
    fn quantiles_are_within_a_thousandth() {
        let population = population_of(&(1..=100_000).collect::<Vec<_>>());
        for (share, expected) in [(0.5, 50_000.0), (0.9, 90_000.0), (0.999, 99_900.0), (1.0, 100_000.0)] {
            let quantile = population.quantile_us(share).expect("there are times") as f64;
            assert!((quantile / expected - 1.0).abs() <= 0.001, "{share}: {quantile}");
        }
    }

    #[test]
    fn text_that_is_no_histogram_is_refused_with_the_reason() {
        let written = |hdr: &str| {
            format!(
                r#"{{"count":1,"min_us":1,"max_us":1,"beyond_range":0,"hdr":{}}}"#,
                serde_json::json!(hdr)
            )
        };
        let mut other = Histogram::<u64>::new(5).expect("a histogram");
        other.saturating_record(7);
        for (text, reason) in [
            ("not base64!".to_owned(), "not base64"),
            ("AAAA".to_owned(), "V2 format"),
            ("A".repeat(HISTOGRAM_TEXT), "more than"),
            (hdr::to_text(&other), "5 digits"),
        ] {
            let error = serde_json::from_str::<Population>(&written(&text)).expect_err("not a histogram");
            assert!(error.to_string().contains(reason), "{error}");
        }
    }

    const HISTOGRAM_TEXT: usize = crate::statistics::limits::HISTOGRAM_TEXT_BYTES_MAX + 4;

    proptest! {
        #[test]
        fn what_is_written_is_read_again(times_us in prop::collection::vec(0..2 * TIME_US_MAX, 0..50)) {
            let population = population_of(&times_us);
            let text = serde_json::to_string(&population).expect("writable");
            prop_assert_eq!(serde_json::from_str::<Population>(&text).expect("readable"), population);
        }

        #[test]
        fn merging_is_counting_together(
            some in prop::collection::vec(0..2 * TIME_US_MAX, 0..50),
            more in prop::collection::vec(0..2 * TIME_US_MAX, 0..50),
        ) {
            let mut merged = population_of(&some);
            merged.merge(&population_of(&more));
            prop_assert_eq!(merged, population_of(&[some, more].concat()));
        }
    }
}
