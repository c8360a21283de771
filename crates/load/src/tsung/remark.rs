//! The report on how each element and attribute was translated.

use std::fmt::Write;

use serde_json::{Value, json};

/// How one element or attribute was translated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Line number, from 1.
    pub line: u32,
    /// The element's name.
    pub element: String,
    /// The attribute's name, if the remark concerns one.
    pub attribute: Option<String>,
    /// How faithfully it was translated.
    pub verdict: Verdict,
    /// The result of the translation.
    pub text: String,
}

/// How faithfully an element was translated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Same behaviour as in Tsung.
    Supported,
    /// Different behaviour; contains how or why.
    Approximated(String),
    /// Left out; contains the alternative.
    Unsupported(String),
}

impl Verdict {
    /// Returns the verdict as one word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Approximated(_) => "approximated",
            Self::Unsupported(_) => "unsupported",
        }
    }

    /// Returns the explanation or the alternative.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Supported => None,
            Self::Approximated(note) | Self::Unsupported(note) => Some(note),
        }
    }
}

impl Remark {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "line": self.line,
            "element": self.element,
            "attribute": self.attribute,
            "verdict": self.verdict.word(),
            "what": self.text,
            "note": self.verdict.note(),
        })
    }

    fn place(&self) -> String {
        match &self.attribute {
            Some(attribute) => format!("{}@{attribute}", self.element),
            None => self.element.clone(),
        }
    }
}

/// Formats the columns line, element, verdict and what, and a line of totals.
pub(super) fn table(remarks: &[Remark]) -> String {
    let places: Vec<String> = remarks.iter().map(Remark::place).collect();
    let width = places.iter().map(|place| place.chars().count()).max().unwrap_or(0).max("element".len());
    let mut table = format!("{:>5}  {:width$}  {:12}  what\n", "line", "element", "verdict");
    for (remark, place) in remarks.iter().zip(&places) {
        let (line, verdict, text) = (remark.line, remark.verdict.word(), &remark.text);
        // Writing to a string never fails.
        let _ = write!(table, "{line:>5}  {place:width$}  {verdict:12}  {text}");
        if let Some(note) = remark.verdict.note() {
            let _ = write!(table, " — {note}");
        }
        table.push('\n');
    }
    let count = |word| remarks.iter().filter(|remark| remark.verdict.word() == word).count();
    let (supported, approximated, unsupported) =
        (count("supported"), count("approximated"), count("unsupported"));
    let _ = writeln!(table, "{supported} supported, {approximated} approximated, {unsupported} unsupported");
    table
}
