//! The complete result: what was read, and how it was judged.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnosis::Diagnosis;
use super::facts::Facts;
use super::target::TargetFacts;

/// The facts of a machine and of its targets, and what follows for requirements. This is what `--json` prints.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// The machine.
    pub facts: Facts,
    /// The servers under test.
    pub targets: Vec<TargetFacts>,
    /// What the machine can do.
    pub diagnosis: Diagnosis,
}
