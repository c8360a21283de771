//! The formulas of `bear`.

use crate::statistics::Population;

/// With fewer values than this, the original returns 0 everywhere.
const VALUES_MIN: u64 = 5;

/// Statistics of a set of values, exactly as `bear` defines them.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bear {
    /// Number of values; with fewer than 5, everything else is 0.
    pub count: u64,
    /// Minimum.
    pub min: u64,
    /// Maximum.
    pub max: u64,
    /// Σx / n
    pub arithmetic_mean: f64,
    /// exp(Σ ln x / n), with ln 0 taken as 1.
    pub geometric_mean: f64,
    /// n / Σ(1/x), with 1/0 taken as 0.
    pub harmonic_mean: f64,
    /// The 50th percentile.
    pub median: u64,
    /// Σ(x − m)² / (n − 1)
    pub variance: f64,
    /// Square root of the variance.
    pub standard_deviation: f64,
    /// (Σ(x − m)³ / n) / sd³; 0 if sd is 0.
    pub skewness: f64,
    /// (Σ(x − m)⁴ / n) / sd⁴ − 3; 0 if sd is 0.
    pub kurtosis: f64,
    /// 75th, 95th, 99th and 99.9th percentile: the value at position round(p · n) of the sorted values, from 1.
    pub percentiles: [u64; 4],
    /// Upper bounds and counts; a value belongs to the first bin whose bound it does not exceed.
    pub histogram: Vec<(u64, u64)>,
}

impl Bear {
    /// Computes the statistics of samples.
    #[must_use]
    pub fn of_samples(samples: &[u64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable();
        let values: Vec<(u64, u64)> =
            sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
        Self::of_sorted(&values)
    }

    /// Computes the statistics of all times of a metric, with the population's precision.
    #[must_use]
    pub fn of_population(population: &Population) -> Self {
        let (Some(min), Some(max)) = (population.min_us(), population.max_us()) else {
            return Self::default();
        };
        let histogram = population.histogram();
        let value = |time_us| histogram.median_equivalent(time_us).clamp(min, max);
        let mut values: Vec<(u64, u64)> = histogram
            .iter_recorded()
            .map(|bucket| (value(bucket.value_iterated_to()), bucket.count_at_value()))
            .collect();
        // The minimum and the maximum are known exactly.
        if let [(first, _), .., (last, _)] = &mut values[..] {
            (*first, *last) = (min, max);
        }
        Self::of_sorted(&values)
    }

    /// Computes the statistics of distinct values in ascending order, each with its number of occurrences.
    fn of_sorted(values: &[(u64, u64)]) -> Self {
        let count: u64 = values.iter().map(|(_, times)| times).sum();
        let (Some(&(min, _)), Some(&(max, _))) = (values.first(), values.last()) else {
            return Self::default();
        };
        if count < VALUES_MIN {
            return Self { count, ..Self::default() };
        }
        let n = count as f64;
        let mean_of = |f: &dyn Fn(f64) -> f64| {
            values.iter().map(|&(value, times)| f(value as f64) * times as f64).sum::<f64>() / n
        };
        let mean = mean_of(&|x| x);
        let variance = mean_of(&|x| (x - mean).powi(2)) * n / (n - 1.0);
        let deviation = variance.sqrt();
        let moment = |power: i32| mean_of(&|x| (x - mean).powi(power)) / deviation.powi(power);
        let is_spread = deviation > 0.0;
        Self {
            count,
            min,
            max,
            arithmetic_mean: mean,
            geometric_mean: mean_of(&|x| if x == 0.0 { 1.0 } else { x.ln() }).exp(),
            harmonic_mean: harmonic(mean_of(&|x| if x == 0.0 { 0.0 } else { 1.0 / x })),
            median: percentile(values, count, 0.5),
            variance,
            standard_deviation: deviation,
            skewness: if is_spread { moment(3) } else { 0.0 },
            kurtosis: if is_spread { moment(4) - 3.0 } else { 0.0 },
            percentiles: [0.75, 0.95, 0.99, 0.999].map(|share| percentile(values, count, share)),
            histogram: histogram(values, &bounds(min, max, deviation, count)),
        }
    }
}

/// If all values are 0, there is nothing to divide by.
fn harmonic(mean_of_inverses: f64) -> f64 {
    if mean_of_inverses == 0.0 { 0.0 } else { 1.0 / mean_of_inverses }
}

/// Returns the value at position round(share · count), from 1; halves round away from zero.
fn percentile(values: &[(u64, u64)], count: u64, share: f64) -> u64 {
    let place = (share * count as f64).round() as u64;
    let mut passed = 0;
    let at_place = values.iter().find(|(_, times)| {
        passed += times;
        passed >= place
    });
    at_place.map_or(0, |(value, _)| *value)
}

/// Counts the values in each bin. A value beyond the last bound, which only rounding can cause, counts in the last bin.
fn histogram(values: &[(u64, u64)], bounds: &[u64]) -> Vec<(u64, u64)> {
    let mut bins: Vec<(u64, u64)> = bounds.iter().map(|&bound| (bound, 0)).collect();
    for &(value, times) in values {
        let place = bounds.partition_point(|bound| *bound < value).min(bins.len().saturating_sub(1));
        bins[place].1 += times;
    }
    bins
}

/// Returns the upper bounds of the histogram's bins: multiples of Scott's bin width, each rounded up to a number that
/// is round for its magnitude, plus the smallest value.
pub(super) fn bounds(min: u64, max: u64, deviation: f64, count: u64) -> Vec<u64> {
    let width = ((3.5 * deviation / (count as f64).powf(0.333_333_3)).round() as u64).max(1);
    let range = max - min;
    let bins = (range as f64 / width as f64).round() as u64 + 1;
    let bound = |i: u64| rounded_up(i.saturating_mul(width));
    let mut bounds = Vec::new();
    let mut i = 1;
    while i <= bins {
        let here = bound(i);
        bounds.push(here.saturating_add(min));
        // Bounds never decrease as i grows, so bisection finds the next different one, however narrow the bins are.
        i = first_beyond(i, bins, |j| bound(j) > here);
    }
    if bounds.len() < 2 { vec![max] } else { bounds }
}

/// Returns the first number after `from` for which `holds` is true, or `last + 1` if there is none up to `last`.
/// `holds` must be monotonic.
fn first_beyond(from: u64, last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut fails, mut found) = (from, last + 1);
    while found - fails > 1 {
        let middle = fails + (found - fails) / 2;
        if holds(middle) {
            found = middle;
        } else {
            fails = middle;
        }
    }
    found
}

