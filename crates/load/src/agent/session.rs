//! An agent's session with one controller: from its welcome to the end of its run.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::bundle;
use super::link::{Link, LinkError};
use super::logs::{self, SendError};
use super::protocol::{
    BEAT, End, FILES_BYTES_MAX, FILES_MAX, FromAgent, FromController, Go, Log, PREPARATION_MAX, Prepare,
    Progress, Ready, SILENCE_MAX,
};
use super::serve::AgentOptions;
use crate::crowd::Crowd;
use crate::doctor::{self, Examination, TargetAddress};
use crate::floor;
use crate::live::{Stop, Users};
use crate::monitor::MonitorConfig;
use crate::player::{Options, Share, Standing};
use crate::record::{LogForm, RunFolder};
use crate::run::{Assignment, Local, Sampling, Signals};
use crate::scenario::plan::Plan;
use crate::scenario::{self, Context};
use crate::schedule;
use crate::statistics::{RunFacts, Statistics};

/// How long each attempt to receive a message waits. Users are played by separate threads.
const INTERVAL: Duration = Duration::from_millis(20);
/// Number of parts that may wait for the controller's connection; beyond it the next part grows instead.
const PARTS_MAX: usize = 4;
/// Number of clients for which the doctor checks a machine if the plan does not bound the number of users.
const UNKNOWN_CROWD: u64 = 1_000;

/// Why a session ended before its run did.
#[derive(Debug)]
pub(super) enum SessionError {
    /// The connection has failed; all users were cut off.
    Link(LinkError),
    /// The request cannot be fulfilled; the controller has been told.
    Failed(String),
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(error) => error.fmt(f),
            Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl From<LinkError> for SessionError {
    fn from(error: LinkError) -> Self {
        Self::Link(error)
    }
}

/// An agent's session with one controller.
pub(super) struct Session<'a> {
    link: Link,
    options: &'a AgentOptions,
    signals: &'a Signals,
    /// Origin of the agent's clock.
    epoch: Instant,
    stage: Stage,
}

/// The progress of the session.
enum Stage {
    /// Nothing to play yet.
    Idle,
    /// It is known what to play.
    Prepared(Box<Part>),
    /// Users are playing.
    Playing(Box<Playing>),
    /// The controller has received everything.
    Done,
}

/// The agent's part of the run.
struct Part {
    prepare: Prepare,
    plan: Arc<Plan>,
    ready: Ready,
    /// The folder with the scenario's files; the player reads the certificate authorities when it starts.
    _files: TempDir,
}

/// A run in progress.
struct Playing {
    part: Part,
    local: Local,
    sampling: Sampling,
    parts: Receiver<Statistics>,
    last_beat: Instant,
    /// The state last reported, if there are other agents.
    standing: Option<Standing>,
    /// Number of error examples that the controller has received.
    examples_told: usize,
    kept: Option<Kept>,
}

/// The results that stay on the agent if its controller requests an event log.
struct Kept {
    folder: RunFolder,
    facts: RunFacts,
    statistics: Statistics,
}

impl<'a> Session<'a> {
    pub(super) fn new(link: Link, options: &'a AgentOptions, signals: &'a Signals) -> Self {
        Self { link, options, signals, epoch: Instant::now(), stage: Stage::Idle }
    }

    /// Follows the controller's commands until the run is over or the controller is gone, which ends any run in
    /// progress.
    pub(super) fn run(mut self) -> Result<(), SessionError> {
        match self.go_on() {
            Err(SessionError::Failed(reason)) => {
                // The session is over whether or not the controller receives this.
                let _ = self.link.send(&FromAgent::Failed { reason: reason.clone() });
                Err(SessionError::Failed(reason))
            }
            // The controller disconnects when it has what it wanted.
            Err(SessionError::Link(LinkError::Closed)) if !matches!(self.stage, Stage::Playing(_)) => Ok(()),
            ended => ended,
        }
    }

    fn go_on(&mut self) -> Result<(), SessionError> {
        loop {
            if self.signals.stop() != Stop::No {
                return Err(SessionError::Failed("the agent was stopped by a signal".to_owned()));
            }
            match self.link.receive(INTERVAL)? {
                Some(message) => self.hear(message)?,
                None if self.link.silent_for() > self.patience() => {
                    return Err(LinkError::Silent(self.patience()).into());
                }
                None => {}
            }
            self.play()?;
        }
    }

