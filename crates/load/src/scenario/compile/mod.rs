//! Compiles a scenario from its written form to its plan: resolves names to indexes, parses texts into templates, and
//! reports inconsistencies.
//!
//! One pass finds all problems: an invalid value is reported and replaced with a harmless one; a plan is returned only
//! if nothing was reported.

mod addresses;
mod arrivals;
mod feeders;
mod json;
mod logic;
mod messages;
mod names;
mod requests;
mod steps;
mod targets;
mod templates;
mod thresholds;

use std::path::Path;

use super::plan::{Limits, Plan};
use super::problem::{Diagnostic, Origin, ScenarioErrors, suggestion};
use super::source::Scenario;
use super::yaml::Segment;
use names::Names;
pub use templates::literal;

/// What the compiler needs besides the scenario itself.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Used in messages, and as the name of a scenario that has none; may be empty.
    pub file_name: &'a str,
    /// The directory that file names in the scenario are relative to.
    pub base_dir: &'a Path,
}

impl Scenario {
    /// Compiles the scenario to a plan and reads its feeders.
    ///
    /// # Errors
    /// Every problem found, by path; positions are known only if the scenario was read from text ([`super::parse`]).
    pub fn compile(&self, context: &Context<'_>) -> Result<Plan, ScenarioErrors> {
        let origin = Origin { file: context.file_name, text: None };
        compile(self, context).map_err(|complaints| origin.errors(complaints))
    }
}

/// Compiles the scenario; complaints carry paths, without positions.
pub(super) fn compile(scenario: &Scenario, context: &Context<'_>) -> Result<Plan, Vec<Diagnostic>> {
    let mut compiler =
        Compiler { scenario, context, complaints: Vec::new(), path: Vec::new(), names: Names::default() };
    let plan = compiler.plan();
    if compiler.complaints.is_empty() { Ok(plan) } else { Err(compiler.complaints) }
}

struct Compiler<'a> {
    scenario: &'a Scenario,
    context: &'a Context<'a>,
    complaints: Vec<Diagnostic>,
    /// The path of the value being compiled.
    path: Vec<Segment>,
    names: Names,
}

impl Compiler<'_> {
    fn plan(&mut self) -> Plan {
        let scenario = self.scenario;
        let targets = self.targets();
        let sources = self.sources(&targets);
        let tls = self.tls();
        self.feeders();
        let sessions = self.sessions(&targets);
        let load = self.load();
        let thresholds = self.thresholds();
        let limits = self.limits();
        let names = std::mem::take(&mut self.names);
        Plan {
            name: self.name(),
            seed: scenario.seed,
            targets,
            sources,
            tls,
            load,
            sessions,
            variables: names.variables.into_names(),
            labels: names.labels.into_names(),
            barriers: names.barriers.into_names(),
            feeders: names.feeders,
            sequences: u16::try_from(names.sequences.len()).unwrap_or(u16::MAX),
            thresholds,
            drain: scenario.drain.0,
            event_log: scenario.event_log,
            limits,
        }
    }

    fn name(&self) -> String {
        let file_stem =
            || Path::new(self.context.file_name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        match self.scenario.name.as_str() {
            "" => file_stem().unwrap_or_else(|| "scenario".to_owned()),
            name => name.to_owned(),
        }
    }

    fn limits(&mut self) -> Limits {
        let mut limits = Limits::default();
        let written = self.scenario.limits;
        self.within("limits", |compiler| {
            for (key, size, limit) in [
                ("message", written.message, &mut limits.message_bytes_max),
                ("body", written.body, &mut limits.body_bytes_max),
            ] {
                match size.map(|size| u32::try_from(size.0)) {
                    None => {}
                    Some(Ok(bytes)) => *limit = bytes,
                    Some(Err(_)) => compiler.complain_at(key, "must be at most 4GiB - 1"),
                }
            }
        });
        limits
    }

    /// Runs `action` with `key` appended to the path.
    fn within<T>(&mut self, key: &str, action: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Segment::Key(key.to_owned()));
        let result = action(self);
        self.path.pop();
        result
    }

    /// Runs `action` with `index` appended to the path.
    fn within_item<T>(&mut self, index: usize, action: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(Segment::Index(index));
        let result = action(self);
        self.path.pop();
        result
    }

    fn complain(&mut self, message: impl Into<String>) {
        self.complain_with(message, None);
    }

    fn complain_with(&mut self, message: impl Into<String>, help: Option<String>) {
        let complaint = Diagnostic { path: self.path.clone(), at_key: false, message: message.into(), help };
        self.complaints.push(complaint);
    }

    fn complain_at(&mut self, key: &str, message: impl Into<String>) {
        self.within(key, |compiler| compiler.complain(message));
    }

    /// Reports an unknown name.
    fn complain_unknown<'n>(&mut self, what: &str, name: &str, known: impl Iterator<Item = &'n str> + Clone) {
        let message = format!("unknown {what} `{name}`");
        let help = suggestion(name, known);
        self.complain_with(message, help);
    }

    /// Reports an invalid weight.
    fn check_weight(&mut self, weight: f64) {
        if !(weight.is_finite() && weight >= 0.0) {
            self.complain_at("weight", "a weight must be 0 or more");
        }
    }

    /// Reports weights whose sum is not above 0.
    fn check_weights(&mut self, weights: impl Iterator<Item = f64>) {
        let total: f64 = weights.sum();
        if total.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            self.complain("all weights are 0; at least one must be above 0");
        }
    }
}
