//! What to run, and how.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::Agents;
use crate::cli::RunArguments;
use crate::crowd::Crowd;
use crate::record::LogForm;
use crate::scenario::plan::{Plan, Target};
use crate::schedule::Share;

/// The input of a run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The compiled scenario.
    pub plan: Arc<Plan>,
    /// The scenario as YAML, for the run's folder and for agents.
    pub yaml: String,
    /// The folder to which file names in the scenario are relative.
    pub base_dir: PathBuf,
    /// Whether the C10K test's random samples are kept as well.
    pub keeps_samples: bool,
}

impl Job {
    /// Returns the targets' URLs without scheme, comma-separated.
    #[must_use]
    pub fn target(&self) -> String {
        let url = |target: &Target| format!("{}:{}{}", target.host, target.port, target.base_path);
        self.plan.targets.iter().map(url).collect::<Vec<_>>().join(", ")
    }

    /// Returns how many users there are in total and at once; `None` if the plan cannot be played. Closed phases count
    /// each of their users once.
    #[must_use]
    pub fn crowd(&self) -> Option<Crowd> {
        let share = Share::of_machine(&[1.0], 0).ok()?;
        Crowd::of(&self.plan, &share).ok()
    }

    /// Returns the planned length of the run in seconds, if each phase has a duration or the run itself has one.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        let load = &self.plan.load;
        let phases: Option<f64> =
            load.phases.iter().map(|phase| phase.duration.map(|time| time.as_secs_f64())).sum();
        let phases = phases.map(|seconds| seconds * f64::from(load.rounds));
        let whole = load.duration.map(|time| time.as_secs_f64());
        match (phases, whole) {
            (Some(phases), Some(whole)) => Some(phases.min(whole)),
            (phases, whole) => phases.or(whole),
        }
    }
}

/// How a job is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Parent of the run's folder.
    pub out: PathBuf,
    /// Format of the event log.
    pub log: LogForm,
    /// Address on which the dashboard is served.
    pub dashboard: Option<SocketAddr>,
    /// Address on which only the metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Processes to sample.
    pub pids: Vec<u32>,
    /// Prometheus endpoints to read.
    pub scrapes: Vec<String>,
    /// Names of the metrics to keep from those endpoints.
    pub figures: Vec<String>,
    /// Number of player threads; `None` chooses it automatically.
    pub threads: Option<usize>,
    /// Number of connection pairs with which the machine's floor is measured before the run; `None` skips it.
    pub floor: Option<u32>,
    /// The machines that play the users, if not this one.
    pub agents: Option<Agents>,
    /// What is shown during the run.
    pub show: Show,
}

/// What is shown on the terminal during a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// A full-screen view where there is a terminal, otherwise a line from time to time.
    View,
    /// A line at this interval, in seconds.
    Lines(u64),
    /// Nothing.
    Nothing,
}

impl Settings {
    /// Builds settings from the flags; where they do not set the event log, the plan does.
    #[must_use]
    pub fn new(flags: &RunArguments, plan: &Plan) -> Self {
        let log = match flags.event_log {
            Some(crate::cli::EventLog::Zstd) => LogForm::Zstd,
            Some(crate::cli::EventLog::Csv) => LogForm::Csv,
            Some(crate::cli::EventLog::None) => LogForm::None,
            None if plan.event_log => LogForm::Zstd,
            None => LogForm::None,
        };
        Self {
            out: flags.out.clone(),
            log,
            dashboard: flags.dashboard,
            metrics: flags.metrics,
            pids: flags.pid.clone(),
            scrapes: flags.scrape.clone(),
            figures: flags.figure.clone(),
            threads: flags.threads,
            floor: flags.floor,
            agents: Agents::new(&flags.agents, flags.token.as_deref(), flags.agent_ca.as_deref()),
            show: if flags.quiet || flags.json { Show::Nothing } else { Show::View },
        }
    }
}