    /// Returns how long the controller may be silent: while other agents prepare it has nothing to send.
    fn patience(&self) -> Duration {
        match self.stage {
            Stage::Idle | Stage::Prepared(_) => PREPARATION_MAX,
            Stage::Playing(_) | Stage::Done => SILENCE_MAX,
        }
    }

    fn hear(&mut self, message: FromController) -> Result<(), SessionError> {
        match message {
            FromController::Probe { number } => {
                let now_ns = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
                Ok(self.link.send(&FromAgent::Clock { number, now_ns })?)
            }
            FromController::Prepare(prepare) => self.prepare(*prepare),
            FromController::Go(go) => self.start(go),
            FromController::Word(word) => {
                if let Stage::Playing(playing) = &self.stage {
                    playing.local.hear(word);
                }
                Ok(())
            }
            FromController::Stop => {
                if let Stage::Playing(playing) = &self.stage {
                    playing.local.stop();
                }
                Ok(())
            }
            FromController::Abort => {
                if let Stage::Playing(playing) = &self.stage {
                    playing.local.abort();
                }
                Ok(())
            }
            FromController::Hello(_) | FromController::File(_) => {
                Err(SessionError::Failed("unexpected message from the controller".to_owned()))
            }
        }
    }

    /// Reads the scenario with its files and examines the machine.
    fn prepare(&mut self, prepare: Prepare) -> Result<(), SessionError> {
        if matches!(self.stage, Stage::Playing(_)) || prepare.files > FILES_MAX {
            return Err(SessionError::Failed("unexpected message from the controller".to_owned()));
        }
        let folder =
            tempfile::tempdir().map_err(failed("cannot create a folder for the scenario's files"))?;
        let mut left = FILES_BYTES_MAX;
        for _ in 0..prepare.files {
            let FromController::File(file) = self.link.expect(SILENCE_MAX)? else {
                return Err(SessionError::Failed("expected one of the scenario's files".to_owned()));
            };
            left = left.checked_sub(file.content.len()).ok_or_else(|| {
                SessionError::Failed(format!("the scenario's files exceed {FILES_BYTES_MAX} bytes"))
            })?;
            bundle::unpack(&file, folder.path()).map_err(failed("cannot store a file of the scenario"))?;
        }
        let scenario = scenario::read(&prepare.scenario, "scenario", &BTreeMap::new());
        let context = Context { file_name: "scenario", base_dir: folder.path() };
        let plan = scenario.and_then(|scenario| scenario.compile(&context));
        let plan = plan.map_err(|errors| SessionError::Failed(errors.to_string()))?;
        let examination = examine(&plan, &prepare)?;
        let floor = prepare.floor.map(measured_floor).transpose()?.unwrap_or_default();
        let sources = crate::player::source_names(&plan.sources);
        let ready = Ready { examination, floor, sources };
        self.stage = Stage::Prepared(Box::new(Part {
            prepare,
            plan: Arc::new(plan),
            ready: ready.clone(),
            _files: folder,
        }));
        Ok(self.link.send(&FromAgent::Ready(Box::new(ready)))?)
    }

    fn start(&mut self, go: Go) -> Result<(), SessionError> {
        let Stage::Prepared(part) = std::mem::replace(&mut self.stage, Stage::Idle) else {
            return Err(SessionError::Failed("no run has been prepared".to_owned()));
        };
        let start = self.epoch + Duration::from_nanos(go.start_ns);
        let playing =
            Playing::start(*part, self.options, start, go.start_unix_ns).map_err(SessionError::Failed)?;
        self.stage = Stage::Playing(Box::new(playing));
        eprintln!("stampede: starting a run");
        let late = Instant::now().saturating_duration_since(start);
        Ok(self.link.send(&FromAgent::Started { late_us: late.as_micros() as u64 })?)
    }

