//! The findings of an import: remarks and problems; and typed access to attribute values (numbers, words, times).

use std::time::Duration;

use super::document::Element;
use super::error::Problem;
use super::remark::{Remark, Verdict};
use crate::scenario::source::{TIME_MAX, Time};
use crate::scenario::suggestion;

/// Maximum number of problems reported at once; further ones are likely to follow from the first.
const PROBLEMS_MAX: usize = 50;

/// The findings so far.
#[derive(Default)]
pub(super) struct Findings {
    remarks: Vec<Remark>,
    pub(super) problems: Vec<Problem>,
}

impl Findings {
    /// Returns the remarks in the order of the lines; those of one line in the order in which they were made.
    pub(super) fn into_remarks(self) -> Vec<Remark> {
        let mut remarks = self.remarks;
        remarks.sort_by_key(|remark| remark.line);
        remarks
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems;
        problems.sort_by_key(|problem| problem.line);
        problems.truncate(PROBLEMS_MAX);
        problems
    }

    pub(super) fn supported(&mut self, element: Element<'_>, text: impl Into<String>) {
        self.remark(element, None, Verdict::Supported, text);
    }

    pub(super) fn approximated(
        &mut self,
        element: Element<'_>,
        attribute: Option<&str>,
        text: impl Into<String>,
        why: impl Into<String>,
    ) {
        self.remark(element, attribute, Verdict::Approximated(why.into()), text);
    }

    pub(super) fn unsupported(
        &mut self,
        element: Element<'_>,
        attribute: Option<&str>,
        text: impl Into<String>,
        what_to_do: impl Into<String>,
    ) {
        self.remark(element, attribute, Verdict::Unsupported(what_to_do.into()), text);
    }

    /// Adds a remark for each of these attributes that is present.
    pub(super) fn approximated_attributes(&mut self, element: Element<'_>, remarks: &[(&str, &str, &str)]) {
        for (attribute, text, why) in remarks {
            if element.attribute(attribute).is_some() {
                self.approximated(element, Some(attribute), *text, *why);
            }
        }
    }

    fn remark(
        &mut self,
        element: Element<'_>,
        attribute: Option<&str>,
        verdict: Verdict,
        text: impl Into<String>,
    ) {
        self.remarks.push(Remark {
            line: element.line(),
            element: element.name().to_owned(),
            attribute: attribute.map(str::to_owned),
            verdict,
            text: text.into(),
        });
    }

    pub(super) fn problem(
        &mut self,
        element: Element<'_>,
        attribute: Option<&str>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.problems.push(Problem {
            line: element.line(),
            element: element.name().to_owned(),
            attribute: attribute.map(str::to_owned),
            message: message.into(),
            help,
        });
    }

    /// Returns a required attribute.
    pub(super) fn required<'d>(&mut self, element: Element<'d>, attribute: &str) -> Option<&'d str> {
        let value = element.attribute(attribute);
        if value.is_none() {
            self.problem(element, Some(attribute), format!("`{attribute}` is missing"), None);
        }
        value
    }

    /// Returns a number, 0 or more; `None` if it is missing, or invalid, which is reported.
    pub(super) fn number(&mut self, element: Element<'_>, attribute: &str) -> Option<f64> {
        let value = element.attribute(attribute)?;
        match value.trim().parse::<f64>() {
            Ok(number) if number.is_finite() && number >= 0.0 => Some(number),
            Ok(_) | Err(_) => {
                self.problem(element, Some(attribute), format!("`{value}` is not a number, 0 or more"), None);
                None
            }
        }
    }

    /// Returns an integer, 0 or more.
    pub(super) fn whole(&mut self, element: Element<'_>, attribute: &str) -> Option<u64> {
        let value = element.attribute(attribute)?;
        let number = value.trim().parse().ok();
        if number.is_none() {
            let message = format!("`{value}` is not a whole number, 0 or more");
            self.problem(element, Some(attribute), message, None);
        }
        number
    }

    /// Returns an integer above 0.
    pub(super) fn count(&mut self, element: Element<'_>, attribute: &str) -> Option<u64> {
        let number = self.whole(element, attribute)?;
        if number == 0 {
            self.problem(element, Some(attribute), "it must be above 0", None);
            return None;
        }
        Some(number)
    }

    /// Returns one of the allowed words.
    pub(super) fn word<'d>(
        &mut self,
        element: Element<'d>,
        attribute: &str,
        allowed: &[&str],
    ) -> Option<&'d str> {
        let value = element.attribute(attribute)?;
        if allowed.contains(&value) {
            return Some(value);
        }
        let help = suggestion(value, allowed.iter().copied());
        self.problem(element, Some(attribute), format!("`{value}` is none of its values"), help);
        None
    }

    /// Returns `true` or `false`; the default is `false`.
    pub(super) fn flag(&mut self, element: Element<'_>, attribute: &str) -> bool {
        self.word(element, attribute, &["true", "false"]) == Some("true")
    }

    /// Returns the element's `unit` in seconds, one second if it has none.
    pub(super) fn unit_seconds(&mut self, element: Element<'_>) -> f64 {
        match self.word(element, "unit", &["second", "minute", "hour", "millisecond"]) {
            Some("minute") => 60.0,
            Some("hour") => 3600.0,
            Some("millisecond") => 0.001,
            Some(_) | None => 1.0,
        }
    }

    /// Converts seconds to a time.
    pub(super) fn time(&mut self, element: Element<'_>, attribute: &str, seconds: f64) -> Option<Time> {
        if (0.0..=TIME_MAX.as_secs_f64()).contains(&seconds) {
            return Some(Time(Duration::from_secs_f64(seconds)));
        }
        self.problem(element, Some(attribute), "longer than a year", None);
        None
    }
}
