//! Computes and classifies the change of each metric.

use super::super::Run;
use super::blocks::{self, Blocks};
use super::change::{Change, Outcome, Tolerance};
use super::metrics::Metric;
use super::{counted, wilcoxon};

/// The probability that any metric of two equal runs is reported as different.
const FALSE_ALARM: f64 = 0.05;

/// Returns the changes of all metrics that both runs measured.
pub(super) fn changes(before: &Run, after: &Run, tolerance: Tolerance) -> Vec<Change> {
    let per_second = Metric::PER_SECOND.into_iter().filter_map(|metric| of_seconds(metric, before, after));
    let mut changes: Vec<Change> = per_second.chain(counted::changes(before, after)).collect();
    let significant = holm(&changes);
    for (change, significant) in changes.iter_mut().zip(significant) {
        if change.p.is_some() {
            change.outcome = outcome(change, significant, tolerance);
        }
    }
    changes
}

fn of_seconds(metric: Metric, before: &Run, after: &Run) -> Option<Change> {
    let pairs: Vec<(f64, f64)> = before
        .series
        .iter()
        .zip(&after.series)
        .filter_map(|(before, after)| Some((metric.of_second(before)?, metric.of_second(after)?)))
        // A second in which neither run did anything carries no information; one in which only one run stalled carries
        // a lot.
        .filter(|(before, after)| *before > 0.0 || *after > 0.0)
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let least = metric.least();
    let changes: Vec<f64> =
        pairs.iter().map(|(before, after)| (after.max(least) / before.max(least)).ln()).collect();
    let Blocks { length, widening } = blocks::of(&changes);
    let means = blocks::means(&changes, length);
    let enough = means.len() >= blocks::LEAST;
    // With too few blocks, the individual seconds still give a direction.
    let (estimate, interval) = wilcoxon::hodges_lehmann(if enough { &means } else { &changes }, widening);
    Some(Change {
        metric,
        before: median(pairs.iter().map(|pair| pair.0)),
        after: median(pairs.iter().map(|pair| pair.1)),
        change: estimate.exp_m1(),
        interval: enough.then(|| (interval.0.exp_m1(), interval.1.exp_m1())),
        p: enough.then(|| wilcoxon::widened(wilcoxon::p_value(&means), widening)),
        blocks: means.len(),
        block_seconds: length,
        outcome: Outcome::TooShort,
    })
}

/// Holm's step-down procedure: compares the smallest p with the level divided by the number of tested changes, the next
/// with the level divided by one fewer, and so on, until one fails.
fn holm(changes: &[Change]) -> Vec<bool> {
    let mut tested: Vec<(usize, f64)> =
        changes.iter().enumerate().filter_map(|(index, change)| Some((index, change.p?))).collect();
    tested.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut significant = vec![false; changes.len()];
    for (rank, (index, p)) in tested.iter().enumerate() {
        if *p > FALSE_ALARM / (tested.len() - rank) as f64 {
            break;
        }
        significant[*index] = true;
    }
    significant
}

fn outcome(change: &Change, significant: bool, tolerance: Tolerance) -> Outcome {
    let worse = if change.metric.more_is_better() { -change.change } else { change.change };
    let accepted = match change.metric {
        Metric::Errors => tolerance.errors_per_second,
        Metric::Losses => tolerance.losses,
        Metric::LatencyP50
        | Metric::LatencyP99
        | Metric::ConnectP99
        | Metric::JoinP99
        | Metric::HttpP99
        | Metric::Received
        | Metric::HttpAnswers
        | Metric::ServerMemory
        | Metric::ServerCpu => tolerance.relative,
    };
    match (significant, worse > accepted, worse > 0.0) {
        (false, _, _) => Outcome::Same,
        (true, true, _) => Outcome::Worse,
        (true, false, true) => Outcome::Tolerated,
        (true, false, false) => Outcome::Better,
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
