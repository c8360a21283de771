//! A run that agents play: their parts are added up as they come.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::clock::{Offset, error_between_us};
use super::controller::{Connected, measure};
use super::error::AgentError;
use super::link::LinkError;
use super::protocol::{BEAT, End, FromAgent, FromController, Progress, SILENCE_MAX};
use super::totals::{Lost, Totals};
use crate::live::Users;
use crate::observe::{Kind, Outcome};
use crate::record::LiveRow;
use crate::statistics::limits::THREADS_TOLD_MAX;
use crate::statistics::{
    ErrorExample, GeneratorFacts, MachineFacts, MachineSample, RunFacts, Statistics, ThreadUse,
};

/// How long one look for a message takes, when none comes.
const INTERVAL: Duration = Duration::from_millis(20);
/// A second is shown so long after its end, when the agents' parts have come.
const BELATED: Duration = Duration::from_millis(600);

/// A run that agents play. Dropping it lets them go, which ends it on each.
pub struct RemoteRun {
    shared: Arc<Shared>,
    orders: Vec<Sender<FromController>>,
    threads: Vec<JoinHandle<Outcomes>>,
    machines: Vec<MachineFacts>,
    start: Instant,
}

/// What a run came to that agents played.
pub struct RemoteEnd {
    /// What all agents counted together.
    pub statistics: Statistics,
    /// What ended it.
    pub ended_by: String,
    /// What the first error of each kind said.
    pub examples: Vec<ErrorExample>,
    /// Source addresses by their index, those of each agent with its address.
    pub sources: Vec<String>,
    /// What the agents did themselves, all together.
    pub generator: GeneratorFacts,
    /// The agents' machines; those that were lost say so.
    pub machines: Vec<MachineFacts>,
    /// What could not be kept of the run on which agent.
    pub losses: Vec<String>,
    /// What is to be said besides: agents lost, logs kept.
    pub notices: Vec<String>,
}

/// What all agents' threads share.
struct Shared {
    totals: Mutex<Totals>,
    latest: Mutex<(Option<u32>, Arc<LiveRow>)>,
    progress: Vec<Mutex<Progress>>,
    /// Names for the live view.
    facts: RunFacts,
    agents_lost: AtomicU32,
    gone: AtomicBool,
}

/// How it ended with one agent.
struct Outcomes {
    address: String,
    offset: Offset,
    end: Result<End, Loss>,
}

/// How an agent was lost.
struct Loss {
    why: LinkError,
    after: Duration,
    who: Lost,
}

impl RemoteRun {
    pub(super) fn watch(
        agents: Vec<Connected>,
        machines: Vec<MachineFacts>,
        labels: Vec<String>,
        start: Instant,
        epoch: Instant,
    ) -> Result<Self, AgentError> {
        let own_sources = |agent: &Connected| agent.ready.as_ref().map_or(0, |ready| ready.sources.len());
        let facts = RunFacts { labels, sources: sources(&agents), ..RunFacts::default() };
        let shared = Arc::new(Shared {
            totals: Mutex::new(Totals::new(&agents.iter().map(own_sources).collect::<Vec<_>>())),
            latest: Mutex::default(),
            progress: agents.iter().map(|_| Mutex::default()).collect(),
            facts,
            agents_lost: AtomicU32::new(0),
            gone: AtomicBool::new(false),
        });
        let mut run = Self { shared, orders: Vec::new(), threads: Vec::new(), machines, start };
        for (index, agent) in agents.into_iter().enumerate() {
            let (orders, taken) = channel();
            let watch = Watch {
                index,
                agent,
                orders: taken,
                shared: Arc::clone(&run.shared),
                start,
                epoch,
                probed: Instant::now(),
            };
            let thread = thread::Builder::new().name(format!("agent {index}"));
            run.threads.push(thread.spawn(move || watch.run()).map_err(AgentError::Thread)?);
            run.orders.push(orders);
        }
        Ok(run)
    }

    /// Source addresses by their index.
    #[must_use]
    pub fn sources(&self) -> Vec<String> {
        self.shared.facts.sources.clone()
    }

