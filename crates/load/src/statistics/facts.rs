//! What is known of a run besides its observations.

use serde::{Deserialize, Serialize};

use super::{GeneratorFacts, MachineFacts};
use crate::observe::{Kind, Outcome};
use crate::scenario::plan::Threshold;

/// What is known of a run besides its observations: the content of `run.json`. The tables of names are complete from
/// the run's start on, everything else at its end.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// Version of this form.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed that it is played with.
    pub seed: u64,
    /// Start time (RFC 3339, UTC).
    pub started: String,
    /// From the start to the end of the drain, in seconds; 0 while it is not known.
    pub seconds: f64,
    /// What ended it: `finished`, `duration`, `stopped`, `aborted`, or an error; empty while it is not known.
    pub ended_by: String,
    /// Labels of the plan, by the observations' label.
    pub labels: Vec<String>,
    /// Source addresses, by the observations' source.
    pub sources: Vec<String>,
    /// Results of the scenario's thresholds.
    pub thresholds: Vec<Threshold>,
    /// The machine that generated the load, and the machines of the agents.
    pub machines: Vec<MachineFacts>,
    /// Facts about the generator.
    pub generator: GeneratorFacts,
    /// What the first error of each kind said.
    pub examples: Vec<ErrorExample>,
    /// What could not be kept of the run: an event log or samples that are not complete, with the reason.
    pub losses: Vec<String>,
    /// Rows that were written to the event log; 0 where that is not known, or there is none.
    pub log_rows: u64,
}

/// What the first error of a kind said.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ErrorExample {
    /// What was tried.
    pub kind: Kind,
    /// How it went wrong.
    pub outcome: Outcome,
    /// HTTP status, close code or the like.
    pub code: u16,
    /// What was said.
    pub text: String,
}

impl RunFacts {
    /// The version that is written.
    pub const FORMAT: u32 = 1;

    /// A source address by its index: as text, or as a number where it has none.
    #[must_use]
    pub fn source(&self, source: u16) -> String {
        self.sources.get(usize::from(source)).map_or_else(|| format!("source {source}"), Clone::clone)
    }

    /// A label by its index.
    #[must_use]
    pub fn label(&self, label: u16) -> String {
        self.labels.get(usize::from(label)).map_or_else(|| format!("label {label}"), Clone::clone)
    }

    /// What the first error of a kind said.
    #[must_use]
    pub fn example(&self, kind: Kind, outcome: Outcome, code: u16) -> Option<&str> {
        let example = self
            .examples
            .iter()
            .find(|example| (example.kind, example.outcome, example.code) == (kind, outcome, code));
        example.map(|example| example.text.as_str())
    }
}
