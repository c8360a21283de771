//! What is to be run, and how.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use crate::agent::Agents;
use crate::cli::RunArguments;
use crate::crowd::Crowd;
use crate::record::LogForm;
use crate::scenario::plan::{Plan, Target};
use crate::schedule::Share;

/// What is to be run.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is played.
    pub plan: Arc<Plan>,
    /// The scenario as YAML, for the run's folder and for agents.
    pub yaml: String,
    /// Where the files are that the scenario names.
    pub base_dir: PathBuf,
    /// Whether the C10K test's random samples are kept too.
    pub keeps_samples: bool,
}

impl Job {
    /// The targets in words.
    #[must_use]
    pub fn target(&self) -> String {
        let url = |target: &Target| format!("{}:{}{}", target.host, target.port, target.base_path);
        self.plan.targets.iter().map(url).collect::<Vec<_>>().join(", ")
    }

    /// How many users come, and how many of them are there at once; `None` where the plan cannot be played. Closed
    /// phases count each of their users once.
    #[must_use]
    pub fn crowd(&self) -> Option<Crowd> {
        let share = Share::of_machine(&[1.0], 0).ok()?;
        Crowd::of(&self.plan, &share).ok()
    }

    /// How long the phases last together, if each has a length or the run itself has one, in seconds.
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

/// How it is run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folder for the run's folder.
    pub out: PathBuf,
    /// Form of the event log.
    pub log: LogForm,
    /// Where the dashboard is served.
    pub dashboard: Option<SocketAddr>,
    /// Where metrics are served alone.
    pub metrics: Option<SocketAddr>,
    /// Processes to sample.
    pub pids: Vec<u32>,
    /// Prometheus endpoints to read.
    pub scrapes: Vec<String>,
    /// Figures of those to keep.
    pub figures: Vec<String>,
    /// Threads with connections, if not as many as it takes.
    pub threads: Option<usize>,
    /// How many pairs the machine's floor is measured with first, if it is.
    pub floor: Option<u32>,
    /// The machines that play the users, if it is not this one.
    pub agents: Option<Agents>,
    /// What is shown meanwhile.
    pub show: Show,
}

/// What a terminal shows while a run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// A view of the whole run where there is a terminal, else a line now and then.
    View,
    /// A line at this interval, in seconds.
    Lines(u64),
    /// Nothing.
    Nothing,
}

impl Settings {
    /// As the flags say; the plan says whether there is an event log where they do not.
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
