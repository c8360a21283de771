//! Playing users on this machine.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::SyncSender;
use std::time::{SystemTime, UNIX_EPOCH};

use super::error::RunError;
use super::names::RunNames;
use crate::ledger::Publications;
use crate::live::Users;
use crate::player::{self, Gauges, Options, Player, Standing, Word};
use crate::record::{Collector, CollectorConfig, CollectorHandle, LiveRow, LogForm, Names, RunFolder};
use crate::scenario::plan::Plan;
use crate::statistics::{
    ErrorExample, GeneratorFacts, MachineFacts, MachineSample, PresenceLists, Statistics,
};

/// A running player and the collector that counts its observations.
pub(crate) struct Local {
    player: Player,
    collector: CollectorHandle,
    gauges: Arc<Gauges>,
    names: Arc<RunNames>,
}

/// What this machine is to play, and what is recorded.
pub(crate) struct Assignment {
    pub(crate) plan: Arc<Plan>,
    /// Which of the plan's users to play, and when.
    pub(crate) options: Options,
    /// Where the event log and the samples are written, if anywhere.
    pub(crate) folder: Option<RunFolder>,
    /// How the event log is written.
    pub(crate) log: LogForm,
    /// Seed of the C10K test's random samples, if they are kept.
    pub(crate) samples_seed: Option<u64>,
    /// Channel for the statistics of each second; `None` keeps them here until the end.
    pub(crate) parts: Option<SyncSender<Statistics>>,
}

/// The result of playing.
pub(crate) struct Played {
    /// All statistics, or those that were not passed on in parts.
    pub(crate) statistics: Statistics,
    /// Why the run ended.
    pub(crate) ended_by: String,
    /// Time from the start of the run until its last user had left, in seconds.
    pub(crate) seconds: f64,
    /// The text of the first error of each kind.
    pub(crate) examples: Vec<ErrorExample>,
    /// Source addresses by their index.
    pub(crate) sources: Vec<String>,
    /// Facts about the generator from the player and the collector.
    pub(crate) generator: GeneratorFacts,
    /// The machines, if more was learned about them during the run.
    pub(crate) machines: Option<Vec<MachineFacts>>,
    /// Parts of the recording that failed, if any.
    pub(crate) losses: Vec<String>,
    /// Number of rows written to the event log here.
    pub(crate) log_rows: u64,
    /// Further messages for the user.
    pub(crate) notices: Vec<String>,
}

impl Local {
    pub(crate) fn start(assignment: Assignment) -> Result<Self, RunError> {
        let Assignment { plan, options, folder, log, samples_seed, parts } = assignment;
        let names = Arc::new(RunNames { labels: plan.labels.clone(), ..RunNames::default() });
        let collector = Collector::start(CollectorConfig {
            start: options.start,
            folder,
            log,
            names: Arc::clone(&names) as Arc<dyn Names>,
            samples_seed,
            parts,
            spans_machines: options.share.weights.len() > 1,
        })?;
        let player = player::start(plan, options, collector.sink())?;
        // These cells are set only here.
        let _ = names.rooms.set(player.rooms());
        let _ = names.sources.set(player.sources());
        let _ = names.examples.set(player.examples());
        Ok(Self { gauges: player.gauges(), player, collector, names })
    }

    pub(crate) fn sources(&self) -> Vec<String> {
        self.names.sources.get().cloned().unwrap_or_default()
    }

    pub(crate) fn live(&self) -> Arc<LiveRow> {
        self.collector.latest()
    }

    pub(crate) fn users(&self) -> Users {
        Users {
            wanted: self.gauges.wanted.load(Relaxed),
            active: self.gauges.users.load(Relaxed),
            connected: self.gauges.connected.load(Relaxed),
            joined: self.gauges.joined.load(Relaxed),
        }
    }

    /// The index of the current phase among all phases of all rounds.
    pub(crate) fn phase(&self) -> u64 {
        self.gauges.phase.load(Relaxed)
    }

    pub(crate) fn sample(&self, second: u32, sample: MachineSample) {
        self.collector.sample(second, sample);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.player.is_draining()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.player.has_ended()
    }

    /// Returns this machine's state as needed to coordinate the machines of the run.
    pub(crate) fn standing(&self) -> Standing {
        self.player.standing()
    }

    /// Returns what this machine's users published, once all users have left.
    pub(crate) fn publications(&self) -> Publications {
        self.player.publications()
    }

    /// Returns the examples of the first error of each kind, skipping the first `known` kinds.
    pub(crate) fn examples_since(&self, known: usize) -> Vec<ErrorExample> {
        self.names.examples_since(known)
    }

    /// Delivers a word addressed to all machines of the run.
    pub(crate) fn hear(&self, word: Word) {
        self.player.hear(word);
    }

    pub(crate) fn stop(&self) {
        self.player.stop();
    }

    pub(crate) fn abort(&self) {
        self.player.abort();
    }

    pub(crate) fn finish(self) -> Result<Played, RunError> {
        let shards = self.player.shards();
        let ended = self.player.wait();
        let collected = self.collector.finish();
        let stalled = self.gauges.stalled_ns.load(Relaxed) / 1_000_000 + collected.stalled.as_millis() as u64;
        let log_rows = collected.log.as_ref().map_or(0, |log| log.rows);
        let log_loss = collected.log.and_then(|log| log.error).map(|error| format!("the event log: {error}"));
        let sample_loss = collected.samples_error.map(|error| format!("the samples: {error}"));
        let unjudged = self.names.rooms.get().map(|rooms| rooms.unjudged()).unwrap_or_default();
        Ok(Played {
            statistics: collected.statistics,
            ended_by: ended.why.to_string(),
            seconds: ended.after.as_secs_f64(),
            examples: self.names.examples(),
            sources: self.names.sources.get().cloned().unwrap_or_default(),
            generator: GeneratorFacts {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                shards: shards as u32,
                stalled_ms: stalled,
                deliveries_unjudged: unjudged.order.saturating_add(unjudged.stale),
                publications_unjudged: unjudged.publications,
                read_lag: ended.read_lag,
                cpu_wait: ended.cpu_wait,
                memory: ended.memory,
                presence: PresenceLists {
                    entries_max: self.gauges.present_max.load(Relaxed),
                    longest_max: self.gauges.present_longest_max.load(Relaxed),
                },
                ..GeneratorFacts::default()
            },
            machines: None,
            losses: log_loss.into_iter().chain(sample_loss).collect(),
            log_rows,
            notices: Vec::new(),
        })
    }
}

/// Nanoseconds since the Unix epoch.
pub(crate) fn unix_ns(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Returns a random tag that distinguishes this run's messages from another run's.
pub(crate) fn random_tag() -> Result<u16, RunError> {
    let mut bytes = [0; 2];
    getrandom::fill(&mut bytes).map_err(RunError::Random)?;
    Ok(u16::from_ne_bytes(bytes))
}
