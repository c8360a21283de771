//! Users played on this machine.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::error::RunError;
use super::job::{Job, Settings};
use super::names::RunNames;
use crate::live::Users;
use crate::player::{self, Gauges, Options, Player, Share};
use crate::record::{Collector, CollectorConfig, CollectorHandle, LiveRow, RunFolder};
use crate::statistics::{ErrorExample, MachineSample, Statistics};

/// Users being played, and what counts them.
pub(super) struct Local {
    player: Player,
    collector: CollectorHandle,
    gauges: Arc<Gauges>,
    names: Arc<RunNames>,
}

/// What was played.
pub(super) struct Played {
    /// Everything counted.
    pub(super) statistics: Statistics,
    /// What ended it.
    pub(super) ended_by: String,
    /// What the first error of each kind said.
    pub(super) examples: Vec<ErrorExample>,
    /// Source addresses by their index.
    pub(super) sources: Vec<String>,
    /// Threads with connections.
    pub(super) shards: u32,
    /// How long shards waited for the collector or the log, in milliseconds.
    pub(super) stalled_ms: u64,
    /// What could not be kept of the run, if anything.
    pub(super) losses: Vec<String>,
}

impl Local {
    pub(super) fn start(
        job: &Job,
        settings: &Settings,
        folder: &RunFolder,
        start: Instant,
        started: SystemTime,
    ) -> Result<Self, RunError> {
        let names = Arc::new(RunNames { labels: job.plan.labels.clone(), ..RunNames::default() });
        let collector = Collector::start(CollectorConfig {
            start,
            folder: Some(folder.clone()),
            log: settings.log,
            names: Arc::clone(&names) as Arc<dyn crate::record::Names>,
            samples_seed: job.keeps_samples.then_some(job.plan.seed),
        })?;
        let options = Options {
            shards: settings.threads,
            share: Share::whole(),
            start,
            start_unix_ns: unix_ns(started),
            run_tag: random_tag()?,
        };
        let player = player::start(Arc::clone(&job.plan), options, collector.sink())?;
        // Both are set here and nowhere else.
        let _ = names.rooms.set(player.rooms());
        let _ = names.sources.set(player.sources());
        Ok(Self { gauges: player.gauges(), player, collector, names })
    }

    pub(super) fn sources(&self) -> Vec<String> {
        self.names.sources.get().cloned().unwrap_or_default()
    }

    pub(super) fn live(&self) -> Arc<LiveRow> {
        self.collector.latest()
    }

    pub(super) fn users(&self) -> Users {
        Users {
            wanted: self.gauges.wanted.load(Relaxed),
            active: self.gauges.users.load(Relaxed),
            connected: self.gauges.connected.load(Relaxed),
            joined: self.gauges.joined.load(Relaxed),
        }
    }

    /// The place of the running phase among all phases of all rounds.
    pub(super) fn phase(&self) -> u64 {
        self.gauges.phase.load(Relaxed)
    }

    pub(super) fn sample(&self, second: u32, sample: MachineSample) {
        self.collector.sample(second, sample);
    }

    pub(super) fn is_draining(&self) -> bool {
        self.player.is_draining()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.player.has_ended()
    }

    pub(super) fn stop(&self) {
        self.player.stop();
    }

    pub(super) fn abort(&self) {
        self.player.abort();
    }

    pub(super) fn finish(self) -> Result<Played, RunError> {
        let (examples, shards) = (self.player.examples(), self.player.shards());
        let ended = self.player.wait();
        let collected = self.collector.finish();
        let stalled = self.gauges.stalled_ns.load(Relaxed) / 1_000_000 + collected.stalled.as_millis() as u64;
        let log_loss = collected.log.and_then(|log| log.error).map(|error| format!("the event log: {error}"));
        let sample_loss = collected.samples_error.map(|error| format!("the samples: {error}"));
        let example = |(kind, outcome, code, example): (_, _, _, crate::observe::Example)| ErrorExample {
            kind,
            outcome,
            code,
            text: example.text,
        };
        Ok(Played {
            statistics: collected.statistics,
            ended_by: ended.why.to_string(),
            examples: examples.all().into_iter().map(example).collect(),
            sources: self.names.sources.get().cloned().unwrap_or_default(),
            shards: shards as u32,
            stalled_ms: stalled,
            losses: log_loss.into_iter().chain(sample_loss).collect(),
        })
    }
}

fn unix_ns(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Tells this run's messages from another run's.
fn random_tag() -> Result<u16, RunError> {
    let mut bytes = [0; 2];
    getrandom::fill(&mut bytes).map_err(RunError::Random)?;
    Ok(u16::from_ne_bytes(bytes))
}
