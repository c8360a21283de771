//! `request`: sends something, waits for the answer, and examines it.

use super::document::Element;
use super::sessions::SessionReader;
use super::vocabulary::OTHER_PROTOCOLS;
use crate::scenario::source::Step;

/// The label of a request without a tag, as in Tsung's reports.
const LABEL: &str = "request";

/// The expected answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// None is waited for.
    Nothing,
    /// The WebSocket handshake.
    Handshake,
    /// A message.
    Message,
    /// An HTTP response.
    Response,
}

/// The parts of a request in which variables are substituted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Substitution {
    /// Paths, headers and everything else besides the body.
    pub(super) head: bool,
    /// The message or body.
    pub(super) body: bool,
}

impl SessionReader<'_, '_> {
    pub(super) fn request(&mut self, element: Element<'_>) -> Vec<Step> {
        let substitution = match self.findings.word(element, "subst", &["true", "false", "all_except_body"]) {
            Some("true") => Substitution { head: true, body: true },
            Some("all_except_body") => Substitution { head: true, body: false },
            Some(_) | None => Substitution::default(),
        };
        let label = element.attribute("tag").unwrap_or(LABEL);
        let protocol = element.children().find(|child| !["match", "dyn_variable"].contains(&child.name()));
        let Some(protocol) = protocol else {
            self.findings.problem(element, None, "there is nothing to be sent in this request", None);
            return Vec::new();
        };
        let (mut steps, answer) = match protocol.name() {
            "websocket" => self.websocket(protocol, substitution, label),
            "http" => self.http(protocol, substitution, label),
            other => {
                if OTHER_PROTOCOLS.contains(&other) {
                    let what_to_do = "what is played is websocket and http";
                    self.findings.unsupported(protocol, None, format!("a request of {other}"), what_to_do);
                }
                (Vec::new(), Answer::Nothing)
            }
        };
        let text = match answer {
            Answer::Nothing => "nothing is waited for".to_owned(),
            Answer::Handshake => "its time is that of the connect".to_owned(),
            Answer::Message | Answer::Response => format!("its time is reported as `{label}`"),
        };
        self.findings.supported(element, text);
        steps.extend(self.captures(element, answer));
        self.matches(element, answer, steps)
    }

    /// Returns the header fields of an element, without those that the step sets itself.
    pub(super) fn headers(
        &mut self,
        element: Element<'_>,
        subst: bool,
        written_by_the_step: &[&str],
    ) -> Vec<(String, String)> {
        let mut headers: Vec<(String, String)> = Vec::new();
        for child in element.children().filter(|child| child.name() == "http_header") {
            let Some(name) = self.findings.required(child, "name") else { continue };
            if written_by_the_step.iter().any(|written| written.eq_ignore_ascii_case(name)) {
                let what_to_do = "the step writes this line itself";
                self.findings.unsupported(child, None, format!("header {name}"), what_to_do);
                continue;
            }
            if child.attribute("encoding").is_some() {
                let what_to_do = "write the value in its encoding";
                self.findings.unsupported(child, Some("encoding"), format!("encoding of {name}"), what_to_do);
            }
            let value = child.attribute("value").unwrap_or_default();
            let value = self.template(child, Some("value"), value, subst);
            if headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                let what_to_do = "put the values into one line, separated by commas";
                self.findings.unsupported(child, None, format!("a second header {name}"), what_to_do);
                continue;
            }
            self.findings.supported(child, format!("header {name}"));
            headers.push((name.to_owned(), value));
        }
        headers
    }
}
