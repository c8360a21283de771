//! Text with placeholders: `{{name}}`, `{{random(1, 10)}}`; `\{{` is a literal `{{`.

use super::super::plan::VariableId;
use super::super::source::parse_distribution;
use super::super::template::{Part, Template};
use super::Compiler;
use crate::draw::Distribution;
use crate::scenario::problem::suggestion;

/// Names of placeholders that are not variables.
const HOLES: [&str; 6] = ["user_id", "unique_id", "stamp", "now_ms", "target_host", "sequence"];
/// Names of placeholders that generate random values.
const DRAWS: [&str; 9] =
    ["random", "uniform", "exponential", "normal", "log_normal", "zipf", "filler", "pad_to", "sequence"];

/// The context of a text, which decides how values of variables are escaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Surroundings {
    Plain,
    /// Inside the quotes of a JSON string.
    JsonString,
    /// JSON written as text: placeholders may be inside or outside quotes.
    JsonText,
}

impl Compiler<'_> {
    pub(super) fn template(&mut self, text: &str) -> Template {
        let mut parts = Vec::new();
        self.template_parts(text, Surroundings::Plain, &mut parts);
        self.finished(parts)
    }

    pub(super) fn template_at(&mut self, key: &str, text: &str) -> Template {
        self.within(key, |compiler| compiler.template(text))
    }

    pub(super) fn finished(&mut self, parts: Vec<Part>) -> Template {
        if parts.iter().filter(|part| matches!(part, Part::PadTo(_))).count() > 1 {
            self.complain("`pad_to` may stand once in a text: it fills the whole up to one size");
        }
        Template { parts }
    }

    pub(super) fn template_parts(&mut self, text: &str, surroundings: Surroundings, parts: &mut Vec<Part>) {
        let mut rest = text;
        let mut quoted = false;
        while let Some(place) = rest.find("{{") {
            let (before, after) = (&rest[..place], &rest[place + 2..]);
            if let Some(before) = before.strip_suffix('\\') {
                quoted = push_text(parts, before, surroundings, quoted);
                quoted = push_text(parts, "{{", surroundings, quoted);
                rest = after;
                continue;
            }
            quoted = push_text(parts, before, surroundings, quoted);
            let Some((hole, after)) = after.split_once("}}") else {
                let help = "`\\{{` stands for `{{` itself".to_owned();
                self.complain_with("`{{` has no closing `}}`", Some(help));
                return;
            };
            let in_json_string = match surroundings {
                Surroundings::Plain => false,
                Surroundings::JsonString => true,
                Surroundings::JsonText => quoted,
            };
            match self.hole(hole.trim()) {
                Some(Part::Variable(variable)) if in_json_string => parts.push(Part::JsonVariable(variable)),
                Some(part) => parts.push(part),
                None => {}
            }
            rest = after;
        }
        push_text(parts, rest, surroundings, quoted);
    }

    fn hole(&mut self, hole: &str) -> Option<Part> {
        match hole {
            "user_id" => return Some(Part::UserId),
            "unique_id" => return Some(Part::UniqueId),
            "stamp" => return Some(Part::Stamp),
            "now_ms" => return Some(Part::NowMs),
            "target_host" => return Some(Part::TargetHost),
            _ => {}
        }
        if let Some((name, arguments)) = hole.strip_suffix(')').and_then(|hole| hole.split_once('(')) {
            return self.drawing_hole(hole, name.trim(), arguments.trim());
        }
        if let Some((left, groups)) = hole.split_once('%') {
            return self.group_hole(left.trim(), groups.trim());
        }
        match hole.split_once('.') {
            Some((feeder, column)) => self.column(feeder.trim(), column.trim(), hole).map(Part::Variable),
            None => self.known_variable(hole).map(Part::Variable),
        }
    }

    fn group_hole(&mut self, left: &str, groups: &str) -> Option<Part> {
        match groups.parse() {
            Ok(groups) if groups > 0 && left == "user_id" => Some(Part::UserGroup(groups)),
            Ok(_) | Err(_) => {
                self.complain("`%` makes groups of users: `{{user_id % 25}}`, with a number above 0");
                None
            }
        }
    }

    fn drawing_hole(&mut self, hole: &str, name: &str, arguments: &str) -> Option<Part> {
        let bytes = |text: &str| text.parse::<super::super::source::Size>().ok().map(|size| size.0 as f64);
        let part = match name {
            "sequence" => Some(Part::Sequence(self.names.sequences.number(arguments))),
            "random" => parse_distribution(&format!("uniform({arguments})"), number).map(Part::Number),
            "uniform" | "exponential" | "normal" | "log_normal" | "zipf" => {
                parse_distribution(hole, number).map(Part::Number)
            }
            "filler" => parse_distribution(arguments, bytes).map(Part::Filler),
            "pad_to" => parse_distribution(arguments, bytes).map(Part::PadTo),
            _ => {
                let message = format!("nothing is drawn by `{name}`");
                self.complain_with(message, suggestion(name, DRAWS.iter().copied()));
                return None;
            }
        };
        if part.is_none() {
            let help =
                "for example: random(1, 10), zipf(1000, 1.1), normal(5, 1), filler(64), pad_to(200..400)";
            self.complain_with(format!("`{hole}` does not say what to draw"), Some(help.to_owned()));
        }
        part
    }

    /// Returns the variable of a feeder's column.
    fn column(&mut self, feeder: &str, column: &str, hole: &str) -> Option<VariableId> {
        let Some(index) = self.names.feeders.iter().position(|known| known.name == feeder) else {
            let known: Vec<String> = self.names.feeders.iter().map(|known| known.name.clone()).collect();
            self.complain_unknown("feeder", feeder, known.iter().map(String::as_str));
            return None;
        };
        let columns = self.names.feeders[index].columns.clone();
        let Some(place) = columns.iter().position(|known| known == column) else {
            // A feeder that could not be read has been reported already.
            if !columns.is_empty() {
                let what = format!("column in `{feeder}`");
                self.complain_unknown(&what, column, columns.iter().map(String::as_str));
            }
            return None;
        };
        let (feeder, column) = (u16::try_from(index).ok()?, u16::try_from(place).ok()?);
        Some(self.names.column(feeder, column, hole))
    }

    /// Returns the variable of this name; some step of the session must assign it.
    pub(super) fn known_variable(&mut self, name: &str) -> Option<VariableId> {
        if self.names.known.contains(name) {
            return Some(self.names.variable(name));
        }
        if self.scenario.variables.contains_key(name) {
            self.complain_with(
                format!("`{name}` is a constant of the scenario, not a variable of a user"),
                Some(format!("write `${{{name}}}`")),
            );
            return None;
        }
        let known: Vec<String> = self.names.known.iter().cloned().collect();
        let known = known.iter().map(String::as_str).chain(HOLES);
        let help = suggestion(name, known);
        self.complain_with(format!("no step of this session gives `{name}` a value"), help);
        None
    }

    /// Reports a text that cannot name a variable or feeder.
    pub(super) fn check_name(&mut self, name: &str) {
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !first || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.complain(format!("`{name}` cannot be a name: letters, digits and `_`, and no digit first"));
        } else if HOLES.contains(&name) {
            self.complain(format!("`{name}` has a meaning of its own already"));
        }
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

