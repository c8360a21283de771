//! Examines this machine and the targets, and judges the result for a run.

use std::sync::Arc;
use std::thread;

use ::doctor::{Examination, Facts, Requirements, Role, Sources, TargetFacts, diagnose};
use rustls::ClientConfig;

use super::target::TargetAddress;
use crate::player::{PlayError, client_config};
use crate::scenario::plan;
use crate::statistics::MachineFacts;

const PROGRAM: &str = concat!("stampede ", env!("CARGO_PKG_VERSION"));

/// Examines this machine and all targets concurrently, and judges the result. `tls` is for targets and metrics pages
/// with TLS; `None` trusts the machine's own authorities.
#[must_use]
pub fn examine(
    clients: u64,
    targets: &[TargetAddress],
    sources: &plan::Sources,
    tls: Option<&Arc<ClientConfig>>,
) -> Examination {
    let (facts, targets) = thread::scope(|scope| {
        let asked: Vec<_> = targets.iter().map(|target| scope.spawn(move || target.look(tls))).collect();
        let facts = Facts::read(PROGRAM);
        // If the examination panicked, nothing is known about the target.
        let targets: Vec<TargetFacts> =
            asked.into_iter().map(|question| question.join().unwrap_or_default()).collect();
        (facts, targets)
    });
    let sources = Sources { addresses: sources.addresses.clone(), ports: sources.ports };
    let requirements = Requirements { clients, role: Role::Players, targets, sources };
    let diagnosis = diagnose(&facts, &requirements);
    Examination { facts, targets: requirements.targets, diagnosis }
}

/// Returns the TLS configuration for a plan's targets; `None` if no target uses TLS.
///
/// # Errors
/// If its file with authorities cannot be used.
pub fn trust(plan: &plan::Plan) -> Result<Option<Arc<ClientConfig>>, PlayError> {
    let has_tls = plan.targets.iter().any(|target| target.tls);
    has_tls.then(|| client_config(&plan.tls)).transpose()
}

/// Converts to the facts about a machine that every result contains, including the warnings of the diagnosis.
impl From<&Examination> for MachineFacts {
    fn from(Examination { facts, diagnosis, .. }: &Examination) -> Self {
        Self { name: facts.name.clone(), facts: facts.listed(), warnings: diagnosis.warnings() }
    }
}