/// Rounds up to a multiple of 10^round(log10(bound) − 1).
fn rounded_up(bound: u64) -> u64 {
    let power = ((bound as f64).log10() - 1.0).round();
    let base = (10_f64.powf(power).trunc() as u64).max(1);
    bound.div_ceil(base).saturating_mul(base)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// One of the ten published histograms, with the figures that determine its bounds.
    #[derive(Deserialize)]
    struct Published {
        server: String,
        figure: String,
        min: u64,
        max: u64,
        standard_deviation: f64,
        histogram: Vec<(u64, u64)>,
    }

    #[test]
    fn the_bounds_of_all_published_histograms_are_reproduced() {
        let published: Vec<Published> =
            serde_json::from_str(include_str!("../../../testdata/wsdemo-2012.json"))
                .expect("the published figures");
        assert_eq!(published.len(), 10);
        for Published { server, figure, min, max, standard_deviation, histogram } in published {
            let count: u64 = histogram.iter().map(|(_, count)| count).sum();
            assert_eq!(count, 1028, "{server}, {figure}");
            let expected: Vec<u64> = histogram.iter().map(|(bound, _)| *bound).collect();
            assert_eq!(bounds(min, max, standard_deviation, count), expected, "{server}, {figure}");
        }
    }

    #[test]
    fn small_sets_are_computed_by_hand() {
        let bear = Bear::of_samples(&[4, 0, 1, 2, 8]);
        assert_eq!((bear.min, bear.max, bear.median, bear.count), (0, 8, 2, 5));
        assert_eq!(bear.arithmetic_mean, 3.0);
        assert!(
            (bear.geometric_mean - ((1.0 + 2_f64.ln() + 4_f64.ln() + 8_f64.ln()) / 5.0).exp()).abs() < 1e-9
        );
        assert!((bear.harmonic_mean - 5.0 / 1.875).abs() < 1e-9);
        assert!((bear.variance - 10.0).abs() < 1e-9);
        // Σ(x − 3)³ = 1 − 27 − 8 − 1 + 125 = 90 and Σ(x − 3)⁴ = 1 + 81 + 16 + 1 + 625 = 724.
        assert!((bear.skewness - 18.0 / 10_f64.powf(1.5)).abs() < 1e-9);
        assert!((bear.kurtosis - (144.8 / 100.0 - 3.0)).abs() < 1e-9);
        assert_eq!(bear.percentiles, [4, 8, 8, 8]);
        assert_eq!(bear.histogram.iter().map(|(_, count)| count).sum::<u64>(), 5);
    }

    #[test]
    fn fewer_than_five_values_are_all_zeros() {
        assert_eq!(Bear::of_samples(&[9, 9, 9, 9]), Bear { count: 4, ..Bear::default() });
        assert_eq!(Bear::of_samples(&[]), Bear::default());
    }

    #[test]
    fn values_without_spread_are_one_bin() {
        let bear = Bear::of_samples(&[7; 10]);
        assert_eq!((bear.skewness, bear.kurtosis, bear.standard_deviation), (0.0, 0.0, 0.0));
        assert_eq!(bear.histogram, [(7, 10)]);
    }

    #[test]
    fn an_outlier_among_millions_of_equal_values_does_not_make_millions_of_bins() {
        let mut population = Population::default();
        population.record_many(100, 10_000_000);
        population.record(3_000_000_000);
        let bear = Bear::of_population(&population);
        assert!(bear.histogram.len() < 1000, "{} bins", bear.histogram.len());
        assert_eq!(bear.histogram.iter().map(|(_, count)| count).sum::<u64>(), 10_000_001);
    }

    #[test]
    fn a_population_gives_what_its_values_give_within_its_precision() {
        let values: Vec<u64> = (1..5000).map(|i| i * i % 7919 + 10).collect();
        let mut population = Population::default();
        values.iter().for_each(|value| population.record(*value));
        let (whole, exact) = (Bear::of_population(&population), Bear::of_samples(&values));
        assert_eq!((whole.min, whole.max, whole.count), (exact.min, exact.max, exact.count));
        for (ours, theirs) in [
            (whole.arithmetic_mean, exact.arithmetic_mean),
            (whole.harmonic_mean, exact.harmonic_mean),
            (whole.geometric_mean, exact.geometric_mean),
            (whole.standard_deviation, exact.standard_deviation),
            (whole.median as f64, exact.median as f64),
        ] {
            assert!((ours / theirs - 1.0).abs() < 0.002, "{ours} {theirs}");
        }
    }
}
