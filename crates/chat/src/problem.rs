//! Validation problems of input, and the fields that they concern.

use serde::Serialize;
use std::fmt;

/// What is wrong with one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Machine-readable: `length`, `alphabet`, `control_character`, `range`, `id`, `too_many`, `too_broad`, `unknown`,
    /// `form`.
    pub code: &'static str,
    /// Human-readable; continues a sentence that starts with the field's name: "is longer than 40 bytes".
    pub message: String,
}

impl Problem {
    /// Creates a problem.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// A length that is out of bounds.
    pub fn length(min: usize, max: usize, unit: &str) -> Self {
        Self::new("length", format!("must have {min} to {max} {unit}"))
    }

    /// Attaches the field that it concerns: a path such as `attachments[2].name`.
    pub fn at(self, field: impl Into<String>) -> FieldProblem {
        FieldProblem { field: field.into(), code: self.code, message: self.message }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What is wrong with one field.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FieldProblem {
    /// A path, such as `attachments[2].name`.
    pub field: String,
    /// Machine-readable; see [`Problem::code`].
    pub code: &'static str,
    /// Human-readable; see [`Problem::message`].
    pub message: String,
}

/// Collects all problems of an input, so that its author can be told of all of them at once.
#[derive(Default, Debug)]
pub struct Problems(Vec<FieldProblem>);

impl Problems {
    /// Unwraps a parsed value; records the problem and returns `None` if parsing failed.
    pub fn check<T>(&mut self, field: &str, parsed: Result<T, Problem>) -> Option<T> {
        parsed.map_err(|problem| self.0.push(problem.at(field))).ok()
    }

    /// Records a problem unless `sound`.
    pub fn require(&mut self, sound: bool, field: &str, problem: impl FnOnce() -> Problem) {
        if !sound {
            self.0.push(problem().at(field));
        }
    }

    /// Returns `value` if there were no problems.
    ///
    /// # Errors
    /// All recorded problems.
    pub fn or<T>(self, value: T) -> Result<T, crate::Failure> {
        if self.0.is_empty() { Ok(value) } else { Err(crate::Failure::Invalid(self.0)) }
    }
}
