//! Reads this machine and asks the targets, and has both judged for a run.

use std::sync::Arc;
use std::thread;

use ::doctor::{Examination, Facts, Role, Sources, TargetFacts, Wish, diagnose};
use rustls::ClientConfig;

use super::target::TargetAddress;
use crate::player::{PlayError, client_config};
use crate::scenario::plan;
use crate::statistics::MachineFacts;

const PROGRAM: &str = concat!("stampede ", env!("CARGO_PKG_VERSION"));

/// Reads this machine and asks the targets, all at once, and judges what was found. `tls` is for targets and metrics
/// pages with TLS; `None` trusts the machine's own authorities.
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
        // A question that panicked leaves a target of which nothing is known.
        let targets: Vec<TargetFacts> =
            asked.into_iter().map(|question| question.join().unwrap_or_default()).collect();
        (facts, targets)
    });
    let sources = Sources { addresses: sources.addresses.clone(), ports: sources.ports };
    let wish = Wish { clients, role: Role::Players, targets, sources };
    let diagnosis = diagnose(&facts, &wish);
    Examination { facts, targets: wish.targets, diagnosis }
}

/// Whom a plan trusts where it reaches a target by TLS; `None` where it reaches none so.
///
/// # Errors
/// If its file with authorities cannot be used.
pub fn trust(plan: &plan::Plan) -> Result<Option<Arc<ClientConfig>>, PlayError> {
    let has_tls = plan.targets.iter().any(|target| target.tls);
    has_tls.then(|| client_config(&plan.tls)).transpose()
}

/// A machine as every result carries it, with what the diagnosis warns of.
impl From<&Examination> for MachineFacts {
    fn from(Examination { facts, diagnosis, .. }: &Examination) -> Self {
        Self { name: facts.name.clone(), facts: facts.listed(), warnings: diagnosis.warnings() }
    }
}
