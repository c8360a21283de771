//! Watching a run from outside its users: the servers under test, and the generator itself.
//!
//! Processes of this machine are sampled from `/proc`, servers anywhere by their Prometheus endpoints, the generator's
//! process, threads and the machine's stolen time from `/proc`: each once a second, on the run's own clock, so that all
//! lies on one time axis. What could not be sampled is counted and left unknown; it is never guessed, and a server that
//! does not answer never delays the run.

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
use own::{OwnBooks, OwnReading};
use process::Watched;
use rows::Rows;
use sampler::Sampler;
use scrape::{Endpoint, Scraping};

/// Servers that one monitor watches at most.
pub const SERVERS_MAX: usize = 64;

/// What is watched besides the generator itself.
#[derive(Clone, Debug)]
pub struct MonitorConfig {
    /// Processes of this machine.
    pub pids: Vec<u32>,
    /// URLs of Prometheus endpoints.
    pub scrapes: Vec<String>,
    /// Figures of the endpoints' pages beyond the usual ones; see [`Figures::parse`].
    pub figures: Vec<String>,
    /// The run's start, second 0 of the rows. It may lie in the future.
    pub epoch: Instant,
    /// TLS of `https` endpoints; `None` trusts the machine's own authorities.
    pub tls: Option<Arc<ClientConfig>>,
}

impl MonitorConfig {
    /// Watches the generator alone.
    #[must_use]
    pub fn new(epoch: Instant) -> Self {
        Self { pids: Vec::new(), scrapes: Vec::new(), figures: Vec::new(), epoch, tls: None }
    }
}

/// Why nothing is watched.
#[derive(Debug)]
pub enum MonitorError {
    /// This process cannot be watched.
    Process(u32, io::Error),
    /// This cannot be the URL of an endpoint.
    Url(String),
    /// A figure cannot be looked for.
    Figure(BadFigure),
    /// More than [`SERVERS_MAX`] servers.
    TooMany(usize),
    /// TLS cannot be set up.
    Tls(rustls::Error),
    /// The own process cannot be read.
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

/// A running watch.
#[derive(Debug)]
pub struct Monitor {
    rows: Arc<Rows>,
    stop: SyncSender<()>,
    sampler: JoinHandle<OwnBooks>,
    scraping: Option<Scraping>,
}

/// What the whole watch came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GeneratorSamples {
    /// Mean CPU of the generator, in cores.
    pub cpu_mean: f64,
    /// Mean CPU of each thread, busiest first. Of threads that ended before the run did, only the busiest is here.
    pub threads: Vec<ThreadUse>,
    /// Mean share of the machine's CPU time that the hypervisor gave to others, 0 … 1.
    pub steal_mean: f64,
    /// The generator's resident memory at its greatest, in bytes.
    pub rss_max_bytes: u64,
    /// How often each server was asked, and how often in vain.
    pub servers: Vec<ServerSamples>,
}

impl GeneratorSamples {
    /// Writes what was sampled where the summary has it.
    pub fn fill(&self, facts: &mut GeneratorFacts) {
        facts.cpu_mean = self.cpu_mean;
        facts.thread_cpu_max = self.threads.first().map_or(0.0, |thread| thread.cpu);
        facts.steal_mean = self.steal_mean;
        facts.rss_max_bytes = self.rss_max_bytes;
        facts.threads = self.threads.iter().take(THREADS_TOLD_MAX).cloned().collect();
        self.fill_servers(facts);
    }

    /// Writes what is known of the servers' samples alone: where agents make the load, this machine is no generator.
    pub fn fill_servers(&self, facts: &mut GeneratorFacts) {
        facts.samples_failed += self.servers.iter().map(|server| server.failed).sum::<u64>();
        facts.servers_sampled.clone_from(&self.servers);
    }
}

impl Monitor {
    /// Begins to watch.
    ///
    /// # Errors
    /// When something that was asked for cannot be watched at all. An endpoint that does not answer is no error.
    pub fn start(config: MonitorConfig) -> Result<Self, MonitorError> {
        let now = Instant::now();
        let count = config.pids.len() + config.scrapes.len();
        if count > SERVERS_MAX {
            return Err(MonitorError::TooMany(count));
        }
        let figures = Figures::parse(&config.figures).map_err(MonitorError::Figure)?;
        let watch = |pid: &u32| Watched::begin(*pid, now).map_err(|error| MonitorError::Process(*pid, error));
        let watched = config.pids.iter().map(watch).collect::<Result<Vec<_>, _>>()?;
        let endpoints = endpoints(&config.scrapes, watched.len())?;
        let own = OwnBooks::open(OwnReading::read(now).map_err(MonitorError::Own)?);

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
                engine::ask_for_short_turns();
                Sampler::new(rows, watched, own).run(&stopped)
            };
            thread::Builder::new().name("monitor".to_owned()).spawn(sample).map_err(MonitorError::Thread)?
        };
        Ok(Self { rows, stop, sampler, scraping })
    }

    /// What is known of a second. It is complete a moment after the second has ended, and kept for ten minutes.
    #[must_use]
    pub fn row(&self, second: u32) -> MonitorRow {
        self.rows.row(second)
    }

    /// What went wrong for the first time since the last call: a server that did not answer, a process that is gone.
    #[must_use]
    pub fn take_notices(&self) -> Vec<String> {
        self.rows.take_notices()
    }

    /// Ends the watch and says what it came to.
    pub fn finish(self) -> GeneratorSamples {
        if let Some(scraping) = self.scraping {
            scraping.stop();
        }
        // The sampler ends by itself only by a panic; then there is nobody to tell.
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
