//! `match`: what to do when a response is, or is not, as expected.

use super::document::Element;
use super::requests::Answer;
use super::sessions::SessionReader;
use crate::draw::Distribution;
use crate::scenario::source::{
    Action, Condition, Extractor, If, Loop, Numbers, Operator, Pause, Scope, Step,
};

const ACTIONS: &[&str] = &["continue", "log", "dump", "abort", "abort_test", "restart", "loop"];
/// The variable that holds the matched text.
const FOUND: &str = "match result";

/// The condition and the consequence of a `match`.
struct Match<'d> {
    element: Element<'d>,
    action: &'d str,
    /// Searches for the pattern.
    look: Step,
    /// The condition: the pattern was found, or was not found.
    is_so: Condition,
}

impl SessionReader<'_, '_> {
    /// Returns the steps of a request, followed by the actions of its matches.
    pub(super) fn matches(&mut self, request: Element<'_>, answer: Answer, steps: Vec<Step>) -> Vec<Step> {
        let mut steps = steps;
        for element in request.children().filter(|child| child.name() == "match") {
            let Some(wanted) = self.read_match(element, answer) else { continue };
            match wanted.action {
                "abort" => steps.extend(self.end(wanted, Scope::Session)),
                "abort_test" => steps.extend(self.end(wanted, Scope::Run)),
                "restart" => steps.extend(self.end(wanted, Scope::Session)),
                _ => steps = self.ask_again(wanted, steps),
            }
        }
        steps
    }

    /// Returns `None` if the match does nothing.
    fn read_match<'d>(&mut self, element: Element<'d>, answer: Answer) -> Option<Match<'d>> {
        let action = match element.attribute("do") {
            None => "continue",
            Some(_) => self.findings.word(element, "do", ACTIONS)?,
        };
        let on_match = self.findings.word(element, "when", &["match", "nomatch"]) != Some("nomatch");
        let pattern = element.text();
        if !self.is_playable_match(element, pattern, answer) {
            return None;
        }
        if matches!(action, "continue" | "log" | "dump") {
            let what_to_do =
                "matches are not counted; `wait` with `regex`, or a capture and `if`, act on them";
            self.findings.unsupported(element, None, format!("{action} on a match"), what_to_do);
            return None;
        }
        self.remark_on_match(element, action, answer);
        if element.attribute("name").is_some() {
            let why = "matches are not counted by name";
            self.findings.approximated(element, Some("name"), "not used", why);
        }
        let found = self.variables.write(FOUND);
        let left = self.variables.read(FOUND);
        // A group around everything captures the whole match, whatever groups the pattern has.
        let extractor = Extractor::Regex(format!("({pattern})"));
        let look = Action::Capture([(found, extractor)].into_iter().collect()).into();
        let operator = if on_match { Operator::NotEqual } else { Operator::Equal };
        let is_so = Condition { left, operator, right: String::new() };
        Some(Match { element, action, look, is_so })
    }

    fn remark_on_match(&mut self, element: Element<'_>, action: &str, answer: Answer) {
        let text = format!("{action} on a match");
        let sees_headers = answer == Answer::Response && element.attribute("skip_headers") != Some("http");
        let body_only = "only the body is searched, not the status line and the headers";
        match (action, sees_headers) {
            ("restart", _) => {
                let why = "the session ends as failed instead of starting again";
                self.findings.approximated(element, Some("do"), text, why);
            }
            (_, false) => self.findings.supported(element, text),
            (_, true) => {}
        }
        if sees_headers {
            self.findings.approximated(element, None, format!("{action} on a match"), body_only);
        }
    }

    fn is_playable_match(&mut self, element: Element<'_>, pattern: &str, answer: Answer) -> bool {
        self.findings.word(element, "skip_headers", &["no", "http"]);
        if matches!(answer, Answer::Nothing | Answer::Handshake) {
            let what_to_do = "match a message that is waited for, or an HTTP response";
            self.findings.unsupported(element, None, "a match of a request without an answer", what_to_do);
            return false;
        }
        if element.attribute("apply_to_content").is_some() {
            let what_to_do = "Erlang is not run: match the answer as it is";
            self.findings.unsupported(element, Some("apply_to_content"), "a match", what_to_do);
            return false;
        }
        if self.findings.flag(element, "subst") && pattern.contains("%%") {
            let what_to_do = "compare captured values by `if`";
            self.findings.unsupported(element, Some("subst"), "a pattern with variables", what_to_do);
            return false;
        }
        self.is_regex(element, None, pattern)
    }

    fn end(&mut self, wanted: Match<'_>, scope: Scope) -> [Step; 2] {
        let branch =
            If { condition: wanted.is_so, then: vec![Action::Abort(scope).into()], otherwise: Vec::new() };
        [wanted.look, Action::If(branch).into()]
    }

    /// Repeats the request while the condition holds; in the end the session fails.
    fn ask_again(&mut self, wanted: Match<'_>, steps: Vec<Step>) -> Vec<Step> {
        let element = wanted.element;
        let repeats = self.findings.count(element, "max_loop").unwrap_or(20);
        let pause = self.findings.number(element, "sleep_loop").unwrap_or(5.0);
        self.findings.time(element, "sleep_loop", pause);
        if self.findings.whole(element, "loop_back").unwrap_or(0) > 0 {
            let what_to_do = "put the requests into a `repeat`";
            self.findings.unsupported(
                element,
                Some("loop_back"),
                "going back to earlier requests",
                what_to_do,
            );
        }
        let opposite = Condition { operator: wanted.is_so.operator.opposite(), ..wanted.is_so.clone() };
        let sleep = If {
            condition: wanted.is_so.clone(),
            then: vec![Action::Think(Pause(Distribution::Constant(pause))).into()],
            otherwise: Vec::new(),
        };
        let mut body = steps;
        body.push(wanted.look);
        body.push(Action::If(sleep).into());
        let again = Loop {
            times: Some(Numbers(Distribution::Constant(repeats as f64 + 1.0))),
            until: Some(opposite),
            steps: body,
            ..Loop::default()
        };
        let give_up = If {
            condition: wanted.is_so,
            then: vec![Action::Abort(Scope::Session).into()],
            otherwise: Vec::new(),
        };
        vec![Action::Loop(again).into(), Action::If(give_up).into()]
    }
}
