//! Derives a diagnosis from facts and requirements. Pure: the same facts always give the same diagnosis.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds::{Bound, Resource, bounds, clients_per_table};
use super::checks::{Check, State, machine_checks};
use super::facts::Facts;
use super::scene::{Requirements, Scene};
use super::settings::Setting;
use super::target_checks::target_checks;

/// What a machine can do for requirements.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Diagnosis {
    /// Clients that are required.
    pub clients: u64,
    /// Clients that the machine can hold: the lowest firm bound. `None` when no bound is known.
    pub holds: Option<u64>,
    /// Threads that the clients need by the descriptor limit; more than one means tables of their own.
    pub threads: Option<u64>,
    /// By resource, lowest first.
    pub bounds: Vec<Bound>,
    /// Facts that were judged, in reading order: the machine's, then the targets'.
    pub checks: Vec<Check>,
}

/// Judges what a machine can do for requirements.
#[must_use]
pub fn diagnose(facts: &Facts, requirements: &Requirements) -> Diagnosis {
    let scene = Scene { facts, requirements };
    let bounds = bounds(&scene);
    let mut checks = machine_checks(&scene);
    checks.extend(target_checks(&scene));
    Diagnosis {
        clients: requirements.clients,
        holds: bounds.iter().filter(|bound| bound.firm).map(|bound| bound.clients).min(),
        threads: clients_per_table(&scene).map(|each| requirements.clients.div_ceil(each.max(1)).max(1)),
        bounds,
        checks,
    }
}

impl Diagnosis {
    /// Returns the resource that runs out first, if it does so before the requirements are met.
    #[must_use]
    pub fn obstacle(&self) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.firm && bound.clients < self.clients)
    }

    /// Returns the most severe state among bounds and checks.
    #[must_use]
    pub fn state(&self) -> State {
        let bounds = self.bounds.iter().map(|bound| self.state_of(bound));
        bounds.chain(self.checks.iter().map(|check| check.state)).max().unwrap_or(State::Ok)
    }

    /// Returns how a bound bears on the requirements.
    #[must_use]
    pub fn state_of(&self, bound: &Bound) -> State {
        match (bound.clients < self.clients, bound.firm) {
            (false, _) => State::Ok,
            (true, true) => State::Stop,
            (true, false) => State::Caution,
        }
    }

    /// Returns the configuration lines that make room for the requirements, without duplicates, ordered by the place where they
    /// are kept.
    #[must_use]
    pub fn settings(&self) -> BTreeSet<&Setting> {
        let of_bounds = self.bounds.iter().flat_map(|bound| &bound.settings);
        of_bounds.chain(self.checks.iter().flat_map(|check| &check.settings)).collect()
    }

    /// Returns the resource that sets the machine's limit.
    #[must_use]
    pub fn limited_by(&self) -> Option<Resource> {
        self.bounds.iter().find(|bound| bound.firm).map(|bound| bound.resource)
    }

    /// Returns what is in the way, most severe first, each with what changes it.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.findings().into_iter().map(|(_, text)| text).collect()
    }

    /// Returns the same with the severity of each: [`State::Caution`] or [`State::Stop`].
    #[must_use]
    pub fn findings(&self) -> Vec<(State, String)> {
        let bounds = self.bounds.iter().map(|bound| {
            let label = bound.resource.label();
            let text = format!(
                "{label}: enough for {} of {} clients ({})",
                bound.clients, self.clients, bound.basis
            );
            (self.state_of(bound), with_remedy(text, bound.remedy.as_deref()))
        });
        let checks = self.checks.iter().map(|check| {
            (check.state, with_remedy(format!("{}: {}", check.subject, check.text), check.remedy.as_deref()))
        });
        let mut findings: Vec<(State, String)> =
            bounds.chain(checks).filter(|(state, _)| *state >= State::Caution).collect();
        findings.sort_by_key(|(state, _)| Reverse(*state));
        findings
    }
}

fn with_remedy(text: String, remedy: Option<&str>) -> String {
    match remedy {
        Some(remedy) => format!("{text}; to fix it: {remedy}"),
        None => text,
    }
}

#[cfg(test)]
mod tests;
