//! The thread that counts a run while it goes on.

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

/// Batches on their way to the collector; beyond it shards wait.
pub const BATCHES_MAX: usize = 256;
/// A second is shown this long after its end, when the batches that shards were filling have come.
const BELATED: Duration = Duration::from_millis(150);
/// How often the collector looks whether it has been told to end, when nothing comes.
const IDLE: Duration = Duration::from_millis(50);
/// How long the collector goes on when it has been told to end, if shards still send.
const ENDING_MAX: Duration = Duration::from_secs(10);

/// How a collector works.
pub struct CollectorConfig {
    /// The run's start: what observations' times count from.
    pub start: Instant,
    /// Where the event log and the samples go; without a folder there is neither.
    pub folder: Option<RunFolder>,
    /// How the event log is written.
    pub log: LogForm,
    /// Names for the log and for the live view.
    pub names: Arc<dyn Names>,
    /// Seed of the C10K test's random samples; none are kept without it.
    pub samples_seed: Option<u64>,
    /// Where what was counted is handed on after each second, if it is: what is counted then begins anew, and the end
    /// leaves only the rest. While it is full, parts grow.
    pub parts: Option<SyncSender<Statistics>>,
    /// Whether other machines play users of the same run, so that publications have receivers there too.
    pub spans_machines: bool,
}

/// Starts collectors.
pub struct Collector;

impl Collector {
    /// Starts the collector's thread and, where there is an event log, the log's.
    ///
    /// # Errors
    /// If a file or a thread cannot be made.
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

/// A running collector. Dropping it ends it as [`CollectorHandle::finish`] does, so that the log is complete after a
/// panic too.
pub struct CollectorHandle {
    sink: SyncSender<Batch>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Collected>>,
}

/// What the collector's thread shows while it works.
#[derive(Default)]
struct Shared {
    ending: AtomicBool,
    stalled_ns: AtomicU64,
    latest: Mutex<Arc<LiveRow>>,
    samples: Mutex<Vec<(u32, MachineSample)>>,
}

/// A run as it goes on: its newest whole second, and everything so far.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LiveRow {
    /// The newest second that is over.
    pub row: SeriesRow,
    /// Totals so far.
    pub counts: Counts,
    /// Spreads so far.
    pub times: Times,
    /// Message latency so far, from the intended send time.
    pub latency: Population,
    /// The generator's own delay of sends so far.
    pub send_lag: Population,
    /// Times of connects so far.
    pub connect: Population,
    /// Errors so far, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Whether the figures so far are to be believed.
    pub verdict: Verdict,
}

impl LiveRow {
    /// What was counted so far, with `second` as the newest that is over. Of the facts the tables of names are
    /// needed, and what is known of the generator.
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

/// What a collector leaves.
#[derive(Debug)]
pub struct Collected {
    /// Everything counted.
    pub statistics: Statistics,
    /// What became of the event log; `None` if there was none.
    pub log: Option<LogWritten>,
    /// How long the collector waited for the log; shards may have waited for the collector meanwhile.
    pub stalled: Duration,
    /// Why samples could not be written, if so.
    pub samples_error: Option<FolderError>,
}

impl CollectorHandle {
    /// Where shards send their batches.
    #[must_use]
    pub fn sink(&self) -> SyncSender<Batch> {
        self.sink.clone()
    }

    /// The run as it stood after its newest whole second; nothing where parts are handed on.
    #[must_use]
    pub fn latest(&self) -> Arc<LiveRow> {
        Arc::clone(&self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds what was sampled of the machine and the servers in a second of the run.
    pub fn sample(&self, second: u32, sample: MachineSample) {
        self.shared.samples.lock().unwrap_or_else(PoisonError::into_inner).push((second, sample));
    }

    /// How long the collector has waited for the log so far.
    #[must_use]
    pub fn stalled(&self) -> Duration {
        Duration::from_nanos(self.shared.stalled_ns.load(Ordering::Relaxed))
    }

    /// Counts and logs what has been sent, and ends. Called when the shards have ended: what is sent afterwards is lost.
    ///
    /// # Panics
    /// If the collector's thread did.
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
            // Its panic, if any, has been reported; another one now would hide why the handle is dropped.
            let _ = thread.join();
        }
    }
}

/// The collector's thread.
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
        // What was sent before the end was told is there to be taken.
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

    /// Shows the newest second that is over and has not been shown.
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
        // Each part draws its samples anew, so each has a seed of its own.
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
