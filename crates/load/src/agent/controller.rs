//! The controller before a run: connects to the agents and gives each its share.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustls::ClientConfig;

use super::bundle::Bundle;
use super::clock::{Offset, Probe};
use super::error::AgentError;
use super::link::{Link, LinkError};
use super::protocol::{
    FromAgent, FromController, GREETING_MAX, Go, Hello, Log, PREPARATION_MAX, PROTOCOL, Prepare, Ready,
    SILENCE_MAX, Welcome,
};
use super::remote::{Beginning, RemoteRun};
use super::token::Token;
use super::transport;
use crate::doctor::Examination;
use crate::record::{LogForm, RunFolder};
use crate::statistics::MachineFacts;

/// Number of probes for each estimate of a clock offset.
const PROBES: u64 = 16;
/// Time between the command to begin and the first user, enough for every agent to start its threads.
const LEAD_TIME: Duration = Duration::from_secs(1);

/// The agents to use.
#[derive(Clone, Debug)]
pub struct Agents {
    /// Address of each agent as `host:port`.
    pub addresses: Vec<String>,
    /// The token that the agents require.
    pub token: Option<Token>,
    /// PEM file with the certificate authority of the agents; without it there is no TLS.
    pub authority: Option<PathBuf>,
}

impl Agents {
    /// Builds the list from flags; `None` if no agent is named.
    #[must_use]
    pub fn new(addresses: &[String], token: Option<&str>, authority: Option<&Path>) -> Option<Self> {
        (!addresses.is_empty()).then(|| Self {
            addresses: addresses.to_vec(),
            token: token.map(|token| Token::new(token.to_owned())),
            authority: authority.map(Path::to_path_buf),
        })
    }
}

/// What all agents are asked to prepare for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The scenario.
    pub scenario: &'a str,
    /// The folder to which file names in the scenario are relative.
    pub base_dir: &'a Path,
    /// Distinguishes this run's messages from another run's.
    pub run_tag: u16,
    /// Number of player threads on each agent; `None` chooses it automatically.
    pub threads: Option<usize>,
    /// Total number of clients for which the doctor checks the machines; `None` uses the scenario's.
    pub clients: Option<u64>,
    /// Whether the agents check the targets as well.
    pub looks_at_targets: bool,
    /// Whether the C10K test's random samples are kept.
    pub keeps_samples: bool,
    /// The event log that each agent writes.
    pub log: LogForm,
    /// Number of connection pairs with which each agent's floor is measured; `None` skips it.
    pub floor: Option<u32>,
}

impl<'a> Request<'a> {
    /// Returns a request to play a scenario, without an event log.
    #[must_use]
    pub fn play(scenario: &'a str, base_dir: &'a Path, run_tag: u16) -> Self {
        Self {
            scenario,
            base_dir,
            run_tag,
            threads: None,
            clients: None,
            looks_at_targets: true,
            keeps_samples: false,
            log: LogForm::None,
            floor: None,
        }
    }
}

/// Agents that are connected to this controller. Dropping it releases them.
pub struct Controller {
    /// Origin of the controller's clock.
    epoch: Instant,
    agents: Vec<Connected>,
}

/// One agent.
pub(super) struct Connected {
    pub(super) address: String,
    pub(super) link: Link,
    pub(super) welcome: Welcome,
    pub(super) offset: Offset,
    pub(super) ready: Option<Ready>,
}

impl Controller {
    /// Connects to all agents and measures their clock offsets.
    ///
    /// # Errors
    /// [`AgentError`] of the first agent that cannot be used.
    pub fn connect(agents: &Agents) -> Result<Self, AgentError> {
        let mut named = BTreeSet::new();
        if let Some(twice) = agents.addresses.iter().find(|address| !named.insert(*address)) {
            return Err(AgentError::Twice { agent: twice.clone() });
        }
        let tls = agents.authority.as_deref().map(transport::trust).transpose().map_err(AgentError::Tls)?;
        let epoch = Instant::now();
        let token = agents.token.as_ref();
        let connect = |address: &String| Connected::connect(address, token, tls.as_ref(), epoch);
        let connected = at_once(agents.addresses.iter().collect(), connect)?;
        Ok(Self { epoch, agents: connected })
    }

