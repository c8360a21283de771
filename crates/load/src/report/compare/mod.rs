//! Compares two runs: what got better or worse, and whether the difference is more than noise.
//!
//! **Method.** Each metric has a value per second. A second of one run is paired with the same second of the other, so
//! that a schedule that both share (a ramp, a burst) cancels out. The logarithm of a pair's ratio is its change.
//! Consecutive seconds are correlated; the changes are therefore grouped into blocks three times as long as their
//! autocorrelation time, and each block is reduced to its mean. Wilcoxon's signed-rank test is applied to the blocks,
//! and the estimate with its 95 % interval is the Hodges-Lehmann estimator; the correlation that remains between blocks
//! widens both.
//!
//! Errors and losses are rare, and a comparison must not overlook a single burst of them: their totals are compared as
//! counts, and the variance is widened by how unevenly errors are spread over the seconds that have any. There is no
//! per-second series of losses, so they are assumed to be independent.
//!
//! Holm's correction keeps the probability that any metric of two equal runs is reported as different at 5 %.
//!
//! The method accounts for noise within the runs, but not for variation between starts of a server. Confirm a change
//! that matters with a second pair of runs.

mod blocks;
mod change;
mod changes;
mod counted;
mod metrics;
mod present;
mod wilcoxon;

use serde::Serialize;

pub use change::{Change, Outcome, Tolerance};
pub use metrics::Metric;

use super::Run;

/// The comparison of two runs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// Configuration of the first run.
    pub before: String,
    /// Configuration of the second run.
    pub after: String,
    /// The tolerance that was applied.
    pub tolerance: Tolerance,
    /// Caveats that limit the conclusions: invalid runs, different loads, different lengths.
    pub cautions: Vec<String>,
    /// Whether the runs can be compared at all: both are valid.
    pub comparable: bool,
    /// One entry for each metric that both runs measured.
    pub changes: Vec<Change>,
}

/// Compares two runs. Metrics that only one of them measured are left out.
pub fn compare(before: &Run, after: &Run, tolerance: Tolerance) -> Comparison {
    Comparison {
        before: before.configuration.clone(),
        after: after.configuration.clone(),
        tolerance,
        cautions: cautions(before, after),
        comparable: before.summary.verdict.valid && after.summary.verdict.valid,
        changes: changes::changes(before, after, tolerance),
    }
}

impl Comparison {
    /// Returns whether any metric got worse by more than the tolerance, beyond noise.
    pub fn is_regression(&self) -> bool {
        self.changes.iter().any(|change| change.outcome == Outcome::Worse)
    }

    /// Returns an exit code: 0 if nothing got worse; 1 on a regression; 2 if the runs are inconclusive because one of
    /// them is invalid, or because they are too short for every metric except the counts.
    pub fn exit_code(&self) -> u8 {
        let over_seconds = || self.changes.iter().filter(|change| !change.metric.is_count());
        let told = match over_seconds().next() {
            Some(_) => over_seconds().any(|change| change.outcome != Outcome::TooShort),
            None => !self.changes.is_empty(),
        };
        match (self.comparable && told, self.is_regression()) {
            (false, _) => 2,
            (true, true) => 1,
            (true, false) => 0,
        }
    }

    /// Returns the comparison as JSON.
    pub fn json(&self) -> serde_json::Value {
        // Contains only numbers, strings and lists, so serialization cannot fail.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the comparison as a table, with a description of the method.
    pub fn text(&self) -> String {
        present::text(self)
    }
}

/// The share of seconds in which the planned number of users may differ before the loads count as different.
const OTHER_LOAD: f64 = 0.05;

fn cautions(before: &Run, after: &Run) -> Vec<String> {
    let mut cautions = Vec::new();
    for (name, run) in [("before", before), ("after", after)] {
        if !run.summary.verdict.valid {
            let why = run.summary.verdict.reasons.join("; ");
            cautions.push(format!("The run {name} ({}) is INVALID: {why}.", run.configuration));
        }
    }
    let both = before.series.len().min(after.series.len());
    if before.series.len() != after.series.len() {
        let (a, b) = (before.series.len(), after.series.len());
        cautions.push(format!("The runs are {a} s and {b} s long: the first {both} s are compared."));
    }
    let other =
        before.series.iter().zip(&after.series).filter(|(a, b)| a.users_wanted != b.users_wanted).count();
    if other as f64 > both as f64 * OTHER_LOAD {
        cautions.push(format!(
            "In {other} of {both} s the runs wanted different numbers of users: what follows compares loads as well as \
             servers."
        ));
    }
    cautions
}
