//! `websocket`: connect, message, close.

use super::document::Element;
use super::requests::{Answer, Substitution};
use super::sessions::SessionReader;
use crate::scenario::source::{Action, Close, Connect, Many, ReadRate, Send, Step, Wait};

/// Header fields that the handshake sets itself.
const HANDSHAKE_HEADERS: &[&str] = &[
    "host",
    "upgrade",
    "connection",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
];

impl SessionReader<'_, '_> {
    pub(super) fn websocket(
        &mut self,
        element: Element<'_>,
        substitution: Substitution,
        label: &str,
    ) -> (Vec<Step>, Answer) {
        self.findings.required(element, "type");
        match self.findings.word(element, "type", &["connect", "message", "close"]) {
            Some("connect") => (self.connect(element, substitution.head), Answer::Handshake),
            Some("message") => self.message(element, substitution.body, label),
            Some(_) => {
                self.findings.supported(element, "close");
                (vec![Action::Close(Close::default()).into()], Answer::Nothing)
            }
            None => (Vec::new(), Answer::Nothing),
        }
    }

    fn connect(&mut self, element: Element<'_>, subst: bool) -> Vec<Step> {
        let path = element.attribute("path").unwrap_or("/");
        self.findings.supported(element, format!("connect {path}"));
        let path = self.path(element, "path", path, subst);
        if self.findings.word(element, "ack", &["parse", "no_ack"]) == Some("no_ack") {
            let why = "as in Tsung, which waits for the server's answer to a connect in any case";
            self.findings.approximated(element, Some("ack"), "waits for the handshake", why);
        }
        let mut origin = element.attribute("origin").filter(|origin| !origin.is_empty()).map(str::to_owned);
        origin = origin.map(|origin| self.template(element, Some("origin"), &origin, subst));
        let mut subprotocols = subprotocols(element.attribute("subprotocols").unwrap_or_default());
        let mut headers = Vec::new();
        for (name, value) in self.headers(element, subst, HANDSHAKE_HEADERS) {
            match name.to_ascii_lowercase().as_str() {
                "origin" => origin = Some(value),
                "sec-websocket-protocol" => subprotocols.extend(self::subprotocols(&value)),
                _ => headers.push((name, value)),
            }
        }
        let mut connect = Connect {
            path,
            origin,
            subprotocols: Many(subprotocols),
            headers: headers.into_iter().collect(),
            ..Connect::default()
        };
        if let Some(timeout) = self.options.connect_timeout {
            connect.connect_timeout = timeout;
        }
        let mut steps = vec![Step::from(Action::Connect(connect))];
        if let Some(kilobytes) = self.options.reading_kilobytes {
            let bytes = kilobytes.saturating_mul(1024);
            steps.push(Action::SlowReader(ReadRate(Some(bytes))).into());
        }
        steps
    }

    fn message(&mut self, element: Element<'_>, subst: bool, label: &str) -> (Vec<Step>, Answer) {
        let text = self.template(element, None, element.text(), subst);
        let is_text = self.findings.word(element, "frame", &["binary", "text"]) == Some("text");
        let waits = self.findings.word(element, "ack", &["parse", "no_ack"]) != Some("no_ack");
        let frame = if is_text { "text" } else { "binary" };
        let then = if waits { ", then wait for a message" } else { "" };
        self.findings.supported(element, format!("send a {frame} message{then}"));
        let send = if is_text {
            Send { text: Some(text), ..Send::default() }
        } else {
            Send { binary: Some(text), ..Send::default() }
        };
        let mut steps = vec![Step::from(Action::Send(send))];
        if !waits {
            return (steps, Answer::Nothing);
        }
        let wait = Wait { timeout: self.options.idle_timeout, ..Wait::default() };
        steps.push(Step { label: Some(label.to_owned()), action: Action::Wait(wait) });
        (steps, Answer::Message)
    }

    /// Returns a request target, which must be a path.
    pub(super) fn path(&mut self, element: Element<'_>, attribute: &str, path: &str, subst: bool) -> String {
        let template = self.template(element, Some(attribute), path, subst);
        if !template.starts_with('/') && !template.starts_with("{{") {
            let message = format!("the path `{path}` does not begin with `/`");
            self.findings.problem(element, Some(attribute), message, None);
        } else if path.contains(|c: char| c.is_whitespace() || c.is_control()) {
            let message = "a path has no blanks and control characters";
            self.findings.problem(
                element,
                Some(attribute),
                message,
                Some("write %20 for a blank".to_owned()),
            );
        }
        template
    }
}

fn subprotocols(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
