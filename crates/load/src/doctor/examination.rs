//! The whole visit: reading, judging, and what is handed on.

use std::sync::Arc;
use std::thread;

use rustls::ClientConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::diagnosis::{Diagnosis, diagnose};
use super::facts::Facts;
use super::scene::Wish;
use super::target::{TargetAddress, TargetFacts};
use crate::scenario::plan::Sources;
use crate::statistics::MachineFacts;

/// The facts of a machine and of its targets, and what follows for a wish. This is what `--json` prints.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// The machine.
    pub facts: Facts,
    /// The servers under test.
    pub targets: Vec<TargetFacts>,
    /// What the machine can do.
    pub diagnosis: Diagnosis,
}

impl Examination {
    /// Reads this machine and asks the targets, all at once, and judges what was found. `tls` is for targets and
    /// metrics pages with TLS; `None` trusts the machine's own authorities.
    #[must_use]
    pub fn of_this_machine(
        clients: u64,
        targets: &[TargetAddress],
        sources: &Sources,
        tls: Option<&Arc<ClientConfig>>,
    ) -> Self {
        let (facts, targets) = thread::scope(|scope| {
            let asked: Vec<_> =
                targets.iter().map(|target| scope.spawn(move || TargetFacts::read(target, tls))).collect();
            let facts = Facts::read();
            // A question that panicked leaves a target of which nothing is known.
            let targets: Vec<TargetFacts> =
                asked.into_iter().map(|question| question.join().unwrap_or_default()).collect();
            (facts, targets)
        });
        let wish = Wish { clients, targets, sources: sources.clone() };
        let diagnosis = diagnose(&facts, &wish);
        Self { facts, targets: wish.targets, diagnosis }
    }

    /// As every result carries it.
    #[must_use]
    pub fn for_result(&self) -> MachineFacts {
        self.facts.for_result(&self.diagnosis)
    }
}