    /// Sends new statistics, and the end of the run.
    fn play(&mut self) -> Result<(), SessionError> {
        let Stage::Playing(playing) = &mut self.stage else { return Ok(()) };
        let Playing { local, sampling, .. } = &mut **playing;
        sampling.close_seconds(|second, sample| local.sample(second, sample));
        while let Ok(part) = playing.parts.try_recv() {
            if let Some(kept) = &mut playing.kept {
                kept.statistics.merge(&part);
            }
            playing.tell_examples(&mut self.link)?;
            self.link.send(&FromAgent::Part(Box::new(part)))?;
        }
        if playing.last_beat.elapsed() >= BEAT {
            playing.last_beat = Instant::now();
            self.link.send(&FromAgent::Progress(playing.progress()))?;
        }
        playing.meet(&mut self.link)?;
        if !playing.local.has_ended() {
            return Ok(());
        }
        playing.tell_examples(&mut self.link)?;
        // The log may take long to send.
        self.link.send(&FromAgent::Progress(playing.progress()))?;
        let Stage::Playing(playing) = std::mem::replace(&mut self.stage, Stage::Done) else { return Ok(()) };
        let (late_parts, mut end) = playing.finish().map_err(SessionError::Failed)?;
        for part in late_parts {
            self.link.send(&FromAgent::Part(Box::new(part)))?;
        }
        match end.folder.as_ref().map(|folder| logs::send(Path::new(folder), &mut self.link)) {
            Some(Err(SendError::Link(error))) => return Err(error.into()),
            Some(Err(SendError::Stays(loss))) => end.losses.push(loss),
            Some(Ok(())) | None => {}
        }
        Ok(self.link.send(&FromAgent::End(Box::new(end)))?)
    }
}

impl Playing {
    fn start(part: Part, options: &AgentOptions, start: Instant, start_unix_ns: u64) -> Result<Self, String> {
        let Part { prepare, plan, .. } = &part;
        let log = match prepare.log {
            Log::None => LogForm::None,
            Log::Csv => LogForm::Csv,
            Log::Zstd => LogForm::Zstd,
        };
        let kept = match prepare.log {
            Log::None => None,
            Log::Csv | Log::Zstd => Some(Kept::begin(&part, options, start_unix_ns)?),
        };
        let sampling = Sampling::start(MonitorConfig::new(start)).map_err(|error| error.to_string())?;
        let (sink, parts) = sync_channel(PARTS_MAX);
        let local = Local::start(Assignment {
            plan: Arc::clone(plan),
            options: Options {
                shards: prepare.threads,
                share: share(prepare),
                start,
                start_unix_ns,
                run_tag: prepare.run_tag,
            },
            folder: kept.as_ref().map(|kept| kept.folder.clone()),
            log,
            // Each machine draws its samples independently.
            samples_seed: prepare.keeps_samples.then_some(plan.seed ^ (prepare.index as u64) << 32),
            parts: Some(sink),
        });
        let local = local.map_err(|error| error.to_string())?;
        let last_beat = Instant::now();
        Ok(Self { part, local, sampling, parts, last_beat, standing: None, examples_told: 0, kept })
    }

    /// Sends the first errors of kinds not reported before, each once, up to the limit for a run.
    fn tell_examples(&mut self, link: &mut Link) -> Result<(), LinkError> {
        let new = self.local.examples_since(self.examples_told);
        if new.is_empty() {
            return Ok(());
        }
        self.examples_told += new.len();
        link.send(&FromAgent::Examples(new))
    }

    /// Sends this agent's state as needed to coordinate all agents, if it has changed.
    fn meet(&mut self, link: &mut Link) -> Result<(), LinkError> {
        let standing = self.local.standing();
        if self.part.prepare.weights.len() < 2 || self.standing.as_ref() == Some(&standing) {
            return Ok(());
        }
        link.send(&FromAgent::Standing(standing.clone()))?;
        let was_empty = self.standing.as_ref().is_some_and(|before| before.is_empty);
        if standing.is_empty && !was_empty {
            link.send(&FromAgent::Published(self.local.publications()))?;
        }
        self.standing = Some(standing);
        Ok(())
    }

