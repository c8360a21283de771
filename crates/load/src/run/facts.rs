//! Facts about a run other than what its users observed.

use std::time::SystemTime;

use jiff::Timestamp;

use super::error::RunError;
use super::findings::Found;
use super::job::{Job, Settings};
use super::local::Played;
use crate::doctor::{self, TargetAddress};
use crate::floor;
use crate::statistics::{MachineFacts, RunFacts};

/// The number of clients the doctor checks for where the plan does not bound the number of users.
const UNKNOWN_CROWD: u64 = 1_000;

/// Describes this machine, with its floor if requested, and the doctor's findings on it.
pub(super) fn machine(job: &Job, settings: &Settings) -> Result<(MachineFacts, Found), RunError> {
    let mut targets: Vec<TargetAddress> = job.plan.targets.iter().map(TargetAddress::from).collect();
    if let Some(first) = targets.first_mut() {
        first.pid = settings.pids.first().copied();
        first.metrics = settings.scrapes.first().cloned();
    }
    let tls = doctor::trust(&job.plan)?;
    let clients = job.crowd().and_then(|crowd| crowd.at_once).unwrap_or(UNKNOWN_CROWD);
    let examination = doctor::examine(clients, &targets, &job.plan.sources, tls.as_ref());
    let mut facts = MachineFacts::from(&examination);
    if let Some(pairs) = settings.floor {
        facts.facts.extend(floor::facts(&floor::report(pairs as usize)?));
    }
    let found = Found { machine: facts.name.clone(), findings: examination.diagnosis.findings() };
    Ok((facts, found))
}

/// The facts known when the run begins.
pub(super) fn beginning(job: &Job, started: SystemTime, machines: Vec<MachineFacts>) -> RunFacts {
    RunFacts {
        format: RunFacts::FORMAT,
        scenario: job.plan.name.clone(),
        seed: job.plan.seed,
        started: Timestamp::try_from(started).map(|time| format!("{time:.3}")).unwrap_or_default(),
        labels: job.plan.labels.clone(),
        thresholds: job.plan.thresholds.clone(),
        machines,
        ..RunFacts::default()
    }
}

/// Adds the facts known when the run has ended.
pub(super) fn ending(facts: &mut RunFacts, played: &Played) {
    facts.seconds = played.seconds;
    facts.ended_by.clone_from(&played.ended_by);
    facts.examples.clone_from(&played.examples);
    facts.sources.clone_from(&played.sources);
    facts.generator = played.generator.clone();
    facts.losses.clone_from(&played.losses);
    facts.log_rows = played.log_rows;
    if let Some(machines) = &played.machines {
        facts.machines.clone_from(machines);
    }
}
