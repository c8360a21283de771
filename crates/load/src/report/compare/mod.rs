//! What got better or worse between two runs, and whether it is more than noise.
//!
//! **Method.** Each metric has a value per second. A second of one run is paired with the same second of the other, so
//! that a schedule that both share (a ramp, a burst) cancels out. A pair becomes a change, the logarithm of its ratio.
//! Seconds that follow each other resemble each other; the changes are therefore put into blocks three times as long as
//! their autocorrelation time, and each block is reduced to its mean. Over the blocks goes Wilcoxon's signed-rank test,
//! and the estimate with its 95 % interval is Hodges-Lehmann's; what likeness is left between blocks widens both.
//!
//! Errors and losses are rare, and one burst of them is what a comparison must not overlook: their totals are compared
//! as counts, whose variance is widened by how unevenly errors fill the seconds that have any. Losses have no series
//! and are taken to come singly.
//!
//! Holm's correction keeps the chance that any metric of two equal runs is called different at 5 %.
//!
//! The noise within the runs is known to the method; what differs from one start of a server to the next is not. A
//! change that matters deserves a second pair of runs.

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

/// Two runs, compared.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The first run's configuration.
    pub before: String,
    /// The second run's configuration.
    pub after: String,
    /// What was accepted.
    pub tolerance: Tolerance,
    /// What a reader must know before believing any of it: invalid runs, other loads, other lengths.
    pub cautions: Vec<String>,
    /// Whether the runs may be compared at all: both are valid.
    pub comparable: bool,
    /// One for each metric that both runs measured.
    pub changes: Vec<Change>,
}

/// Compares two runs. Metrics that one of them did not measure are left out.
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
    /// Whether something got worse by more than the tolerance and more than noise.
    pub fn is_regression(&self) -> bool {
        self.changes.iter().any(|change| change.outcome == Outcome::Worse)
    }

    /// For a process: 0 when nothing got worse; 1 on a regression; 2 when the runs cannot tell, because one of them is
    /// invalid, or because they are too short for every metric but the counts.
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

    /// The comparison as JSON.
    pub fn json(&self) -> serde_json::Value {
        // Numbers, strings and lists only: there is nothing that JSON cannot hold.
        serde_json::to_value(self).unwrap_or_default()
    }

    /// The comparison as a table with its method in words.
    pub fn text(&self) -> String {
        present::text(self)
    }
}

/// The share of seconds in which the wanted users may differ before the load is called another.
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
        cautions.push(format!("The runs last {a} s and {b} s: only the first {both} s are compared."));
    }
    let other =
        before.series.iter().zip(&after.series).filter(|(a, b)| a.users_wanted != b.users_wanted).count();
    if other as f64 > both as f64 * OTHER_LOAD {
        cautions.push(format!(
            "In {other} of {both} s the runs demanded different numbers of users: the differences below may \
             come from the load instead of the server."
        ));
    }
    cautions
}