    /// The run as it stood after the newest second of which all parts should have come.
    #[must_use]
    pub fn latest(&self) -> Arc<LiveRow> {
        let mut latest = lock(&self.shared.latest);
        let over = self.start.elapsed().saturating_sub(BELATED).as_secs();
        if let Some(second) = u32::try_from(over).ok().and_then(|over| over.checked_sub(1))
            && latest.0.is_none_or(|shown| shown < second)
        {
            let mut facts = self.shared.facts.clone();
            facts.generator.agents_lost = self.shared.agents_lost.load(Ordering::Relaxed);
            let row = LiveRow::of(lock(&self.shared.totals).statistics(), second, &facts);
            *latest = (Some(second), Arc::new(row));
        }
        Arc::clone(&latest.1)
    }

    /// The crowd on all agents.
    #[must_use]
    pub fn users(&self) -> Users {
        self.progress().fold(Users::default(), |sum, progress| Users {
            wanted: sum.wanted + progress.wanted,
            active: sum.active + progress.active,
            connected: sum.connected + progress.connected,
            joined: sum.joined + progress.joined,
        })
    }

    /// The place of the running phase among all phases of all rounds.
    #[must_use]
    pub fn phase(&self) -> u64 {
        self.progress().map(|progress| progress.phase).max().unwrap_or(0)
    }

