//! What is known about a run besides its observations.

use serde::{Deserialize, Serialize};

use super::{GeneratorFacts, MachineFacts};
use crate::observe::{Kind, Outcome};
use crate::scenario::plan::Threshold;

/// What is known about a run besides its observations: the content of `run.json`. The tables of names are complete from
/// the start of the run, everything else at its end.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// Version of the format.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Start time in RFC 3339, UTC.
    pub started: String,
    /// Seconds from the start to the end of the drain; 0 until known.
    pub seconds: f64,
    /// What ended the run: `finished`, `duration`, `stopped`, `aborted`, or an error; empty until known.
    pub ended_by: String,
    /// Labels of the plan; observations refer to them by index.
    pub labels: Vec<String>,
    /// Source addresses; observations refer to them by index.
    pub sources: Vec<String>,
    /// The scenario's thresholds.
    pub thresholds: Vec<Threshold>,
    /// The machine that generated the load, and that of each agent.
    pub machines: Vec<MachineFacts>,
    /// Facts about the generator itself.
    pub generator: GeneratorFacts,
    /// The text of the first error of each kind.
    pub examples: Vec<ErrorExample>,
    /// What could not be recorded: an incomplete event log or incomplete samples, with the reason.
    pub losses: Vec<String>,
    /// Rows written to the event log; 0 if unknown, or if there is none.
    pub log_rows: u64,
}

/// The text of the first error of a kind.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ErrorExample {
    /// Kind of operation.
    pub kind: Kind,
    /// Outcome.
    pub outcome: Outcome,
    /// HTTP status, close code or similar.
    pub code: u16,
    /// Error text.
    pub text: String,
}

impl RunFacts {
    /// The version that is written.
    pub const FORMAT: u32 = 1;

    /// Returns a source address by its index: as text, or the index itself if it is not in the table.
    #[must_use]
    pub fn source(&self, source: u16) -> String {
        self.sources.get(usize::from(source)).map_or_else(|| format!("source {source}"), Clone::clone)
    }

    /// Returns a label by its index.
    #[must_use]
    pub fn label(&self, label: u16) -> String {
        self.labels.get(usize::from(label)).map_or_else(|| format!("label {label}"), Clone::clone)
    }

    /// Returns the text of the first error of a kind.
    #[must_use]
    pub fn example(&self, kind: Kind, outcome: Outcome, code: u16) -> Option<&str> {
        let example = self
            .examples
            .iter()
            .find(|example| (example.kind, example.outcome, example.code) == (kind, outcome, code));
        example.map(|example| example.text.as_str())
    }
}
