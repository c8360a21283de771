//! Errors and losses: totals, compared as counts.

use super::super::Run;
use super::change::{Change, Outcome};
use super::metrics::Metric;
use super::wilcoxon;
use crate::statistics::SeriesRow;

/// A number of events out of a number of opportunities.
struct Events {
    count: f64,
    chances: f64,
}

/// Returns the changes of errors and of losses, if both runs had opportunities for them.
pub(super) fn changes(before: &Run, after: &Run) -> impl Iterator<Item = Change> {
    errors(before, after).into_iter().chain(losses(before, after))
}

/// Compares errors per second, over the seconds that both runs have.
fn errors(before: &Run, after: &Run) -> Option<Change> {
    let seconds = before.series.len().min(after.series.len());
    let (before, after) = (&before.series[..seconds], &after.series[..seconds]);
    let events = |rows: &[SeriesRow]| Events {
        count: rows.iter().map(|row| row.errors).sum::<u64>() as f64,
        chances: rows.len() as f64,
    };
    let widening = dispersion(before).max(dispersion(after));
    (seconds > 0).then(|| change(Metric::Errors, &events(before), &events(after), widening))
}

/// Compares lost and late deliveries as a share of the expected ones.
fn losses(before: &Run, after: &Run) -> Option<Change> {
    let events = |run: &Run| {
        let counts = &run.summary.counts;
        Events { count: (counts.lost + counts.late) as f64, chances: counts.expected as f64 }
    };
    let (before, after) = (events(before), events(after));
    (before.chances > 0.0 && after.chances > 0.0).then(|| change(Metric::Losses, &before, &after, 1.0))
}

/// Returns the difference of two rates; its standard error is that of counts whose variance is `widening` times the
/// Poisson variance.
fn change(metric: Metric, before: &Events, after: &Events, widening: f64) -> Change {
    // Adds one to the observed count: with no events the error would be 0, and a single event would always be
    // significant.
    let pooled = (before.count + after.count + 1.0) / (before.chances + after.chances);
    let error = (widening * pooled * (1.0 / before.chances + 1.0 / after.chances)).sqrt();
    let shares = (before.count / before.chances, after.count / after.chances);
    let change = shares.1 - shares.0;
    Change {
        metric,
        before: shares.0,
        after: shares.1,
        change,
        interval: Some((change - 1.96 * error, change + 1.96 * error)),
        p: Some(wilcoxon::two_sided(change / error)),
        blocks: 0,
        block_seconds: 0,
        outcome: Outcome::TooShort,
    }
}

/// Returns the variance divided by the mean over the seconds that have errors, at least 1: how much burstier the errors
/// are than independent ones.
fn dispersion(rows: &[SeriesRow]) -> f64 {
    let counts: Vec<f64> = rows.iter().filter(|row| row.errors > 0).map(|row| row.errors as f64).collect();
    if counts.len() < 2 {
        return 1.0;
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    let variance =
        counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (counts.len() as f64 - 1.0);
    (variance / mean).max(1.0)
}
