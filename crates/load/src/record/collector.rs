//! The thread that counts a run's observations as it progresses.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::folder::{FolderError, RunFolder, SampleLog};
use super::log_thread::{LogThread, LogWritten};
use super::log_writer::LogForm;
use super::row::Names;
use crate::observe::Batch;
use crate::scenario::plan::Metric;
use crate::statistics::{
    Counts, ErrorCount, MachineSample, Population, RunFacts, SeriesRow, Statistics, Times, Verdict, verdict,
};

/// Maximum number of batches queued for the collector; beyond it shards block.
pub const BATCHES_MAX: usize = 256;
/// How long after its end a second is shown, when the shards' partly filled batches have arrived.
const BELATED: Duration = Duration::from_millis(150);
/// How often an idle collector checks whether it has been told to stop.
const IDLE: Duration = Duration::from_millis(50);
/// Maximum time for which a stopping collector keeps receiving if shards still send.
const ENDING_MAX: Duration = Duration::from_secs(10);

/// Configuration of a collector.
pub struct CollectorConfig {
    /// The start of the run, from which observation times count.
    pub start: Instant,
    /// Where the event log and the samples are written; without a folder there are none.
    pub folder: Option<RunFolder>,
    /// Format of the event log.
    pub log: LogForm,
    /// Names for the log and for the live view.
    pub names: Arc<dyn Names>,
    /// Seed of the C10K test's random samples; without it none are kept.
    pub samples_seed: Option<u64>,
    /// Channel for the statistics of each second, if they are to be passed on: counting then starts afresh, and the end
    /// returns only the rest. While the channel is full, the next part grows.
    pub parts: Option<SyncSender<Statistics>>,
    /// Whether other machines play users of the same run, so that publications have receivers there, too.
    pub spans_machines: bool,
}

/// Starts collectors.
pub struct Collector;

impl Collector {
    /// Starts the collector's thread and, if there is an event log, the log's thread.
    ///
    /// # Errors
    /// If a file or a thread cannot be created.
    pub fn start(config: CollectorConfig) -> Result<CollectorHandle, FolderError> {
        let folder = config.folder.as_ref();
        let log = match folder.map(|folder| folder.create_log(config.log)).transpose()?.flatten() {
            Some(file) => {
                let log = LogThread::start(file, config.log, Arc::clone(&config.names));
                Some(log.map_err(|error| in_folder(folder, error))?)
            }
            None => None,
        };
        let sample_log = folder.map(RunFolder::sample_log).transpose()?;
        let (sink, batches) = sync_channel(BATCHES_MAX);
        let shared = Arc::new(Shared::default());
        let statistics = beginning(config.samples_seed, config.spans_machines);
        let work = Work { config, statistics, log, sample_log, shared: Arc::clone(&shared), shown: None };
        let start_thread = thread::Builder::new().name("collector".to_owned());
        let folder = work.config.folder.clone();
        let thread = start_thread
            .spawn(move || work.run(&batches))
            .map_err(|error| in_folder(folder.as_ref(), error))?;
        Ok(CollectorHandle { sink, shared, thread: Some(thread) })
    }
}

fn beginning(samples_seed: Option<u64>, spans_machines: bool) -> Statistics {
    let statistics = samples_seed.map_or_else(Statistics::new, Statistics::with_samples);
    if spans_machines { statistics.of_several_machines() } else { statistics }
}

fn in_folder(folder: Option<&RunFolder>, error: io::Error) -> FolderError {
    FolderError { path: folder.map(|folder| folder.path().to_owned()).unwrap_or_default(), error }
}

/// A running collector. Dropping it stops it like [`CollectorHandle::finish`], so that the log is complete even after a
/// panic.
pub struct CollectorHandle {
    sink: SyncSender<Batch>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Collected>>,
}

/// State of the collector that others can read or change while it runs.
#[derive(Default)]
struct Shared {
    ending: AtomicBool,
    stalled_ns: AtomicU64,
    latest: Mutex<Arc<LiveRow>>,
    samples: Mutex<Vec<(u32, MachineSample)>>,
}

/// A snapshot of a run: its newest complete second, and the totals so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LiveRow {
    /// The newest complete second.
    pub row: SeriesRow,
    /// Totals so far.
    pub counts: Counts,
    /// Summaries of all times so far.
    pub times: Times,
    /// Message latency so far, from the intended send time.
    pub latency: Population,
    /// The generator's own send delay so far.
    pub send_lag: Population,
    /// Connect times so far.
    pub connect: Population,
    /// Errors so far, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Whether the figures so far are valid.
    pub verdict: Verdict,
}

impl LiveRow {
    /// Returns a snapshot of the statistics, with `second` as the newest complete second. Of `facts`, the name tables
    /// and the facts about the generator are used.
    #[must_use]
    pub fn of(statistics: &Statistics, second: u32, facts: &RunFacts) -> Self {
        let population = |metric| {
            statistics.population(&metric).map_or_else(Population::default, |times| times.into_owned())
        };
        Self {
            row: statistics.row(second),
            counts: statistics.counts(),
            times: statistics.times(facts),
            latency: population(Metric::Latency),
            send_lag: population(Metric::SendLag),
            connect: population(Metric::Connect),
            errors: statistics.errors(facts),
            verdict: verdict::judge_so_far(statistics, &facts.generator),
        }
    }
}

