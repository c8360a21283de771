//! A run played by agents, whose statistics are added up as they arrive.

mod end;
mod samples;
mod shared;
mod watch;

pub use end::RemoteEnd;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::clock::{Offset, error_between_us};
use super::controller::Connected;
use super::error::AgentError;
use super::logs::Kept;
use super::protocol::{FromController, Progress};
use super::rendezvous::Rendezvous;
use super::totals::Totals;
use crate::live::Users;
use crate::record::{LiveRow, RunFolder};
use crate::statistics::{GeneratorFacts, MachineFacts, MachineSample, RunFacts};
use samples::Samples;
use shared::{Shared, lock};
use watch::{Outcomes, Watch};

/// How long after its end a second is shown, when the agents' parts have arrived.
const BELATED: Duration = Duration::from_millis(600);

/// A run played by agents. Dropping it disconnects them, which ends the run on each.
pub struct RemoteRun {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Outcomes>>,
    machines: Vec<MachineFacts>,
    samples: Mutex<Samples>,
    start: Instant,
}

/// When a run begins and where its files are stored.
pub(super) struct Beginning<'a> {
    pub(super) start: Instant,
    /// Origin of the controller's clock.
    pub(super) epoch: Instant,
    /// Folder for the agents' event logs, if they write any, and for the samples of the servers.
    pub(super) folder: Option<&'a RunFolder>,
}

impl RemoteRun {
    pub(super) fn watch(
        agents: Vec<Connected>,
        machines: Vec<MachineFacts>,
        labels: Vec<String>,
        beginning: Beginning<'_>,
    ) -> Result<Self, AgentError> {
        let Beginning { start, epoch, folder } = beginning;
        let own_sources = |agent: &Connected| agent.ready.as_ref().map_or(0, |ready| ready.sources.len());
        let facts = RunFacts { labels, sources: sources(&agents), ..RunFacts::default() };
        let offsets: Vec<Offset> = agents.iter().map(|agent| agent.offset).collect();
        let clock_error_ns = error_between_us(&offsets).saturating_mul(1_000);
        let (orders, taken): (Vec<_>, Vec<_>) = agents.iter().map(|_| channel()).unzip();
        let shared = Arc::new(Shared {
            totals: Mutex::new(Totals::new(&agents.iter().map(own_sources).collect::<Vec<_>>())),
            latest: Mutex::default(),
            progress: agents.iter().map(|_| Mutex::default()).collect(),
            examples: Mutex::default(),
            facts,
            agents_lost: AtomicU32::new(0),
            rendezvous: Mutex::new(Rendezvous::new(agents.len(), clock_error_ns)),
            orders,
            gone: AtomicBool::new(false),
        });
        let samples = Mutex::new(Samples::of(folder));
        let mut run = Self { shared, threads: Vec::new(), machines, samples, start };
        for (index, (agent, taken)) in agents.into_iter().zip(taken).enumerate() {
            let watch = Watch {
                index,
                agent,
                orders: taken,
                kept: folder.map(|folder| Kept::new(folder.of_agent(index))),
                shared: Arc::clone(&run.shared),
                start,
                epoch,
                probed: Instant::now(),
            };
            let thread = thread::Builder::new().name(format!("agent {index}"));
            run.threads.push(thread.spawn(move || watch.run()).map_err(AgentError::Thread)?);
        }
        Ok(run)
    }

