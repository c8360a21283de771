//! Problems in a scenario: for each, its position, a message, and what would be valid.

use std::fmt;

use super::yaml::{Node, Path, Segment};

/// Maximum number of problems reported at once; further ones are likely to follow from the first.
pub(super) const PROBLEMS_MAX: usize = 50;

/// All problems of a scenario, at least one, in the order of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScenarioErrors {
    /// The problems.
    pub problems: Vec<Problem>,
}

/// One problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// File name; empty if there is no file.
    pub file: String,
    /// Line and column, both from 1, the column in characters; `None` if there is no text.
    pub place: Option<(usize, usize)>,
    /// The path of keys that leads to it: `sessions[0].steps[2].push.topic`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or how to fix it.
    pub help: Option<String>,
    /// The line of the text.
    pub source_line: Option<String>,
}

impl fmt::Display for ScenarioErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n\n")?;
            }
            problem.fmt(formatter)?;
        }
        Ok(())
    }
}

impl std::error::Error for ScenarioErrors {}

/// The longest part of a source line that is shown, in characters.
const SHOWN_CHARACTERS: usize = 120;

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.message)?;
        let file = if self.file.is_empty() { "scenario" } else { &self.file };
        write!(formatter, "\n  --> {file}")?;
        if let Some((line, column)) = self.place {
            write!(formatter, ":{line}:{column}")?;
        }
        if !self.path.is_empty() {
            write!(formatter, " ({})", self.path)?;
        }
        if let (Some((line, column)), Some(source_line)) = (self.place, &self.source_line) {
            write_excerpt(formatter, line, column, source_line)?;
        }
        match &self.help {
            Some(help) => write!(formatter, "\n   = {help}"),
            None => Ok(()),
        }
    }
}

/// Writes the line with a caret under the column; of a long line, the part around the column.
fn write_excerpt(
    formatter: &mut fmt::Formatter<'_>,
    line: usize,
    column: usize,
    source_line: &str,
) -> fmt::Result {
    let first = column.saturating_sub(SHOWN_CHARACTERS / 2).min(column.saturating_sub(1));
    let first = if source_line.chars().count() <= SHOWN_CHARACTERS { 0 } else { first };
    // A control character would move the caret or disturb the terminal.
    let shown: String = source_line
        .chars()
        .skip(first)
        .take(SHOWN_CHARACTERS)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let indent = " ".repeat(column.saturating_sub(first + 1));
    write!(formatter, "\n {margin} |\n {number} | {}\n {margin} | {indent}^", shown.trim_end())
}

/// A problem identified by path, before its position in the text is looked up.
#[derive(Debug)]
pub(super) struct Diagnostic {
    pub(super) path: Vec<Segment>,
    /// Whether the last key of the path is wrong, rather than its value.
    pub(super) at_key: bool,
    pub(super) message: String,
    pub(super) help: Option<String>,
}

/// The file and text that a scenario was read from.
pub(super) struct Origin<'a> {
    pub(super) file: &'a str,
    /// Text and tree, if the scenario was read from text.
    pub(super) text: Option<(&'a str, &'a Node)>,
}

impl Origin<'_> {
    /// Looks up the positions and sorts by them.
    pub(super) fn errors(&self, complaints: Vec<Diagnostic>) -> ScenarioErrors {
        let mut problems: Vec<Problem> =
            complaints.into_iter().take(PROBLEMS_MAX).map(|complaint| self.problem(complaint)).collect();
        problems.sort_by_key(|problem| problem.place);
        ScenarioErrors { problems }
    }

    fn problem(&self, complaint: Diagnostic) -> Problem {
        let place = self.text.map(|(_, root)| {
            let place = root.place_of(&complaint.path, complaint.at_key);
            (place.line, place.column)
        });
        self.problem_at(place, Path(&complaint.path).to_string(), complaint.message, complaint.help)
    }

    /// Builds a problem at a known position.
    pub(super) fn problem_at(
        &self,
        place: Option<(usize, usize)>,
        path: String,
        message: String,
        help: Option<String>,
    ) -> Problem {
        let source_line = self.text.and_then(|(text, _)| source_line(text, place));
        Problem { file: self.file.to_owned(), place, path, message, help, source_line }
    }
}

pub(super) fn source_line(text: &str, place: Option<(usize, usize)>) -> Option<String> {
    let (line, _) = place?;
    text.lines().nth(line.checked_sub(1)?).map(str::to_owned)
}

/// Names at least this similar are taken for a typo of each other.
const LIKENESS_MIN: f64 = 0.8;

/// Suggests the closest known name ("Did you mean …"), and lists the known names.
pub(crate) fn suggestion<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<String> {
    let closest = known
        .clone()
        .map(|name| (strsim::jaro_winkler(given, name), name))
        .filter(|(likeness, _)| *likeness >= LIKENESS_MIN)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let all: Vec<String> = known.map(|name| format!("`{name}`")).collect();
    match (closest, all.is_empty()) {
        (_, true) => None,
        (Some((_, name)), false) => Some(format!("did you mean `{name}`? Allowed: {}", all.join(", "))),
        (None, false) => Some(format!("allowed: {}", all.join(", "))),
    }
}
