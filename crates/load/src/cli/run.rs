//! Arguments that every run has.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// How a scenario is run and where its results go.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Run")]
pub struct RunArguments {
    /// What differs from the scenario as written.
    #[command(flatten)]
    pub overrides: Overrides,
    /// Folder in which each run creates its own folder
    #[arg(long, default_value = "stampede-runs", value_name = "DIR")]
    pub out: PathBuf,
    /// Format of the event log, which has one line per event
    #[arg(long, value_enum, value_name = "FORM")]
    pub event_log: Option<EventLog>,
    /// Serve the dashboard during the run, for example on 127.0.0.1:8091
    #[arg(long, value_name = "ADDRESS")]
    pub dashboard: Option<SocketAddr>,
    /// Serve Prometheus metrics during the run (the dashboard serves them too)
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Sample a process on this machine: CPU, memory, descriptors
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Scrape a Prometheus endpoint of the target every second
    #[arg(long, value_name = "URL")]
    pub scrape: Vec<String>,
    /// Also keep this scraped metric, besides memory, CPU, descriptors and connections
    #[arg(long, value_name = "NAME")]
    pub figure: Vec<String>,
    /// Number of threads with connections [default: by cores and descriptors]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Measure the machine's floor before the run, with this number of pairs (`--floor=PAIRS`, 5000 without a number),
    /// and add it to the report; with --agents each agent measures its own
    #[arg(long, value_name = "PAIRS", num_args = 0..=1, require_equals = true, default_missing_value = "5000",
          value_parser = clap::value_parser!(u32).range(100..))]
    pub floor: Option<u32>,
    /// Play the users on these agents instead: HOST:PORT, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "HOST:PORT")]
    pub agents: Vec<String>,
    /// The agents' shared token; for `chat` without --load: your own token (alternatively STAMPEDE_CHAT_TOKEN)
    #[arg(long, env = "STAMPEDE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// PEM file with the certificate authority of the agents: use TLS with them
    #[arg(long, value_name = "FILE")]
    pub agent_ca: Option<PathBuf>,
    /// Show nothing during the run
    #[arg(long, short)]
    pub quiet: bool,
    /// Print only the summary, as JSON, on standard output; for `chat` in a stored room: one object per line
    #[arg(long)]
    pub json: bool,
    /// Print the scenario without running it
    #[arg(long)]
    pub print_scenario: bool,
}

/// What differs from the scenario as written.
#[derive(Args, Clone, Debug, Default)]
pub struct Overrides {
    /// Set a variable of the scenario
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub set: Vec<(String, String)>,
    /// Seed of the random numbers; the same seed plays the same users
    #[arg(long)]
    pub seed: Option<u64>,
    /// Source addresses: single ones, ranges A-B, networks A/N, or `machine`
    #[arg(long = "source", value_name = "ADDRESSES", value_delimiter = ',')]
    pub sources: Vec<String>,
    /// Additional threshold, such as 'p99 < 100ms' or 'errors == 0'
    #[arg(long = "threshold", value_name = "CONDITION")]
    pub thresholds: Vec<String>,
    /// PEM file with a certificate authority to trust
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    pub insecure: bool,
}

/// Forms of the event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EventLog {
    /// CSV, compressed with zstd
    Zstd,
    /// CSV, uncompressed
    Csv,
    /// No event log
    None,
}

/// Parses `NAME=VALUE`.
pub(super) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err(format!("`{text}` does not have the form NAME=VALUE")),
    }
}