    fn progress(&self) -> Progress {
        let Users { wanted, active, connected, joined } = self.local.users();
        let (phase, draining, over) = (self.local.phase(), self.local.is_draining(), self.local.has_ended());
        Progress { wanted, active, connected, joined, phase, draining, over }
    }

    /// Returns the parts that were still waiting, and the end.
    fn finish(self) -> Result<(Vec<Statistics>, End), String> {
        let Self { local, mut sampling, parts, kept, part, .. } = self;
        sampling.close_last_second(|second, sample| local.sample(second, sample));
        let played = local.finish().map_err(|error| error.to_string())?;
        let mut generator = played.generator;
        sampling.finish().fill(&mut generator);
        let late_parts: Vec<Statistics> = parts.try_iter().collect();
        let mut losses = played.losses;
        let mut folder = None;
        if let Some(mut kept) = kept {
            late_parts.iter().for_each(|part| kept.statistics.merge(part));
            kept.statistics.merge(&played.statistics);
            kept.facts = RunFacts {
                seconds: played.seconds,
                ended_by: played.ended_by.clone(),
                sources: played.sources,
                generator: generator.clone(),
                examples: played.examples.clone(),
                losses: losses.clone(),
                log_rows: played.log_rows,
                labels: part.plan.labels.clone(),
                ..kept.facts
            };
            folder = Some(kept.folder.path().display().to_string());
            losses.extend(
                kept.folder.write_results(&kept.statistics, &kept.facts).err().map(|error| error.to_string()),
            );
        }
        let end = End {
            ended_by: played.ended_by,
            seconds: played.seconds,
            rest: played.statistics,
            examples: played.examples,
            generator,
            log_rows: played.log_rows,
            folder,
            losses,
        };
        Ok((late_parts, end))
    }
}

impl Kept {
    fn begin(part: &Part, options: &AgentOptions, start_unix_ns: u64) -> Result<Self, String> {
        let plan = &part.plan;
        let folder = RunFolder::create(&options.out, &plan.name).map_err(|error| error.to_string())?;
        let started = jiff::Timestamp::from_nanosecond(i128::from(start_unix_ns));
        let facts = RunFacts {
            format: RunFacts::FORMAT,
            scenario: plan.name.clone(),
            seed: plan.seed,
            started: started.map(|time| format!("{time:.3}")).unwrap_or_default(),
            labels: plan.labels.clone(),
            sources: crate::player::source_names(&plan.sources),
            thresholds: plan.thresholds.clone(),
            machines: vec![part.ready.machine()],
            ..RunFacts::default()
        };
        folder.write_scenario(&part.prepare.scenario).map_err(|error| error.to_string())?;
        folder.write_facts(&facts).map_err(|error| error.to_string())?;
        Ok(Self { folder, facts, statistics: Statistics::new() })
    }
}

fn share(prepare: &Prepare) -> Share {
    Share { index: prepare.index, weights: prepare.weights.clone() }
}

/// Examines the machine for its share of the load.
fn examine(plan: &Plan, prepare: &Prepare) -> Result<Examination, SessionError> {
    let wrong =
        |error: &dyn fmt::Display| SessionError::Failed(format!("this agent's share of the users: {error}"));
    let share =
        schedule::Share::of_machine(&prepare.weights, prepare.index).map_err(|error| wrong(&error))?;
    let crowd = Crowd::of(plan, &share).map_err(|error| wrong(&error))?;
    let clients = prepare.clients.or(crowd.at_once).unwrap_or(UNKNOWN_CROWD);
    let targets: Vec<TargetAddress> = match prepare.looks_at_targets {
        true => plan.targets.iter().map(TargetAddress::from).collect(),
        false => Vec::new(),
    };
    let tls = doctor::trust(plan).map_err(|error| SessionError::Failed(error.to_string()))?;
    Ok(doctor::examine(clients, &targets, &plan.sources, tls.as_ref()))
}

/// Measures the machine's floor, for the machine's facts.
fn measured_floor(pairs: u32) -> Result<Vec<(String, String)>, SessionError> {
    let report = floor::report(pairs as usize).map_err(|error| SessionError::Failed(error.to_string()))?;
    Ok(floor::facts(&report))
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> SessionError {
    move |error| SessionError::Failed(format!("{what}: {error}"))
}
