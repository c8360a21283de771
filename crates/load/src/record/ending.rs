//! The summary of a run, also of one whose end is not known.

use crate::statistics::{Finding, RunFacts, Severity, Statistics, Summary};

/// Why a run without a known end is invalid.
const END_NOT_KNOWN: &str = "The end of the run is unknown: its process was killed before it could record \
    the end, or is still running. The figures cover the event log as far as it was written.";

/// Returns the summary of a run. A run whose end was never recorded is invalid, since it is unknown what its users
/// would have seen and what the generator did.
#[must_use]
pub fn summary(statistics: &Statistics, facts: &RunFacts) -> Summary {
    let mut summary = statistics.summary(facts);
    if facts.ended_by.is_empty() {
        summary.verdict.valid = false;
        summary.verdict.reasons.insert(0, END_NOT_KNOWN.to_owned());
        summary.findings.insert(0, Finding { severity: Severity::Error, text: END_NOT_KNOWN.to_owned() });
    }
    summary
}
