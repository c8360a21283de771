//! Each metric's change and what it comes to.

use super::super::Run;
use super::metrics::{Metric, Scale, losses};
use super::{Change, FALSE_ALARM, Outcome, Tolerance, blocks, wilcoxon};

/// The changes of all metrics that both runs measured.
pub(super) fn changes(before: &Run, after: &Run, tolerance: Tolerance) -> Vec<Change> {
    let per_second = Metric::PER_SECOND.into_iter().filter_map(|metric| of_seconds(metric, before, after));
    let mut changes: Vec<Change> = per_second.chain(of_losses(before, after)).collect();
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
        // A second in which neither run did anything says nothing; one in which a run stood still says a lot.
        .filter(|(before, after)| metric.scale() == Scale::Difference || *before > 0.0 || *after > 0.0)
        .collect();
    if pairs.is_empty() {
        return None;
    }
    let changes: Vec<f64> = pairs.iter().map(|(before, after)| difference(metric, *before, *after)).collect();
    let block_seconds = blocks::length(&changes);
    let means = blocks::means(&changes, block_seconds);
    let enough = means.len() >= blocks::LEAST;
    // Too few blocks still give a direction: the seconds' own middle.
    let (estimate, interval) = wilcoxon::hodges_lehmann(if enough { &means } else { &changes });
    Some(Change {
        metric,
        before: typical(metric, pairs.iter().map(|pair| pair.0)),
        after: typical(metric, pairs.iter().map(|pair| pair.1)),
        change: as_share(metric, estimate),
        interval: enough.then(|| (as_share(metric, interval.0), as_share(metric, interval.1))),
        p: enough.then(|| wilcoxon::p_value(&means)),
        blocks: means.len(),
        block_seconds,
        outcome: Outcome::TooShort,
    })
}

/// Losses are compared as two counts: if they come singly, the difference of the shares is normal.
fn of_losses(before: &Run, after: &Run) -> Option<Change> {
    let ((lost_before, expected_before), (lost_after, expected_after)) = (losses(before), losses(after));
    if expected_before == 0 || expected_after == 0 {
        return None;
    }
    let (n, m) = (expected_before as f64, expected_after as f64);
    let (share_before, share_after) = (lost_before as f64 / n, lost_after as f64 / m);
    // One more than was seen: without any loss the error would be 0 and every loss certain to be more than noise.
    let pooled = (lost_before + lost_after + 1) as f64 / (n + m);
    let error = (pooled * (1.0 / n + 1.0 / m)).sqrt();
    let change = share_after - share_before;
    Some(Change {
        metric: Metric::Losses,
        before: share_before,
        after: share_after,
        change,
        interval: Some((change - 1.96 * error, change + 1.96 * error)),
        p: Some(wilcoxon::two_sided(change / error)),
        blocks: 0,
        block_seconds: 0,
        outcome: Outcome::TooShort,
    })
}

/// Holm's step-down procedure: the least p against the whole level shared by all, the next by all but one, and so on
/// until one fails.
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

fn difference(metric: Metric, before: f64, after: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => (after.max(metric.least()) / before.max(metric.least())).ln(),
        Scale::Difference => after - before,
    }
}

fn as_share(metric: Metric, change: f64) -> f64 {
    match metric.scale() {
        Scale::Ratio => change.exp() - 1.0,
        Scale::Difference => change,
    }
}

/// The median second; of errors the mean, since most seconds have none.
fn typical(metric: Metric, values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    match metric.scale() {
        Scale::Difference => values.iter().sum::<f64>() / values.len().max(1) as f64,
        Scale::Ratio => {
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or(0.0)
        }
    }
}
