//! A run that agents play: their parts are added up as they come.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::clock::{Offset, error_between_us};
use super::controller::{Connected, measure};
use super::error::AgentError;
use super::examples::GatheredExamples;
use super::link::LinkError;
use super::logs::Kept;
use super::protocol::{BEAT, End, FromAgent, FromController, Progress, SILENCE_MAX};
use super::rendezvous::Rendezvous;
use super::totals::{Lost, Totals};
use crate::live::Users;
use crate::observe::{Kind, Nanos, Outcome};
use crate::player::Word;
use crate::record::{LiveRow, RunFolder, SampleLog};
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
    threads: Vec<JoinHandle<Outcomes>>,
    machines: Vec<MachineFacts>,
    samples: Mutex<Samples>,
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
    /// Rows of all agents' event logs.
    pub log_rows: u64,
    /// What is to be said besides: agents lost, logs kept.
    pub notices: Vec<String>,
}

/// What was sampled on the controller's machine, as the run's folder keeps it.
#[derive(Default)]
struct Samples {
    log: Option<SampleLog>,
    /// Why not all of it is there, if so.
    failed: Option<String>,
}

impl Samples {
    fn of(folder: Option<&RunFolder>) -> Self {
        match folder.map(RunFolder::sample_log).transpose() {
            Ok(log) => Self { log, failed: None },
            Err(error) => Self { log: None, failed: Some(format!("the samples: {error}")) },
        }
    }

    fn add(&mut self, second: u32, sample: &MachineSample) {
        if let Some(Err(error)) = self.log.as_mut().map(|log| log.add(second, sample)) {
            self.failed.get_or_insert(format!("the samples: {error}"));
        }
    }
}

/// What all agents' threads share.
struct Shared {
    totals: Mutex<Totals>,
    latest: Mutex<(Option<u32>, Arc<LiveRow>)>,
    progress: Vec<Mutex<Progress>>,
    /// What the first error of each kind said, of all agents.
    examples: Mutex<GatheredExamples>,
    /// Names for the live view.
    facts: RunFacts,
    agents_lost: AtomicU32,
    /// What the agents do together; where there is one only, it does it alone.
    rendezvous: Mutex<Rendezvous>,
    /// What is said to each.
    orders: Vec<Sender<FromController>>,
    gone: AtomicBool,
}

/// How it ended with one agent.
struct Outcomes {
    address: String,
    offset: Offset,
    end: Result<End, Loss>,
    /// Why its event log is not whole here, if it came and is not.
    log_loss: Option<String>,
}

/// How an agent was lost.
struct Loss {
    why: LinkError,
    after: Duration,
    who: Lost,
}

impl Loss {
    /// Which agent was lost, and what with it.
    fn told(&self, address: &str) -> String {
        let Lost { users, connected, deliveries } = self.who;
        format!(
            "agent {address} was lost after {:.1} s ({}): {users} of its users were playing, {connected} of them \
             connected, and nothing is known of {deliveries} deliveries to them",
            self.after.as_secs_f64(),
            self.why
        )
    }
}

/// When and where a run begins.
pub(super) struct Beginning<'a> {
    pub(super) start: Instant,
    /// What the controller's clock counts from.
    pub(super) epoch: Instant,
    /// Where the agents' event logs go, if they keep any, and what is sampled of the servers.
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
            // Examples come before what counts them: those of all that is counted are there.
            let totals = lock(&self.shared.totals);
            facts.examples = lock(&self.shared.examples).all();
            let row = LiveRow::of(totals.statistics(), second, &facts);
            drop(totals);
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
        lock(&self.samples).add(second, &sample);
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
            losses: lock(&self.samples).failed.take().into_iter().collect(),
            log_rows: 0,
            notices: Vec::new(),
        };
        let offsets: Vec<Offset> = outcomes.iter().map(|outcome| outcome.offset).collect();
        end.generator.clock_error_us = error_between_us(&offsets);
        for (index, outcome) in outcomes.into_iter().enumerate() {
            let loss =
                outcome.log_loss.map(|loss| format!("the event log of agent {}: {loss}", outcome.address));
            end.losses.extend(loss);
            match outcome.end {
                Ok(of_agent) => end.add(&outcome.address, of_agent),
                Err(loss) => end.add_loss(index, &outcome.address, &loss),
            }
        }
        // What was shown meanwhile stays, and with it what agents had said that were lost.
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

impl Shared {
    fn tell_all(&self, order: impl Fn() -> FromController) {
        for orders in &self.orders {
            // An agent that has ended needs no order.
            let _ = orders.send(order());
        }
    }

    fn tell_words(&self, words: Vec<Word>) {
        for word in words {
            self.tell_all(|| FromController::Word(word.clone()));
        }
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
        self.log_rows += end.log_rows;
        self.notices
            .extend(end.folder.map(|folder| format!("agent {address} has its event log in {folder} too")));
        self.losses.extend(end.losses.iter().map(|loss| format!("agent {address}: {loss}")));
    }

    fn add_loss(&mut self, index: usize, address: &str, loss: &Loss) {
        let text = loss.told(address);
        self.generator.agents_lost += 1;
        if let Some(machine) = self.machines.get_mut(index) {
            machine.warnings.push(text.clone());
        }
        self.losses.push(format!("agent {address} was lost, with what it saw last and its event log"));
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
    /// The agent's event log as it comes.
    kept: Option<Kept>,
}

impl Watch {
    fn run(mut self) -> Outcomes {
        let end = self.go_on().map_err(|why| {
            self.shared.agents_lost.fetch_add(1, Ordering::Relaxed);
            let after = self.start.elapsed();
            let mut totals = lock(&self.shared.totals);
            let loss = Loss { why, after, who: totals.lose(self.index, self.now()) };
            let (text, kind, outcome) = (loss.told(&self.agent.address), Kind::Finish, Outcome::AgentLost);
            lock(&self.shared.examples).add_own(ErrorExample { kind, outcome, code: 0, text });
            loss
        });
        let words = lock(&self.shared.rendezvous).goes(self.index, self.now());
        self.shared.tell_words(words);
        if let Some(progress) = self.shared.progress.get(self.index) {
            *lock(progress) = Progress { draining: true, ..Progress::default() };
        }
        let log_loss = self.kept.and_then(|kept| kept.loss);
        Outcomes { address: self.agent.address, offset: self.agent.offset, end, log_loss }
    }

    /// Nanoseconds since the run's start, by the controller's clock.
    fn now(&self) -> Nanos {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
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
            FromAgent::Examples(told) => {
                lock(&self.shared.examples).add(told);
                Ok(None)
            }
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
            FromAgent::Standing(standing) => {
                let words = lock(&self.shared.rendezvous).stands(self.index, standing, self.now());
                self.shared.tell_words(words);
                Ok(None)
            }
            FromAgent::Published(publications) => {
                let words = lock(&self.shared.rendezvous).published(self.index, publications, self.now());
                self.shared.tell_words(words);
                Ok(None)
            }
            FromAgent::Log { name, bytes } => {
                if let Some(kept) = &mut self.kept {
                    kept.add(&name, &bytes);
                }
                Ok(None)
            }
            FromAgent::End(mut end) => {
                lock(&self.shared.examples).add(std::mem::take(&mut end.examples));
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
