//! What is wrong with a Tsung file: for each fault its line, element and attribute, and what would be right.

use std::fmt;

/// Everything that is wrong with a file, at least one thing, in the order of the lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ImportErrors {
    /// The file's name.
    pub file: String,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// From 1.
    pub line: u32,
    /// The element's name; empty where the file as a whole is meant.
    pub element: String,
    /// The attribute's name, where it is about one.
    pub attribute: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or what to do.
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