/// Appends text. Takes and returns whether the position is inside quotes, before and after the text.
fn push_text(parts: &mut Vec<Part>, text: &str, surroundings: Surroundings, quoted: bool) -> bool {
    if text.is_empty() {
        return quoted;
    }
    let text = match surroundings {
        Surroundings::Plain | Surroundings::JsonText => text.to_owned(),
        Surroundings::JsonString => escaped(text),
    };
    let quoted = quotes_at_end(&text, quoted);
    match parts.last_mut() {
        Some(Part::Text(last)) => last.push_str(&text),
        Some(_) | None => parts.push(Part::Text(text)),
    }
    quoted
}

/// Returns the text escaped for use between the quotes of a JSON string.
pub(super) fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn quotes_at_end(text: &str, mut quoted: bool) -> bool {
    let mut escape = false;
    for byte in text.bytes() {
        match byte {
            _ if escape => escape = false,
            b'\\' if quoted => escape = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
    }
    quoted
}

/// Returns the smallest value that a distribution can produce, if it has a known minimum.
pub(super) fn least(distribution: Distribution) -> Option<f64> {
    match distribution {
        Distribution::Constant(value) | Distribution::Uniform(value, _) => Some(value),
        Distribution::Exponential(_)
        | Distribution::Normal(..)
        | Distribution::LogNormal(..)
        | Distribution::Zipf { .. } => None,
    }
}

/// Escapes a text so that, read as a template, it stands for itself.
#[must_use]
pub fn literal(text: &str) -> String {
    // A backslash before `{{` would be read as part of the escape.
    text.replace("{{", "\\{{")
}
