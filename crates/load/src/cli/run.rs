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
    /// Folder under which each run makes a folder of its own
    #[arg(long, default_value = "stampede-runs", value_name = "DIR")]
    pub out: PathBuf,
    /// The event log: one line per message
    #[arg(long, value_enum, value_name = "FORM")]
    pub event_log: Option<EventLog>,
    /// Serve the dashboard while it runs, such as 127.0.0.1:8091
    #[arg(long, value_name = "ADDRESS")]
    pub dashboard: Option<SocketAddr>,
    /// Serve Prometheus metrics while it runs (the dashboard has them too)
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Sample a process of this machine: CPU, memory, descriptors
    #[arg(long, value_name = "PID")]
    pub pid: Vec<u32>,
    /// Read a Prometheus endpoint of the target each second
    #[arg(long, value_name = "URL")]
    pub scrape: Vec<String>,
    /// Keep this metric of what is scraped, besides memory, CPU, descriptors and connections
    #[arg(long, value_name = "NAME")]
    pub figure: Vec<String>,
    /// Threads with connections [default: what cores and descriptors ask for]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Measure the machine's floor before the run, with so many pairs (`--floor=PAIRS`, 5000 without a number), and put
    /// it into the report; with --agents each agent measures its own
    #[arg(long, value_name = "PAIRS", num_args = 0..=1, require_equals = true, default_missing_value = "5000",
          value_parser = clap::value_parser!(u32).range(100..))]
    pub floor: Option<u32>,
    /// Play the users on these agents instead: HOST:PORT, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "HOST:PORT")]
    pub agents: Vec<String>,
    /// The agents' shared token; for `chat` without --load: who you are (else STAMPEDE_CHAT_TOKEN)
    #[arg(long, env = "STAMPEDE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// PEM file with the authority of the agents' certificates: speak TLS with them
    #[arg(long, value_name = "FILE")]
    pub agent_ca: Option<PathBuf>,
    /// Nothing while it runs
    #[arg(long, short)]
    pub quiet: bool,
    /// Print the summary as JSON, and nothing else, on standard output; for `chat` in a stored room: an object a line
    #[arg(long)]
    pub json: bool,
    /// Print the scenario and do not run it
    #[arg(long)]
    pub print_scenario: bool,
}

/// What differs from the scenario as written.
#[derive(Args, Clone, Debug, Default)]
pub struct Overrides {
    /// Give a variable of the scenario another value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = name_and_value)]
    pub set: Vec<(String, String)>,
    /// The same seed plays the same users
    #[arg(long)]
    pub seed: Option<u64>,
    /// Source addresses: single ones, ranges A-B, networks A/N, or `machine`
    #[arg(long = "source", value_name = "ADDRESSES", value_delimiter = ',')]
    pub sources: Vec<String>,
    /// A further threshold, such as 'p99 < 100ms' or 'errors == 0'
    #[arg(long = "threshold", value_name = "CONDITION")]
    pub thresholds: Vec<String>,
    /// PEM file with an authority to trust
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    pub insecure: bool,
}

/// Forms of the event log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EventLog {
    /// CSV, compressed by zstd
    Zstd,
    /// CSV
    Csv,
    /// None
    None,
}

/// Parses `NAME=VALUE`.
pub(super) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err(format!("`{text}` is not of the form NAME=VALUE")),
    }
}
