//! The contents of a session, one element at a time.

use super::document::Element;
use super::sessions::{PLAYED, SessionReader};
use crate::scenario::source::{Action, Expression, Named, Scope, Step, Transaction};

impl SessionReader<'_, '_> {
    /// Reads all steps of the session.
    pub(super) fn read(mut self) -> Vec<Step> {
        let problems = self.findings.problems.len();
        let mut steps = self.steps(self.session);
        let unset = self.variables.read_and_never_written();
        if !unset.is_empty() {
            let names: Vec<String> = unset.iter().map(|(tsung, _)| format!("`{tsung}`")).collect();
            let text = format!("nothing gives {} a value", names.join(", "));
            let why = "its text is `undefined`, as in Tsung";
            self.findings.approximated(self.session, None, text, why);
            let undefined =
                unset.into_iter().map(|(_, name)| (name, Expression::Text("undefined".to_owned())));
            steps.insert(0, Action::Set(undefined.collect::<Named<_>>()).into());
        }
        if steps.is_empty() && self.findings.problems.len() == problems {
            let message = "there is nothing in this session that can be played";
            self.findings.problem(self.session, None, message, None);
        }
        steps
    }

    /// Reads the steps inside an element.
    pub(super) fn steps(&mut self, parent: Element<'_>) -> Vec<Step> {
        let mut steps = Vec::new();
        for element in parent.children() {
            match element.name() {
                "request" => steps.extend(self.request(element)),
                "thinktime" => steps.extend(self.thinktime(element).map(Step::from)),
                "transaction" => steps.extend(self.transaction(element)),
                "setdynvars" => steps.extend(self.set_variables(element)),
                "for" => steps.extend(self.count_loop(element)),
                "foreach" => steps.extend(self.each_loop(element)),
                "repeat" => steps.extend(self.repeat_loop(element)),
                "if" => steps.extend(self.branch(element)),
                "change_type" => self.change_type(element),
                "set_option" => self.set_option(element),
                "interaction" => self.interaction(element),
                "abort" => steps.extend(self.abort(element)),
                // `while` and `until` belong to the enclosing loop; anything else has been reported.
                _ => {}
            }
        }
        steps
    }

    /// Reads the steps inside a loop or a branch.
    pub(super) fn nested_steps(&mut self, parent: Element<'_>) -> Vec<Step> {
        self.nesting += 1;
        let steps = self.steps(parent);
        self.nesting -= 1;
        steps
    }

    fn transaction(&mut self, element: Element<'_>) -> Option<Step> {
        let name = self.findings.required(element, "name");
        let steps = self.steps(element);
        let name = name?;
        self.findings.supported(element, format!("transaction {name}"));
        (!steps.is_empty()).then(|| Action::Transaction(Transaction { name: name.to_owned(), steps }).into())
    }

    /// A session may switch between WebSocket and HTTP freely, but stays with its server.
    fn change_type(&mut self, element: Element<'_>) {
        let kind = self.findings.required(element, "new_type");
        let host = self.findings.required(element, "host");
        let port = self.findings.required(element, "port");
        let stays = match (self.servers, host, port) {
            ([server], Some(host), Some(port)) => {
                server.host.trim_matches(['[', ']']) == host && server.port.to_string() == port
            }
            _ => false,
        };
        if stays && kind.is_some_and(|kind| PLAYED.contains(&kind)) {
            self.findings.supported(element, "nothing: WebSocket and HTTP go together in a session");
        } else {
            let what_to_do = "make it a session of its own, with the server among the targets";
            self.findings.unsupported(element, None, "going to another server or protocol", what_to_do);
        }
    }

    fn set_option(&mut self, element: Element<'_>) {
        let name = self.findings.required(element, "name").unwrap_or_default();
        let what_to_do = "what a session may set is in its steps, such as the headers of a request";
        self.findings.unsupported(element, None, format!("option {name} of a session"), what_to_do);
        for child in element.children() {
            self.findings.unsupported(child, None, "see `set_option`", what_to_do);
        }
    }

    fn interaction(&mut self, element: Element<'_>) {
        self.findings.required(element, "id");
        self.findings.word(element, "action", &["send", "receive"]);
        let what_to_do = "let the users wait for each other at a `barrier`, or for a message from the server";
        self.findings.unsupported(element, None, "a word from session to session", what_to_do);
    }

    fn abort(&mut self, element: Element<'_>) -> Option<Step> {
        let scope = match element.attribute("type") {
            None => Scope::Session,
            Some(_) => match self.findings.word(element, "type", &["session", "all"])? {
                "all" => Scope::Run,
                _ => Scope::Session,
            },
        };
        self.findings.supported(element, "abort");
        Some(Action::Abort(scope).into())
    }
}
