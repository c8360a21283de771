//! One run of stored rooms from a seed.

use super::world::World;
use crate::oracle::{Checked, violated};
use crate::run::{Failure, Kind, Report, message_of};
use crate::trace::Trace;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Waker};

/// A server that has not come to rest after this many rounds never will.
const ROUNDS_MAX: usize = 100_000;
/// How often the clients may be told the heads of their rooms before everybody must have everything.
const TICKS_MAX: usize = 10;

/// Runs one seed. `sink` receives every line of the trace as it happens.
///
/// # Errors
/// The first invariant that was violated, or a panic.
pub fn run(seed: u64, sink: Option<fn(&str)>) -> Result<Report, Failure> {
    let mut world = World::new(seed, Trace::new(sink));
    let outcome = catch_unwind(AssertUnwindSafe(|| world.live()));
    let violation = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(violation)) => Some(violation.0),
        Err(panic) => Some(format!("something panicked: {}", message_of(&*panic))),
    };
    match violation {
        None => Ok(Report {
            hash: world.trace.hash(),
            lines: world.trace.lines(),
            deliveries: world.clients.iter().map(|client| client.deliveries).sum(),
            drops: world.drops + world.process.outlet.losses(),
            recoveries: world.clients.iter().map(|client| client.recoveries).sum(),
            queued: 0,
        }),
        Some(violation) => Err(Failure { seed, of: Kind::Stored, violation, tail: world.trace.into_tail() }),
    }
}

#[derive(Clone, Copy)]
enum Step {
    Pump,
    ReadMail,
    Write,
    Read,
    Poll,
}

impl World {
    fn live(&mut self) -> Checked {
        self.trace.line(format_args!("{:?}", self.plan));
        if self.plan.begins_at_rest {
            self.come_to_rest()?;
        }
        for _ in 0..2 {
            self.ledger.disk.fail(self.plan.failing_percent, self.plan.unheard_percent);
            for _ in 0..self.plan.steps / 2 {
                self.step()?;
            }
            self.mend()?;
            self.ledger.check()?;
            for client in &self.clients {
                client.at_rest(&self.ledger)?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Checked {
        self.now = self.now + self.random.pick(&[0, 50, 1_000, 20_000]);
        if self.random.below(1000) < self.plan.kill_permille {
            self.kill();
            Ok(())
        } else if self.random.percent(30) {
            self.client_acts()
        } else {
            self.server_step()
        }
    }

    /// Lets a shard, the store or a task do one thing, if there is something to do.
    fn server_step(&mut self) -> Checked {
        let (writes, reads) = self.process.store.waiting();
        let mut choices = vec![(20, Step::Pump)];
        choices.extend(
            self.process.shards.iter().any(|shard| !shard.mailbox.is_empty()).then_some((25, Step::ReadMail)),
        );
        choices.extend(writes.then_some((15, Step::Write)));
        choices.extend(reads.then_some((15, Step::Read)));
        choices.extend(self.process.has_tasks().then_some((25, Step::Poll)));
        let shard = self.random.below(self.plan.shards);
        match self.random.weighted(&choices) {
            Step::Pump => {
                let budget = self.random.between(1, 10);
                self.pump(shard, budget).map(drop)
            }
            Step::ReadMail => self.read_mail(shard),
            Step::Write => self.write(),
            Step::Read => self.read(),
            Step::Poll => self.poll_tasks(),
        }
    }

    /// Makes the disk work from here on. Lets everybody join, send what they still have to send and fill their gaps,
    /// until nothing is left to do.
    fn mend(&mut self) -> Checked {
        self.trace.line(format_args!("{} everything is mended", self.now.0));
        self.ledger.disk.fail(0, 0);
        let mut losses = u64::MAX;
        for _ in 0..TICKS_MAX {
            self.come_to_rest()?;
            if self.process.outlet.losses() == losses {
                return Ok(());
            }
            // The heads of the rooms reveal what was lost on the way, and commits that nobody was told of are found.
            losses = self.process.outlet.losses();
            self.process.messenger.tick();
            self.catch_up()?;
            self.news_leave()?;
        }
        violated("something is lost whenever the clients are told what was")
    }

    /// Lets the messenger read again what it is not sure of.
    fn catch_up(&mut self) -> Checked {
        let messenger = self.process.messenger.clone();
        let mut future = pin!(messenger.catch_up());
        for _ in 0..ROUNDS_MAX {
            if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                return Ok(());
            }
            self.read()?;
        }
        violated("the messenger does not come to an end of what it reads again")
    }

    fn come_to_rest(&mut self) -> Checked {
        for _ in 0..ROUNDS_MAX {
            if self.process.is_busy() {
                self.server_step()?;
                continue;
            }
            let mut goes_on = false;
            for shard in 0..self.plan.shards {
                goes_on |= self.pump(shard, 10)?;
            }
            for client in 0..self.clients.len() {
                goes_on |= self.goes_on(client)?;
            }
            let due = self.process.shards.iter().filter_map(|shard| shard.hub.deadline()).max();
            self.now = due.map_or(self.now, |due| self.now.max(due));
            if !goes_on && due.is_none() && !self.process.is_busy() {
                return Ok(());
            }
        }
        violated("the server does not come to rest")
    }
}
