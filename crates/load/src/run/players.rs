//! Where a run's users are played: on this machine or on agents.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::error::RunError;
use super::facts;
use super::findings::Found;
use super::job::{Job, Settings};
use super::local::{Assignment, Local, Played, random_tag, unix_ns};
use crate::agent::{Controller, RemoteRun, Request};
use crate::doctor::Examination;
use crate::live::Users;
use crate::monitor::GeneratorSamples;
use crate::player::{Options, Share};
use crate::record::{LiveRow, RunFolder};
use crate::statistics::{MachineFacts, MachineSample};

/// Time between examining the machine and the first user, enough for the threads of all shards to start.
const LEAD_TIME: Duration = Duration::from_millis(100);

/// Machines that are ready to play.
pub(super) enum Ready {
    /// This machine.
    Here(MachineFacts, Found),
    /// Agents.
    Away(Controller),
}

/// Users being played.
pub(super) enum Players {
    /// On this machine.
    Local(Local),
    /// On agents.
    Remote(RemoteRun),
}

impl Ready {
    /// Examines this machine, or connects to the agents and has them examine theirs.
    pub(super) fn new(job: &Job, settings: &Settings) -> Result<Self, RunError> {
        let Some(agents) = &settings.agents else {
            let (machine, found) = facts::machine(job, settings)?;
            return Ok(Self::Here(machine, found));
        };
        let mut controller = Controller::connect(agents)?;
        let request = Request {
            threads: settings.threads,
            keeps_samples: job.keeps_samples,
            log: settings.log,
            floor: settings.floor,
            ..Request::play(&job.yaml, &job.base_dir, random_tag()?)
        };
        controller.prepare(&request)?;
        Ok(Self::Away(controller))
    }

    pub(super) fn machines(&self) -> Vec<MachineFacts> {
        match self {
            Self::Here(machine, _) => vec![machine.clone()],
            Self::Away(controller) => controller.machines(),
        }
    }

    /// Returns the doctor's findings on each machine.
    pub(super) fn found(&self) -> Vec<Found> {
        let controller = match self {
            Self::Here(_, found) => return vec![found.clone()],
            Self::Away(controller) => controller,
        };
        let of_agent = |(address, examination): (&str, &Examination)| Found {
            machine: format!("{} ({address})", examination.facts.name),
            findings: examination.diagnosis.findings(),
        };
        controller.doctor().into_iter().map(of_agent).collect()
    }

    /// Returns how long before the first user the run must be started.
    pub(super) fn lead_time(&self) -> Duration {
        match self {
            Self::Here(..) => LEAD_TIME,
            Self::Away(controller) => controller.lead_time(),
        }
    }

    pub(super) fn start(
        self,
        job: &Job,
        settings: &Settings,
        folder: &RunFolder,
        start: Instant,
        started: SystemTime,
    ) -> Result<Players, RunError> {
        match self {
            Self::Here(..) => Ok(Players::Local(Local::start(Assignment {
                plan: Arc::clone(&job.plan),
                options: Options {
                    shards: settings.threads,
                    share: Share::whole(),
                    start,
                    start_unix_ns: unix_ns(started),
                    run_tag: random_tag()?,
                },
                folder: Some(folder.clone()),
                log: settings.log,
                samples_seed: job.keeps_samples.then_some(job.plan.seed),
                parts: None,
            })?)),
            Self::Away(controller) => {
                let labels = job.plan.labels.clone();
                Ok(Players::Remote(controller.start(start, unix_ns(started), labels, Some(folder))?))
            }
        }
    }
}

impl Players {
    pub(super) fn sources(&self) -> Vec<String> {
        match self {
            Self::Local(local) => local.sources(),
            Self::Remote(remote) => remote.sources(),
        }
    }

    pub(super) fn live(&self) -> Arc<LiveRow> {
        match self {
            Self::Local(local) => local.live(),
            Self::Remote(remote) => remote.latest(),
        }
    }

    pub(super) fn users(&self) -> Users {
        match self {
            Self::Local(local) => local.users(),
            Self::Remote(remote) => remote.users(),
        }
    }

    /// The index of the current phase among all phases of all rounds.
    pub(super) fn phase(&self) -> u64 {
        match self {
            Self::Local(local) => local.phase(),
            Self::Remote(remote) => remote.phase(),
        }
    }

    /// Adds the samples taken on this machine. If agents generate the load, only the server samples are kept.
    pub(super) fn sample(&self, second: u32, sample: MachineSample) {
        match self {
            Self::Local(local) => local.sample(second, sample),
            Self::Remote(remote) => {
                remote.sample(second, MachineSample { servers: sample.servers, ..MachineSample::default() });
            }
        }
    }

    pub(super) fn is_draining(&self) -> bool {
        match self {
            Self::Local(local) => local.is_draining(),
            Self::Remote(remote) => remote.is_draining(),
        }
    }

    /// Returns whether the last user has left. Agents may still send results and logs.
    pub(super) fn is_over(&self) -> bool {
        match self {
            Self::Local(local) => local.has_ended(),
            Self::Remote(remote) => remote.is_over(),
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        match self {
            Self::Local(local) => local.has_ended(),
            Self::Remote(remote) => remote.has_ended(),
        }
    }

    pub(super) fn stop(&self) {
        match self {
            Self::Local(local) => local.stop(),
            Self::Remote(remote) => remote.stop(),
        }
    }

    pub(super) fn abort(&self) {
        match self {
            Self::Local(local) => local.abort(),
            Self::Remote(remote) => remote.abort(),
        }
    }

    /// Waits for the end. `watched` has the samples taken on this machine during the run.
    pub(super) fn finish(self, watched: &GeneratorSamples) -> Result<Played, RunError> {
        match self {
            Self::Local(local) => {
                let mut played = local.finish()?;
                watched.fill(&mut played.generator);
                Ok(played)
            }
            Self::Remote(remote) => {
                let mut end = remote.finish();
                watched.fill_servers(&mut end.generator);
                Ok(Played {
                    statistics: end.statistics,
                    ended_by: end.ended_by,
                    seconds: end.seconds,
                    examples: end.examples,
                    sources: end.sources,
                    generator: end.generator,
                    machines: Some(end.machines),
                    losses: end.losses,
                    log_rows: end.log_rows,
                    notices: end.notices,
                })
            }
        }
    }
}