    /// Whether nothing new begins any more on any agent.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.progress().all(|progress| progress.draining)
    }

    /// Whether every agent has ended or is lost.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Adds what was sampled on the controller's machine.
    pub fn sample(&self, second: u32, sample: MachineSample) {
        lock(&self.shared.totals).sample(second, sample);
    }

    /// No new users; those that are there say nothing more, and what is on its way is waited for.
    pub fn stop(&self) {
        self.order(|| FromController::Stop);
    }

    /// Cuts all users off now.
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
            examples: Vec::new(),
            sources: self.sources(),
            generator: GeneratorFacts {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                ..GeneratorFacts::default()
            },
            machines: std::mem::take(&mut self.machines),
            losses: Vec::new(),
            notices: Vec::new(),
        };
        let offsets: Vec<Offset> = outcomes.iter().map(|outcome| outcome.offset).collect();
        end.generator.clock_error_us = error_between_us(&offsets);
        for (index, outcome) in outcomes.into_iter().enumerate() {
            match outcome.end {
                Ok(of_agent) => end.add(&outcome.address, of_agent),
                Err(loss) => end.add_loss(index, &outcome.address, &loss),
            }
        }
        if end.ended_by.is_empty() {
            end.ended_by = "all agents were lost".to_owned();
        }
        end
    }

    fn order(&self, order: impl Fn() -> FromController) {
        for orders in &self.orders {
            // An agent that has ended needs no order.
            let _ = orders.send(order());
        }
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

impl RemoteEnd {
    fn add(&mut self, address: &str, end: End) {
        // What ended one of them early says more than that others came to their end.
        if self.ended_by.is_empty() || self.ended_by == "finished" {
            self.ended_by = end.ended_by;
        }
        for example in end.examples {
            let is_same = |known: &ErrorExample| {
                (known.kind, known.outcome, known.code) == (example.kind, example.outcome, example.code)
            };
            if !self.examples.iter().any(is_same) {
                self.examples.push(example);
            }
        }
        let (all, one) = (&mut self.generator, end.generator);
        all.shards += one.shards;
        all.cpu_mean += one.cpu_mean;
        all.thread_cpu_max = all.thread_cpu_max.max(one.thread_cpu_max);
        all.steal_mean = all.steal_mean.max(one.steal_mean);
        all.rss_max_bytes += one.rss_max_bytes;
        all.stalled_ms += one.stalled_ms;
        all.samples_failed += one.samples_failed;
        all.deliveries_unjudged += one.deliveries_unjudged;
        all.publications_unjudged += one.publications_unjudged;
        // Distributions of different machines are not added up: the worst of them speaks.
        if one.read_lag.p99_us >= all.read_lag.p99_us {
            all.read_lag = one.read_lag;
        }
        if one.cpu_wait.p99_us >= all.cpu_wait.p99_us {
            all.cpu_wait = one.cpu_wait;
        }
        // Each machine's lists were most at a time of their own, so that this is the bound of all together.
        all.presence.entries_max += one.presence.entries_max;
        all.presence.longest_max = all.presence.longest_max.max(one.presence.longest_max);
        let named = |thread: ThreadUse| ThreadUse { name: format!("{} on {address}", thread.name), ..thread };
        all.threads.extend(one.threads.into_iter().map(named));
        all.threads.sort_by(|one, other| other.cpu.total_cmp(&one.cpu));
        all.threads.truncate(THREADS_TOLD_MAX);
        self.notices
            .extend(end.folder.map(|folder| format!("agent {address} keeps its event log in {folder}")));
        self.losses.extend(end.losses.iter().map(|loss| format!("agent {address}: {loss}")));
    }

    fn add_loss(&mut self, index: usize, address: &str, loss: &Loss) {
        let Lost { users, connected, deliveries } = loss.who;
        let text = format!(
            "agent {address} was lost after {:.1} s ({}): {users} of its users were playing, {connected} of them \
             connected, and nothing is known of {deliveries} deliveries to them",
            loss.after.as_secs_f64(),
            loss.why
        );
        self.generator.agents_lost += 1;
        if let Some(machine) = self.machines.get_mut(index) {
            machine.warnings.push(text.clone());
        }
        if self.examples.iter().all(|example| example.outcome != Outcome::AgentLost) {
            let (kind, outcome) = (Kind::Finish, Outcome::AgentLost);
            self.examples.push(ErrorExample { kind, outcome, code: 0, text: text.clone() });
        }
        self.notices.push(text);
    }
}

/// Every agent's addresses, one table behind the other. Two agents may well have the same ones.
fn sources(agents: &[Connected]) -> Vec<String> {
    let mut sources = Vec::new();
    for agent in agents {
        let own = agent.ready.iter().flat_map(|ready| &ready.sources);
        sources.extend(own.map(|source| format!("{source} on {}", agent.address)));
    }
    sources
}

/// One agent while the run goes on, on a thread of its own.
struct Watch {
    index: usize,
    agent: Connected,
    orders: Receiver<FromController>,
    shared: Arc<Shared>,
    start: Instant,
    epoch: Instant,
    probed: Instant,
}

impl Watch {
    fn run(mut self) -> Outcomes {
        let end = self.go_on().map_err(|why| {
            self.shared.agents_lost.fetch_add(1, Ordering::Relaxed);
            let after = self.start.elapsed();
            let at = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
            let who = lock(&self.shared.totals).lose(self.index, at);
            Loss { why, after, who }
        });
        if let Some(progress) = self.shared.progress.get(self.index) {
            *lock(progress) = Progress { draining: true, ..Progress::default() };
        }
        Outcomes { address: self.agent.address, offset: self.agent.offset, end }
    }

    fn go_on(&mut self) -> Result<End, LinkError> {
        loop {
            if self.shared.gone.load(Ordering::Relaxed) {
                return Err(LinkError::Closed);
            }
            while let Ok(order) = self.orders.try_recv() {
                self.agent.link.send(&order)?;
            }
            if self.probed.elapsed() >= BEAT {
                self.probed = Instant::now();
                // Its answer is no measurement; both sides show that they are there.
                self.agent.link.send(&FromController::Probe { number: u64::MAX })?;
            }
            match self.agent.link.receive(INTERVAL)? {
                Some(message) => {
                    if let Some(end) = self.hear(message)? {
                        return Ok(end);
                    }
                }
                None if self.agent.link.silent_for() > SILENCE_MAX => {
                    return Err(LinkError::Silent(SILENCE_MAX));
                }
                None => {}
            }
        }
    }

    fn hear(&mut self, message: FromAgent) -> Result<Option<End>, LinkError> {
        match message {
            FromAgent::Part(part) => {
                lock(&self.shared.totals).add(self.index, *part);
                Ok(None)
            }
            FromAgent::Progress(now) => {
                if let Some(progress) = self.shared.progress.get(self.index) {
                    *lock(progress) = now;
                }
                Ok(None)
            }
            FromAgent::Clock { .. } => Ok(None),
            FromAgent::End(mut end) => {
                lock(&self.shared.totals).add(self.index, std::mem::take(&mut end.rest));
                // The clocks may have drifted apart since the start. An agent that goes now has said everything else.
                if let Ok(later) = measure(&mut self.agent.link, self.epoch) {
                    self.agent.offset = self.agent.offset.checked_by(later);
                }
                Ok(Some(*end))
            }
            FromAgent::Failed { reason } => Err(LinkError::GaveUp(reason)),
            FromAgent::Welcome(_)
            | FromAgent::Refused(_)
            | FromAgent::Ready(_)
            | FromAgent::Started { .. } => {
                Err(LinkError::Garbled("an agent said something out of turn".to_owned()))
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