    /// Gives each agent its share of the scenario, and has it examine its machine.
    ///
    /// # Errors
    /// [`AgentError`] of the first agent that cannot prepare.
    pub fn prepare(&mut self, request: &Request<'_>) -> Result<(), AgentError> {
        let bundle = Bundle::pack(request.scenario, request.base_dir).map_err(AgentError::Bundle)?;
        let weights: Vec<f64> = self.agents.iter().map(|agent| agent.welcome.weight).collect();
        let whole: f64 = weights.iter().sum();
        let prepare = |(index, agent): (usize, &mut Connected)| {
            let share = agent.welcome.weight / whole;
            agent.prepare(
                &bundle,
                Prepare {
                    scenario: bundle.scenario.clone(),
                    files: bundle.files.len(),
                    index,
                    weights: weights.clone(),
                    run_tag: request.run_tag,
                    threads: request.threads,
                    clients: request.clients.map(|clients| (clients as f64 * share).ceil() as u64),
                    looks_at_targets: request.looks_at_targets,
                    keeps_samples: request.keeps_samples,
                    log: match request.log {
                        LogForm::None => Log::None,
                        LogForm::Csv => Log::Csv,
                        LogForm::Zstd => Log::Zstd,
                    },
                    floor: request.floor,
                },
            )
        };
        at_once(self.agents.iter_mut().enumerate().collect(), prepare).map(drop)
    }

    /// Returns the doctor's findings of each agent that has prepared, with the agent's address.
    #[must_use]
    pub fn doctor(&self) -> Vec<(&str, &Examination)> {
        let mut examined = Vec::new();
        for agent in &self.agents {
            examined.extend(agent.ready.as_ref().map(|ready| (agent.address.as_str(), &ready.examination)));
        }
        examined
    }

    /// Returns the facts about the agents' machines; each machine's name includes its agent's address.
    #[must_use]
    pub fn machines(&self) -> Vec<MachineFacts> {
        let mut machines = Vec::new();
        for agent in &self.agents {
            let Some(ready) = &agent.ready else { continue };
            let facts = ready.machine();
            machines.push(MachineFacts { name: format!("{} ({})", facts.name, agent.address), ..facts });
        }
        machines
    }

    /// Returns how long before its first user a run must be started.
    #[must_use]
    pub fn lead_time(&self) -> Duration {
        LEAD_TIME
    }

    /// Starts all agents at `start`, which is `start_unix_ns` nanoseconds since the Unix epoch and must be in the
    /// future. Their event logs are stored in `folder`, if they write any.
    ///
    /// # Errors
    /// [`AgentError`] of the first agent that cannot begin; the others are released.
    pub fn start(
        self,
        start: Instant,
        start_unix_ns: u64,
        labels: Vec<String>,
        folder: Option<&RunFolder>,
    ) -> Result<RemoteRun, AgentError> {
        let start_ns = nanos(start.saturating_duration_since(self.epoch));
        let machines = self.machines();
        let begin = |mut agent: Connected| {
            agent.begin(Go { start_ns: agent.offset.theirs_ns(start_ns), start_unix_ns })?;
            Ok(agent)
        };
        let agents = at_once(self.agents, begin)?;
        RemoteRun::watch(agents, machines, labels, Beginning { start, epoch: self.epoch, folder })
    }
}

impl Connected {
    fn connect(
        address: &str,
        token: Option<&Token>,
        tls: Option<&Arc<ClientConfig>>,
        epoch: Instant,
    ) -> Result<Self, AgentError> {
        let agent = || address.to_owned();
        let of_link = |error: LinkError| AgentError::Link { agent: agent(), error };
        let mut link = transport::connect(address, tls)
            .map_err(|error| AgentError::Connect { agent: agent(), error })?;
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let hello = Hello { protocol: PROTOCOL, version, token: token.cloned() };
        link.send(&FromController::Hello(hello)).map_err(of_link)?;
        let welcome = match link.expect(GREETING_MAX).map_err(of_link)? {
            FromAgent::Welcome(welcome) => welcome,
            FromAgent::Refused(refusal) => {
                return Err(AgentError::Refused { agent: agent(), why: refusal.into() });
            }
            FromAgent::Failed { reason } => return Err(AgentError::Failed { agent: agent(), reason }),
            FromAgent::Clock { .. }
            | FromAgent::Ready(_)
            | FromAgent::Started { .. }
            | FromAgent::Examples(_)
            | FromAgent::Part(_)
            | FromAgent::Progress(_)
            | FromAgent::Standing(_)
            | FromAgent::Published(_)
            | FromAgent::Log { .. }
            | FromAgent::End(_) => return Err(AgentError::OutOfTurn { agent: agent(), expected: "welcome" }),
        };
        let offset = measure(&mut link, epoch).map_err(of_link)?;
        Ok(Self { address: agent(), link, welcome, offset, ready: None })
    }

