//! `dyn_variable`: extracts values from responses.

use regex::Regex;

use super::document::Element;
use super::jsonpath;
use super::requests::Answer;
use super::sessions::SessionReader;
use crate::scenario::source::{Action, Extractor, Named, Step};

impl SessionReader<'_, '_> {
    /// Returns the captures of a request.
    pub(super) fn captures(&mut self, request: Element<'_>, answer: Answer) -> Option<Step> {
        let variables = request.children().filter(|child| child.name() == "dyn_variable");
        let mut captures: Vec<(String, Extractor)> = Vec::new();
        for element in variables {
            let Some(name) = self.findings.required(element, "name") else { continue };
            let Some(extractor) = self.extractor(element, answer) else { continue };
            if element.attribute("decode").is_some() {
                let what_to_do = "the value is as it stands in the response";
                self.findings.unsupported(element, Some("decode"), "decoding of a value", what_to_do);
            }
            let name = self.variables.write(name);
            captures.retain(|(known, _)| *known != name);
            captures.push((name, extractor));
        }
        (!captures.is_empty()).then(|| Action::Capture(Named(captures)).into())
    }

    fn extractor(&mut self, element: Element<'_>, answer: Answer) -> Option<Extractor> {
        let ways = ["re", "regexp", "xpath", "jsonpath", "pgsql_expr", "header"];
        let mut given = ways.iter().filter_map(|way| element.attribute(way).map(|text| (*way, text)));
        let (Some((way, text)), None) = (given.next(), given.next()) else {
            let message = "a variable has exactly one of re, jsonpath, header, xpath, pgsql_expr";
            self.findings.problem(element, None, message, None);
            return None;
        };
        if matches!(answer, Answer::Nothing | Answer::Handshake) {
            let what_to_do = "take it out of a message that is waited for, or of an HTTP response";
            self.findings.unsupported(element, None, "a value of a request without an answer", what_to_do);
            return None;
        }
        match way {
            "re" => self.regex(element, way, text),
            "regexp" => {
                let why = "read as `re`, with \\( and \\) as a group";
                self.findings.approximated(element, Some(way), "an old regular expression", why);
                self.regex(element, way, &text.replace("\\(", "(").replace("\\)", ")"))
            }
            "jsonpath" => self.json_path(element, text),
            "header" if answer == Answer::Response && !text.contains('/') => {
                self.findings.supported(element, format!("the value of header {text}"));
                Some(Extractor::Header(text.to_owned()))
            }
            other => {
                let what_to_do = "find the value by `re` or `jsonpath`";
                self.findings.unsupported(
                    element,
                    Some(other),
                    format!("a value found by {other}"),
                    what_to_do,
                );
                None
            }
        }
    }

    fn regex(&mut self, element: Element<'_>, attribute: &str, pattern: &str) -> Option<Extractor> {
        if self.is_regex(element, Some(attribute), pattern) {
            self.findings.supported(element, "a capture: group 1, or empty");
            return Some(Extractor::Regex(pattern.to_owned()));
        }
        None
    }

    /// Returns whether a pattern is supported; if not, adds a remark.
    pub(super) fn is_regex(&mut self, element: Element<'_>, attribute: Option<&str>, pattern: &str) -> bool {
        let is_regex = Regex::new(pattern).is_ok();
        if !is_regex {
            let what_to_do = "write it without look-around and back references, with balanced brackets";
            self.findings.unsupported(element, attribute, format!("the pattern {pattern}"), what_to_do);
        }
        is_regex
    }

    fn json_path(&mut self, element: Element<'_>, text: &str) -> Option<Extractor> {
        let Some(path) = jsonpath::standard(text) else {
            let what_to_do = "write a path such as `a.b[3].c`, `a[*].b` or `a[?k=v].b`";
            self.findings.unsupported(element, Some("jsonpath"), format!("the path {text}"), what_to_do);
            return None;
        };
        if path.contains("[*]") || path.contains("[?") {
            let why = "a variable has one value: of several matches the first";
            self.findings.approximated(element, Some("jsonpath"), format!("a capture: {path}"), why);
        } else {
            self.findings.supported(element, format!("a capture: {path}"));
        }
        Some(Extractor::JsonPath(path))
    }
}
