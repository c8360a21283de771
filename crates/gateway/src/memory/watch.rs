//! Keeps a gateway within its memory budget: checks the memory periodically, and allows as many connections as there is
//! room for.

use super::account::{Account, MemorySnapshot};
use super::budget::{Allowance, BudgetTooSmall, Pacer, Reading};
use super::component::{Component, Space};
use crate::life::{Life, Stage};
use std::sync::Arc;
use std::time::Duration;

/// The interval between checks.
const LOOK: Duration = Duration::from_millis(100);

/// A memory budget and its current effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryBudget {
    /// The budget, in bytes.
    pub bytes: u64,
    /// The number of idle connections that it has room for, based on the minimum that one takes.
    pub capacity: u64,
    /// The number of connections that are allowed now.
    pub allowed: u64,
}

/// Enforces the budget of a running gateway.
pub(crate) struct Watch {
    account: Account,
    pacer: Pacer,
    allowance: Arc<Allowance>,
}

impl Watch {
    /// Makes the first check; from then on the allowance is in force.
    pub(crate) fn begin(
        budget_bytes: u64,
        account: Account,
        allowance: Arc<Allowance>,
    ) -> Result<Watch, BudgetTooSmall> {
        let now = reading(&account.snapshot());
        let start = Reading { open: 0, ..now };
        let pacer = Pacer::new(budget_bytes, start, account.socket_bytes())?;
        let mut watch = Watch { account, pacer, allowance };
        watch.look();
        Ok(watch)
    }

    /// Returns the number of idle connections that the budget has room for.
    pub(crate) fn capacity(&self) -> u64 {
        self.pacer.capacity()
    }

    /// Repeats the check until the gateway is stopped.
    pub(crate) async fn go_on(mut self, life: Arc<Life>) {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                _ = looks.tick() => self.look(),
                () = life.reached(Stage::Stopped) => return,
            }
        }
    }

    fn look(&mut self) {
        self.allowance.set(self.pacer.allowed(reading(&self.account.snapshot())));
    }
}

fn reading(snapshot: &MemorySnapshot) -> Reading {
    let apart = [Component::Outboxes, Component::PartialMessages, Component::LongpollSessions];
    let apart: u64 = apart.into_iter().map(|component| snapshot.bytes_of(component)).sum();
    let process = snapshot.resident_bytes.max(snapshot.sum(Space::Process));
    Reading {
        process_bytes: process.saturating_sub(apart),
        kernel_bytes: snapshot.sum(Space::Kernel),
        open: snapshot.connections,
    }
}