/// The result of a collector.
#[derive(Debug)]
pub struct Collected {
    /// All statistics.
    pub statistics: Statistics,
    /// The result of the event log; `None` if there was none.
    pub log: Option<LogWritten>,
    /// How long the collector was blocked by the log; shards may have been blocked by the collector meanwhile.
    pub stalled: Duration,
    /// Why samples could not be written, if that failed.
    pub samples_error: Option<FolderError>,
}

impl CollectorHandle {
    /// Returns the channel for the shards' batches.
    #[must_use]
    pub fn sink(&self) -> SyncSender<Batch> {
        self.sink.clone()
    }

    /// Returns the state of the run after its newest complete second; empty if statistics are passed on in parts.
    #[must_use]
    pub fn latest(&self) -> Arc<LiveRow> {
        Arc::clone(&self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds the samples of the machine and the servers for one second of the run.
    pub fn sample(&self, second: u32, sample: MachineSample) {
        self.shared.samples.lock().unwrap_or_else(PoisonError::into_inner).push((second, sample));
    }

    /// Returns how long the collector has been blocked by the log so far.
    #[must_use]
    pub fn stalled(&self) -> Duration {
        Duration::from_nanos(self.shared.stalled_ns.load(Ordering::Relaxed))
    }

    /// Counts and logs what has been sent, and stops. Call this when the shards have ended: anything sent afterwards is
    /// lost.
    ///
    /// # Panics
    /// If the collector's thread panicked.
    #[must_use]
    pub fn finish(mut self) -> Collected {
        self.shared.ending.store(true, Ordering::Release);
        let thread = self.thread.take().expect("it is taken here and when dropped only");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for CollectorHandle {
    fn drop(&mut self) {
        self.shared.ending.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has been reported already; another one here would hide why the handle is dropped.
            let _ = thread.join();
        }
    }
}

/// The state of the collector's thread.
struct Work {
    config: CollectorConfig,
    statistics: Statistics,
    log: Option<LogThread>,
    sample_log: Option<SampleLog>,
    shared: Arc<Shared>,
    /// The newest second that has been shown.
    shown: Option<u32>,
}

impl Work {
    fn run(mut self, batches: &Receiver<Batch>) -> Collected {
        let mut samples_error = None;
        while !self.shared.ending.load(Ordering::Acquire) {
            match batches.recv_timeout(IDLE) {
                Ok(batch) => self.count(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            samples_error = samples_error.or(self.take_samples().err());
            self.show_newest();
        }
        // Everything sent before the stop was requested is in the channel.
        let until = Instant::now() + ENDING_MAX;
        while let Ok(batch) = batches.try_recv()
            && Instant::now() < until
        {
            self.count(batch);
        }
        samples_error = samples_error.or(self.take_samples().err());
        let stalled = Duration::from_nanos(self.shared.stalled_ns.load(Ordering::Relaxed));
        Collected {
            statistics: self.statistics,
            log: self.log.map(LogThread::finish),
            stalled,
            samples_error,
        }
    }

    fn count(&mut self, batch: Batch) {
        for seen in &batch.observations {
            self.statistics.observe(seen);
        }
        if let Some(log) = &self.log {
            let waited = log.add(batch.observations);
            self.shared.stalled_ns.fetch_add(waited.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    fn take_samples(&mut self) -> Result<(), FolderError> {
        let samples =
            std::mem::take(&mut *self.shared.samples.lock().unwrap_or_else(PoisonError::into_inner));
        let mut written = Ok(());
        for (second, sample) in samples {
            if let Some(log) = &mut self.sample_log {
                written = written.and(log.add(second, &sample));
            }
            self.statistics.add_sample(second, sample);
        }
        written
    }

    /// Shows the newest complete second if it has not been shown.
    fn show_newest(&mut self) {
        let over = self.config.start.elapsed().saturating_sub(BELATED).as_secs();
        let Some(newest) = u32::try_from(over).ok().and_then(|over| over.checked_sub(1)) else { return };
        if self.shown.is_some_and(|shown| shown >= newest) {
            return;
        }
        self.shown = Some(newest);
        if self.config.parts.is_some() {
            return self.hand_on(newest);
        }
        let (labels, sources) = (self.labels(), self.sources());
        let facts =
            RunFacts { labels, sources, examples: self.config.names.examples(), ..RunFacts::default() };
        let live = Arc::new(LiveRow::of(&self.statistics, newest, &facts));
        *self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner) = live;
    }

    fn hand_on(&mut self, second: u32) {
        let Some(parts) = &self.config.parts else { return };
        // Each part draws its own samples, so each needs its own seed.
        let seed = self.config.samples_seed.map(|seed| seed.wrapping_add(u64::from(second) + 1));
        let next = beginning(seed, self.config.spans_machines);
        let part = std::mem::replace(&mut self.statistics, next);
        if let Err(TrySendError::Full(part) | TrySendError::Disconnected(part)) = parts.try_send(part) {
            self.statistics = part;
        }
    }

    fn labels(&self) -> Vec<String> {
        (0..u16::MAX).map_while(|label| self.config.names.label(label)).collect()
    }

    fn sources(&self) -> Vec<String> {
        (0..u16::MAX).map_while(|source| self.config.names.source(source)).collect()
    }
}