    fn prepare(&mut self, bundle: &Bundle, prepare: Prepare) -> Result<(), AgentError> {
        self.say(&FromController::Prepare(Box::new(prepare)))?;
        for file in &bundle.files {
            self.say(&FromController::File(file.clone()))?;
        }
        match self.hear(PREPARATION_MAX)? {
            FromAgent::Ready(ready) => {
                self.ready = Some(*ready);
                Ok(())
            }
            other => Err(self.unexpected(other, "confirmation that it is ready")),
        }
    }

    fn begin(&mut self, go: Go) -> Result<(), AgentError> {
        self.say(&FromController::Go(go))?;
        match self.hear(SILENCE_MAX)? {
            FromAgent::Started { .. } => Ok(()),
            other => Err(self.unexpected(other, "confirmation that it has started")),
        }
    }

    fn say(&mut self, message: &FromController) -> Result<(), AgentError> {
        self.link.send(message).map_err(|error| AgentError::Link { agent: self.address.clone(), error })
    }

    fn hear(&mut self, patience: Duration) -> Result<FromAgent, AgentError> {
        self.link.expect(patience).map_err(|error| AgentError::Link { agent: self.address.clone(), error })
    }

    fn unexpected(&self, message: FromAgent, expected: &'static str) -> AgentError {
        let agent = self.address.clone();
        match message {
            FromAgent::Failed { reason } => AgentError::Failed { agent, reason },
            FromAgent::Refused(refusal) => AgentError::Refused { agent, why: refusal.into() },
            FromAgent::Welcome(_)
            | FromAgent::Clock { .. }
            | FromAgent::Ready(_)
            | FromAgent::Started { .. }
            | FromAgent::Examples(_)
            | FromAgent::Part(_)
            | FromAgent::Progress(_)
            | FromAgent::Standing(_)
            | FromAgent::Published(_)
            | FromAgent::Log { .. }
            | FromAgent::End(_) => AgentError::OutOfTurn { agent, expected },
        }
    }
}

/// Measures the offset of the clock at the other end of a link.
pub(super) fn measure(link: &mut Link, epoch: Instant) -> Result<Offset, LinkError> {
    let mut probes = Vec::new();
    for number in 0..PROBES {
        let asked_ns = nanos(epoch.elapsed());
        link.send(&FromController::Probe { number })?;
        // Answers to earlier probes may still arrive.
        let answered_ns = loop {
            match link.expect(SILENCE_MAX)? {
                FromAgent::Clock { number: answered, now_ns } if answered == number => break now_ns,
                FromAgent::Clock { .. } => {}
                FromAgent::Failed { reason } => return Err(LinkError::GaveUp(reason)),
                FromAgent::Welcome(_)
                | FromAgent::Refused(_)
                | FromAgent::Ready(_)
                | FromAgent::Started { .. }
                | FromAgent::Examples(_)
                | FromAgent::Part(_)
                | FromAgent::Progress(_)
                | FromAgent::Standing(_)
                | FromAgent::Published(_)
                | FromAgent::Log { .. }
                | FromAgent::End(_) => return Err(LinkError::Garbled("expected a clock reading".to_owned())),
            }
        };
        probes.push(Probe { asked_ns, answered_ns, heard_ns: nanos(epoch.elapsed()) });
    }
    Offset::of(&probes).ok_or(LinkError::Closed)
}

/// Runs `work` for all agents concurrently; the first error in their order is returned.
fn at_once<A: Send, B: Send>(
    agents: Vec<A>,
    work: impl Fn(A) -> Result<B, AgentError> + Sync,
) -> Result<Vec<B>, AgentError> {
    let work = &work;
    thread::scope(|scope| {
        let started: Vec<_> = agents
            .into_iter()
            .map(|agent| {
                thread::Builder::new().name("agent".to_owned()).spawn_scoped(scope, move || work(agent))
            })
            .collect();
        let finish = |thread: std::io::Result<thread::ScopedJoinHandle<'_, Result<B, AgentError>>>| {
            let thread = thread.map_err(AgentError::Thread)?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        // Join all threads, even after an error.
        let finished: Vec<_> = started.into_iter().map(finish).collect();
        finished.into_iter().collect()
    })
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
