//! What is wrong with a value from outside, and in which field.

use serde::Serialize;
use std::fmt;

/// What is wrong with one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// For programs: `length`, `alphabet`, `control_character`, `range`, `id`, `too_many`, `too_broad`,
    /// `unknown`, `form`.
    pub code: &'static str,
    /// For people; reads on after the field's name: "is longer than 40 bytes".
    pub message: String,
}

impl Problem {
    /// Any.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// A length outside of its bounds.
    pub fn length(min: usize, max: usize, unit: &str) -> Self {
        Self::new("length", format!("must have {min} to {max} {unit}"))
    }

    /// Says which field it is about: a path such as `attachments[2].name`.
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
    /// For programs, see [`Problem::code`].
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// Collects every problem of an input, so that its author learns of all at once.
#[derive(Default, Debug)]
pub struct Problems(Vec<FieldProblem>);

impl Problems {
    /// Notes a problem, if there is one, and hands on what there is otherwise.
    pub fn check<T>(&mut self, field: &str, parsed: Result<T, Problem>) -> Option<T> {
        parsed.map_err(|problem| self.0.push(problem.at(field))).ok()
    }

    /// Notes a problem unless `sound`.
    pub fn require(&mut self, sound: bool, field: &str, problem: impl FnOnce() -> Problem) {
        if !sound {
            self.0.push(problem().at(field));
        }
    }

    /// `value`, if there was no problem.
    ///
    /// # Errors
    /// The problems.
    pub fn or<T>(self, value: T) -> Result<T, crate::Failure> {
        if self.0.is_empty() { Ok(value) } else { Err(crate::Failure::Invalid(self.0)) }
    }
}
