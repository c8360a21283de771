//! Compiles sessions and their steps.

use std::collections::BTreeSet;

use super::super::plan::{Action, Expression, FeederId, LabelId, Session, Step, Target};
use super::super::source::{self, Scope};
use super::Compiler;
use super::feeders::set_columns;
use super::logic::unlabelled;
use super::names::Interner;

impl Compiler<'_> {
    pub(super) fn sessions(&mut self, targets: &[Target]) -> Vec<Session> {
        let scenario = self.scenario;
        if scenario.sessions.is_empty() {
            let help = "say what users do: `sessions: [{ name: chat, steps: [connect: /ws, think: 5s] }]`"
                .to_owned();
            self.complain_with("there are no `sessions`", Some(help));
            return Vec::new();
        }
        let mut sessions: Vec<Session> = self.within("sessions", |compiler| {
            compiler.check_weights(scenario.sessions.iter().map(|session| session.weight));
            let sessions = scenario.sessions.iter().enumerate();
            sessions
                .map(|(index, session)| {
                    compiler.within_item(index, |compiler| compiler.session(index, session, targets))
                })
                .collect()
        });
        for session in &mut sessions {
            set_columns(&mut session.steps, &self.names);
        }
        self.check_counts();
        sessions
    }

    fn session(&mut self, index: usize, session: &source::Session, targets: &[Target]) -> Session {
        if self.scenario.sessions[..index].iter().any(|before| before.name == session.name) {
            self.complain_at("name", format!("there is a session `{}` already", session.name));
        }
        self.check_weight(session.weight);
        self.names.known = BTreeSet::new();
        collect_known(&session.steps, &mut self.names.known);
        self.names.feeders_used = BTreeSet::new();
        let mut steps = self.steps("steps", &session.steps, targets);
        if session.steps.is_empty() {
            self.complain_at("steps", "a session without steps is over before it begins");
        }
        // Each iteration of a session takes one row of every feeder it uses, at its start.
        let feeders = std::mem::take(&mut self.names.feeders_used);
        steps.splice(0..0, feeders.into_iter().map(|feeder| unlabelled(self.feed(feeder))));
        Session {
            name: session.name.clone(),
            weight: session.weight,
            steps,
            label: self.names.label(&session.name),
        }
    }

    pub(super) fn steps(&mut self, key: &str, steps: &[source::Step], targets: &[Target]) -> Vec<Step> {
        self.within(key, |compiler| {
            let mut compiled = Vec::with_capacity(steps.len());
            for (index, step) in steps.iter().enumerate() {
                compiler.within_item(index, |compiler| {
                    let label = step.label.as_ref().map(|label| compiler.names.label(label));
                    for action in compiler.action(&step.action, targets) {
                        compiled.push(Step { label: compiler.label_of(&step.action, label), action });
                    }
                });
            }
            compiled
        })
    }

    fn label_of(&mut self, action: &source::Action, label: Option<LabelId>) -> Option<LabelId> {
        match (action, label) {
            (source::Action::Transaction(transaction), None) => Some(self.names.label(&transaction.name)),
            (_, label) => label,
        }
    }

    /// Compiles what a step does: one action, or one for each variable or feeder.
    fn action(&mut self, action: &source::Action, targets: &[Target]) -> Vec<Action> {
        let action = match action {
            source::Action::Connect(connect) => {
                Action::Connect(self.within("connect", |compiler| compiler.connect(connect)))
            }
            source::Action::Join(join) => Action::Join(self.within("join", |compiler| compiler.join(join))),
            source::Action::Leave(leave) => {
                Action::Leave(self.within("leave", |compiler| compiler.template_at("topic", &leave.topic)))
            }
            source::Action::Push(push) => Action::Push(self.within("push", |compiler| compiler.push(push))),
            source::Action::Send(send) => Action::Send(self.within("send", |compiler| compiler.send(send))),
            source::Action::Wait(wait) => Action::Wait(self.within("wait", |compiler| compiler.wait(wait))),
            source::Action::Think(pause) => Action::Think(pause.0),
            source::Action::Pace(pause) => Action::Pace(pause.0),
            source::Action::Barrier(barrier) => self.within("barrier", |compiler| compiler.barrier(barrier)),
            source::Action::Loop(written) => {
                Action::Loop(self.within("loop", |compiler| compiler.repeat(written, targets)))
            }
            source::Action::If(written) => self.within("if", |compiler| Action::If {
                condition: compiler.within("condition", |compiler| compiler.condition(&written.condition)),
                then: compiler.steps("then", &written.then, targets),
                otherwise: compiler.steps("else", &written.otherwise, targets),
            }),
            source::Action::Choose(branches) => {
                self.within("choose", |compiler| compiler.choose(branches, targets))
            }
            source::Action::Set(variables) => return self.within("set", |compiler| compiler.set(variables)),
            source::Action::Capture(variables) => {
                return self.within("capture", |compiler| compiler.capture(variables));
            }
            source::Action::Feed(feeders) => {
                return self.within("feed", |compiler| compiler.feed_all(&feeders.0));
            }
            source::Action::Http(http) => {
                Action::Http(self.within("http", |compiler| compiler.http(http, targets)))
            }
            source::Action::Transaction(transaction) => self.within("transaction", |compiler| {
                Action::Transaction(compiler.steps("steps", &transaction.steps, targets))
            }),
            source::Action::Close(close) => self.within("close", |compiler| compiler.close(close)),
            source::Action::Cut(source::Nothing {}) => Action::Cut,
            source::Action::HalfOpen(time) => Action::HalfOpen(time.0),
            source::Action::SlowReader(rate) => Action::SlowReader(rate.0),
            source::Action::Stay(source::Nothing {}) => Action::Stay,
            source::Action::Abort(scope) => Action::Abort(*scope == Scope::Run),
        };
        vec![action]
    }

    fn feed_all(&mut self, names: &[String]) -> Vec<Action> {
        let mut actions = Vec::new();
        for name in names {
            match self.feeder_named(name) {
                Some(feeder) => actions.push(self.feed(feeder)),
                None => {
                    let known: Vec<String> =
                        self.names.feeders.iter().map(|feeder| feeder.name.clone()).collect();
                    self.complain_unknown("feeder", name, known.iter().map(String::as_str));
                }
            }
        }
        actions
    }

    /// Advances to the feeder's next row, and stores the row's number in the variable named after the feeder.
    fn feed(&mut self, feeder: u16) -> Action {
        let name =
            self.names.feeders.get(usize::from(feeder)).map(|feeder| feeder.name.clone()).unwrap_or_default();
        Action::Set(self.names.variable(&name), Expression::FeederRow(FeederId(feeder)))
    }

    fn feeder_named(&self, name: &str) -> Option<u16> {
        let index = self.names.feeders.iter().position(|feeder| feeder.name == name)?;
        u16::try_from(index).ok()
    }

    fn check_counts(&mut self) {
        let counts = [
            ("variables", self.names.variables.len()),
            ("labels", self.names.labels.len()),
            ("barriers", self.names.barriers.len()),
            ("sequences", self.names.sequences.len()),
        ];
        for (what, count) in counts {
            if count > Interner::MAX {
                self.complain_at("sessions", format!("{count} {what}: at most {}", Interner::MAX));
            }
        }
    }
}

