//! Charts of the run's distributions.

use hdrhistogram::Histogram as Distribution;

use super::super::chart::{Bin, Curve, Figure, Histogram, PercentileBox, Percentiles, Unit};
use super::super::{Run, metric};
use super::plot::Plot;
use super::series::chart;

/// Points per halving of the remaining distribution: enough for a smooth curve.
const STEPS_PER_HALVING: u32 = 8;
/// Number of ranges in a histogram.
const BINS: u32 = 48;

pub(super) fn latency(run: &Run) -> Plot {
    let note = "From the intended send time counts what users would feel; from the actual one leaves out the time in \
                which the generator or the connection held the message back. Where the two part, the difference is \
                waiting before the send.";
    let names =
        [(metric::LATENCY, "from the intended send"), (metric::SERVICE_LATENCY, "from the actual send")];
    curves(run, "latency-distribution", "Message latency by percentile", note, &names)
}

pub(super) fn fan_out(run: &Run) -> Plot {
    let names =
        [(metric::LAST_RECEIVER, "to the last receiver"), (metric::FIRST_RECEIVER, "to the first receiver")];
    let note = "From the intended send of a publication with several receivers.";
    let mut plot = curves(run, "fan-out", "Fan-out: first and last receiver", note, &names);
    plot.chart.empty = "No publication had several receivers.".to_owned();
    plot
}

pub(super) fn latency_histogram(run: &Run) -> Plot {
    let figure = match run.histogram(metric::LATENCY) {
        Some(distribution) => Histogram {
            unit: Unit::Microseconds,
            bins: bins(distribution),
            marks: [("median", 0.5), ("p99", 0.99)]
                .map(|(name, share)| (name.to_owned(), distribution.value_at_quantile(share) as f64))
                .to_vec(),
        },
        None => Histogram { unit: Unit::Microseconds, bins: Vec::new(), marks: Vec::new() },
    };
    let chart = chart(
        "Message latency by frequency",
        "",
        "messages",
        "latency (logarithmic)",
        Figure::Histogram(figure),
    );
    Plot { name: "latency-histogram", wide: false, chart }
}

fn curves(run: &Run, name: &'static str, title: &str, note: &str, metrics: &[(&str, &str)]) -> Plot {
    let curves =
        metrics.iter().filter_map(|(metric, name)| Some(curve(name, run.histogram(metric)?))).collect();
    let figure = Figure::Percentiles(Percentiles { unit: Unit::Microseconds, curves });
    Plot { name, wide: false, chart: chart(title, note, "time", "percentile", figure) }
}

/// Returns a distribution as values by percentile.
pub(in super::super) fn curve(name: &str, distribution: &Distribution<u64>) -> Curve {
    let steps = distribution.iter_quantiles(STEPS_PER_HALVING);
    let mut points = vec![(0.0, distribution.min() as f64)];
    points.extend(steps.map(|step| (step.quantile_iterated_to() * 100.0, step.value_iterated_to() as f64)));
    // The values are the upper ends of the histogram's ranges; none may exceed the maximum.
    let most = distribution.max() as f64;
    points.iter_mut().for_each(|point| point.1 = point.1.min(most));
    Curve { name: name.to_owned(), count: distribution.len(), points }
}

/// Returns the percentiles of one configuration.
pub(in super::super) fn percentile_box(name: &str, distribution: &Distribution<u64>) -> PercentileBox {
    let at = |share: f64| distribution.value_at_quantile(share) as f64;
    PercentileBox {
        name: name.to_owned(),
        p10: at(0.10),
        p25: at(0.25),
        p50: at(0.50),
        p75: at(0.75),
        p90: at(0.90),
        p99: at(0.99),
    }
}

/// Returns ranges that grow geometrically, from the minimum to the maximum value.
fn bins(distribution: &Distribution<u64>) -> Vec<Bin> {
    let (low, high) = (distribution.min().max(1) as f64, distribution.max().max(1) as f64 + 1.0);
    let factor = (high / low).powf(1.0 / f64::from(BINS));
    let edge = |index: u32| low * factor.powi(index as i32);
    let mut bins: Vec<Bin> =
        (0..BINS).map(|index| Bin { from: edge(index), to: edge(index + 1), count: 0 }).collect();
    for step in distribution.iter_recorded() {
        let place = ((step.value_iterated_to().max(1) as f64 / low).ln() / factor.ln()).floor();
        let index = (place.max(0.0) as usize).min(bins.len() - 1);
        bins[index].count += step.count_at_value();
    }
    bins
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_value_lies_in_a_range(values in prop::collection::vec(0..100_000_000_u64, 1..300)) {
            let mut distribution = Distribution::<u64>::new(3).expect("three digits");
            values.iter().for_each(|value| distribution.saturating_record(*value));
            let bins = bins(&distribution);
            prop_assert_eq!(bins.iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
            let curve = curve("", &distribution);
            prop_assert!(curve.points.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 <= pair[1].1));
        }
    }
}
