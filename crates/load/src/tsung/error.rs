//! Problems in a Tsung file: for each, its line, element and attribute, and what would be valid.

use std::fmt;

/// All problems of a file, at least one, in the order of the lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportErrors {
    /// File name.
    pub file: String,
    /// The problems.
    pub problems: Vec<Problem>,
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Line number, from 1.
    pub line: u32,
    /// Name of the element; empty if the problem concerns the whole file.
    pub element: String,
    /// Name of the attribute, if the problem concerns one.
    pub attribute: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or how to fix it.
    pub help: Option<String>,
}

impl Problem {
    pub(super) fn of_file(line: u32, message: String) -> Self {
        Self { line, element: String::new(), attribute: None, message, help: None }
    }
}

impl fmt::Display for ImportErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n\n")?;
            }
            write!(formatter, "error: {}\n  --> {}:{}", problem.message, self.file, problem.line)?;
            match (problem.element.as_str(), &problem.attribute) {
                ("", _) => {}
                (element, Some(attribute)) => write!(formatter, " ({element}@{attribute})")?,
                (element, None) => write!(formatter, " ({element})")?,
            }
            if let Some(help) = &problem.help {
                write!(formatter, "\n   = {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ImportErrors {}