/// Collects the names of the variables that these steps assign.
fn collect_known(steps: &[source::Step], known: &mut BTreeSet<String>) {
    for step in steps {
        match &step.action {
            source::Action::Set(variables) => known.extend(variables.0.iter().map(|(name, _)| name.clone())),
            source::Action::Capture(variables) => {
                known.extend(variables.0.iter().map(|(name, _)| name.clone()))
            }
            source::Action::Loop(inner) => {
                known.extend(inner.counter.clone());
                collect_known(&inner.steps, known);
            }
            source::Action::If(inner) => {
                collect_known(&inner.then, known);
                collect_known(&inner.otherwise, known);
            }
            source::Action::Choose(branches) => {
                branches.iter().for_each(|branch| collect_known(&branch.steps, known));
            }
            source::Action::Transaction(inner) => collect_known(&inner.steps, known),
            source::Action::Feed(feeders) => known.extend(feeders.0.iter().cloned()),
            source::Action::Connect(_)
            | source::Action::Join(_)
            | source::Action::Leave(_)
            | source::Action::Push(_)
            | source::Action::Send(_)
            | source::Action::Wait(_)
            | source::Action::Think(_)
            | source::Action::Pace(_)
            | source::Action::Barrier(_)
            | source::Action::Http(_)
            | source::Action::Close(_)
            | source::Action::Cut(_)
            | source::Action::HalfOpen(_)
            | source::Action::SlowReader(_)
            | source::Action::Stay(_)
            | source::Action::Abort(_) => {}
        }
    }
}