    /// Returns the source addresses by index.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        self.shared.facts.sources.clone()
    }

    /// Returns the run's state after the newest second for which all parts should have arrived.
    #[must_use]
    pub fn latest(&self) -> Arc<LiveRow> {
        let mut latest = lock(&self.shared.latest);
        let over = self.start.elapsed().saturating_sub(BELATED).as_secs();
        if let Some(second) = u32::try_from(over).ok().and_then(|over| over.checked_sub(1))
            && latest.0.is_none_or(|shown| shown < second)
        {
            let mut facts = self.shared.facts.clone();
            facts.generator.agents_lost = self.shared.agents_lost.load(Ordering::Relaxed);
            // Examples arrive before the part that counts them, so those of everything counted are here.
            let totals = lock(&self.shared.totals);
            facts.examples = lock(&self.shared.examples).all();
            let row = LiveRow::of(totals.statistics(), second, &facts);
            drop(totals);
            *latest = (Some(second), Arc::new(row));
        }
        Arc::clone(&latest.1)
    }

    /// Returns the number of users over all agents.
    #[must_use]
    pub fn users(&self) -> Users {
        self.progress().fold(Users::default(), |sum, progress| Users {
            wanted: sum.wanted + progress.wanted,
            active: sum.active + progress.active,
            connected: sum.connected + progress.connected,
            joined: sum.joined + progress.joined,
        })
    }

    /// Returns the index of the current phase among all phases of all rounds.
    #[must_use]
    pub fn phase(&self) -> u64 {
        self.progress().map(|progress| progress.phase).max().unwrap_or(0)
    }

    /// Returns whether nothing new begins on any agent any more.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.progress().all(|progress| progress.draining)
    }

    /// Returns whether the last user on any agent has left. Results and logs may still arrive.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.progress().all(|progress| progress.over)
    }

    /// Returns whether every agent has ended or is lost.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Adds the samples taken on the controller's machine.
    pub fn sample(&self, second: u32, sample: MachineSample) {
        lock(&self.samples).add(second, &sample);
        lock(&self.shared.totals).sample(second, sample);
    }

    /// Ends the run gracefully: no new users; present users stop sending, and messages in flight are waited for.
    pub fn stop(&self) {
        self.order(|| FromController::Stop);
    }

    /// Cuts all connections now.
    pub fn abort(&self) {
        self.order(|| FromController::Abort);
    }

    /// Waits for the end.
    #[must_use]
    pub fn finish(mut self) -> RemoteEnd {
        let threads = std::mem::take(&mut self.threads);
        let outcomes: Vec<Outcomes> = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        let totals = std::mem::replace(&mut *lock(&self.shared.totals), Totals::new(&[]));
        let mut end = RemoteEnd {
            statistics: totals.into_statistics(),
            ended_by: String::new(),
            seconds: 0.0,
            examples: Vec::new(),
            sources: self.sources(),
            generator: GeneratorFacts {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..GeneratorFacts::default()
            },
            machines: std::mem::take(&mut self.machines),
            losses: lock(&self.samples).failed.take().into_iter().collect(),
            log_rows: 0,
            notices: Vec::new(),
        };
        let offsets: Vec<Offset> = outcomes.iter().map(|outcome| outcome.offset).collect();
        end.generator.clock_error_us = error_between_us(&offsets);
        for (index, outcome) in outcomes.into_iter().enumerate() {
            end.take(index, outcome);
        }
        // The examples that were shown during the run are kept, including those of agents that were lost.
        end.examples = lock(&self.shared.examples).all();
        if end.ended_by.is_empty() {
            end.ended_by = "all agents were lost".to_owned();
        }
        end
    }

    fn order(&self, order: impl Fn() -> FromController) {
        self.shared.tell_all(order);
    }

    fn progress(&self) -> impl Iterator<Item = Progress> {
        self.shared.progress.iter().map(|progress| *lock(progress))
    }
}

impl Drop for RemoteRun {
    fn drop(&mut self) {
        self.shared.gone.store(true, Ordering::Relaxed);
    }
}

/// Concatenates the agents' tables of source addresses. Two agents may have the same addresses.
fn sources(agents: &[Connected]) -> Vec<String> {
    let mut sources = Vec::new();
    for agent in agents {
        let own = agent.ready.iter().flat_map(|ready| &ready.sources);
        sources.extend(own.map(|source| format!("{source} on {}", agent.address)));
    }
    sources
}
