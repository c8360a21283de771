//! Monitors the servers under test, and the generator itself.
//!
//! Processes on this machine are sampled from `/proc`, servers anywhere through their Prometheus endpoints; the
//! generator's process, its threads and the machine's steal time from `/proc`. All are sampled once a second on the
//! run's own clock, so they share one time axis. A failed sample is counted and its value left unknown, never
//! estimated, and a server that does not respond never delays the run.

mod exposition;
pub(crate) mod fetch;
mod figure;
mod own;
mod process;
mod rows;
mod sampler;
mod scrape;

use std::error::Error;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustls::ClientConfig;

pub use exposition::{BadLine, Sample, samples};
pub use figure::{BadFigure, Figures};
pub use rows::MonitorRow;

use crate::statistics::limits::THREADS_TOLD_MAX;
use crate::statistics::{GeneratorFacts, ServerSamples, ThreadUse};
use own::{OwnReading, UsageTracker};
use process::MonitoredProcess;
use rows::Rows;
use sampler::Sampler;
use scrape::{Endpoint, Scraping};

/// Maximum number of servers that one monitor watches.
pub const SERVERS_MAX: usize = 64;

/// What to monitor besides the generator itself.
#[derive(Clone, Debug)]
pub struct MonitorConfig {
    /// Processes of this machine.
    pub pids: Vec<u32>,
    /// URLs of Prometheus endpoints.
    pub scrapes: Vec<String>,
    /// Additional figures of the endpoints' pages; see [`Figures::parse`].
    pub figures: Vec<String>,
    /// The start of the run, which is second 0 of the rows. It may be in the future.
    pub epoch: Instant,
    /// TLS of `https` endpoints; `None` trusts the machine's own authorities.
    pub tls: Option<Arc<ClientConfig>>,
}

impl MonitorConfig {
    /// Returns a configuration that monitors only the generator.
    #[must_use]
    pub fn new(epoch: Instant) -> Self {
        Self { pids: Vec::new(), scrapes: Vec::new(), figures: Vec::new(), epoch, tls: None }
    }
}

/// Why monitoring could not start.
#[derive(Debug)]
pub enum MonitorError {
    /// This process cannot be monitored.
    Process(u32, io::Error),
    /// This is not a valid URL of an endpoint.
    Url(String),
    /// A figure is invalid.
    Figure(BadFigure),
    /// More than [`SERVERS_MAX`] servers.
    TooMany(usize),
    /// TLS cannot be set up.
    Tls(rustls::Error),
    /// The generator's own process cannot be read.
    Own(io::Error),
    /// A thread cannot be started.
    Thread(io::Error),
}

impl fmt::Display for MonitorError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Process(pid, error) => write!(
                formatter,
                "cannot monitor process {pid}: {error}; use the id of a process on this machine (see pgrep)"
            ),
            Self::Url(reason) => {
                write!(formatter, "{reason}; use a complete URL, such as http://127.0.0.1:4001/metrics")
            }
            Self::Figure(error) => write!(formatter, "{error}"),
            Self::TooMany(count) => {
                write!(formatter, "too many servers to monitor: {count}, at most {SERVERS_MAX}")
            }
            Self::Tls(error) => write!(formatter, "cannot set up TLS for scraping: {error}"),
            Self::Own(error) => write!(formatter, "the generator cannot monitor itself: {error}"),
            Self::Thread(error) => write!(formatter, "cannot start the monitor's thread: {error}"),
        }
    }
}

impl Error for MonitorError {}

/// A running monitor.
#[derive(Debug)]
pub struct Monitor {
    rows: Arc<Rows>,
    stop: SyncSender<()>,
    sampler: JoinHandle<UsageTracker>,
    scraping: Option<Scraping>,
}

/// The results of the whole run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GeneratorSamples {
    /// Mean CPU usage of the generator, in cores.
    pub cpu_mean: f64,
    /// Mean CPU usage of each thread, busiest first. Of the threads that ended before the run did, only the busiest is
    /// included.
    pub threads: Vec<ThreadUse>,
    /// Mean share of the machine's CPU time stolen by the hypervisor, 0 … 1.
    pub steal_mean: f64,
    /// Peak resident memory of the generator in bytes.
    pub rss_max_bytes: u64,
    /// Number of samples and failures of each server.
    pub servers: Vec<ServerSamples>,
}

impl GeneratorSamples {
    /// Writes the results into the generator's facts.
    pub fn fill(&self, facts: &mut GeneratorFacts) {
        facts.cpu_mean = self.cpu_mean;
        facts.thread_cpu_max = self.threads.first().map_or(0.0, |thread| thread.cpu);
        facts.steal_mean = self.steal_mean;
        facts.rss_max_bytes = self.rss_max_bytes;
        facts.threads = self.threads.iter().take(THREADS_TOLD_MAX).cloned().collect();
        self.fill_servers(facts);
    }

    /// Writes only the servers' samples: if agents generate the load, this machine is not a generator.
    pub fn fill_servers(&self, facts: &mut GeneratorFacts) {
        facts.samples_failed += self.servers.iter().map(|server| server.failed).sum::<u64>();
        facts.servers_sampled.clone_from(&self.servers);
    }
}

impl Monitor {
    /// Starts monitoring.
    ///
    /// # Errors
    /// If something that was asked for cannot be monitored at all. An endpoint that does not respond is not an error.
    pub fn start(config: MonitorConfig) -> Result<Self, MonitorError> {
        let now = Instant::now();
        let count = config.pids.len() + config.scrapes.len();
        if count > SERVERS_MAX {
            return Err(MonitorError::TooMany(count));
        }
        let figures = Figures::parse(&config.figures).map_err(MonitorError::Figure)?;
        let watch = |pid: &u32| {
            MonitoredProcess::begin(*pid, now).map_err(|error| MonitorError::Process(*pid, error))
        };
        let watched = config.pids.iter().map(watch).collect::<Result<Vec<_>, _>>()?;
        let endpoints = endpoints(&config.scrapes, watched.len())?;
        let own = UsageTracker::open(OwnReading::read(now).map_err(MonitorError::Own)?);

        let names = watched.iter().map(|process| process.name().to_owned()).chain(config.scrapes);
        let rows = Arc::new(Rows::new(config.epoch, names));
        let scraping = if endpoints.is_empty() {
            None
        } else {
            let tls = match (config.tls, endpoints.iter().any(|endpoint| endpoint.address.tls)) {
                (None, true) => Some(fetch::native_tls().map_err(MonitorError::Tls)?),
                (given, _) => given,
            };
            let rows = Arc::clone(&rows);
            Some(Scraping::start(endpoints, figures, tls, rows).map_err(MonitorError::Thread)?)
        };
        let (stop, stopped) = mpsc::sync_channel(1);
        let sampler = {
            let rows = Arc::clone(&rows);
            let sample = move || {
                engine::TimeSlices::Short.request();
                Sampler::new(rows, watched, own).run(&stopped)
            };
            thread::Builder::new().name("monitor".to_owned()).spawn(sample).map_err(MonitorError::Thread)?
        };
        Ok(Self { rows, stop, sampler, scraping })
    }

    /// Returns the row of a second. It is complete shortly after the second has ended, and kept for ten minutes.
    #[must_use]
    pub fn row(&self, second: u32) -> MonitorRow {
        self.rows.row(second)
    }

    /// Returns new problems since the last call: a server that did not respond, a process that is gone.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        self.rows.take_notices()
    }

    /// Stops monitoring and returns the results.
    pub fn finish(self) -> GeneratorSamples {
        if let Some(scraping) = self.scraping {
            scraping.stop();
        }
        // The sampler ends early only by a panic; then nobody receives this.
        let _ = self.stop.try_send(());
        let ended = self.sampler.join();
        let servers = self.rows.tallies();
        match ended {
            Ok(own) => GeneratorSamples {
                cpu_mean: own.cpu_mean(),
                threads: own.threads(),
                steal_mean: own.steal_mean(),
                rss_max_bytes: own.resident_bytes_max(),
                servers,
            },
            Err(_panicked) => GeneratorSamples { servers, ..GeneratorSamples::default() },
        }
    }
}

fn endpoints(urls: &[String], first: usize) -> Result<Vec<Endpoint>, MonitorError> {
    let endpoint = |(index, url): (usize, &String)| {
        let address = fetch::PageAddress::parse(url).map_err(MonitorError::Url)?;
        Ok(Endpoint { server: first + index, address })
    };
    urls.iter().enumerate().map(endpoint).collect()
}
