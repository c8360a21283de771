//! The command line of `stampede`: arguments as written.
//!
//! [`crate::commands`] interprets them.

mod presets;
mod run;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use presets::{C10k, Chat, Churn, Crowd, Dialect, FanOut, Hold, Http, Rooms, Search, Storm};
pub use run::{EventLog, Overrides, RunArguments};

/// Load generator for WebSocket and HTTP servers: plays up to millions of clients and reports what it measured.
///
/// Exit status: 0 the run is valid and its thresholds hold; 1 a threshold was missed, a comparison found a regression,
/// a search found no load that meets its condition, or the doctor found what would stop a run; 2 the command line, a
/// scenario or a file is wrong; 3 a run is INVALID, because the generator was the limit or its end is unknown, a
/// comparison has too little to judge, or a search ended at the generator's limit; 4 the command could not be carried
/// out. `report` exits with the status of the runs, the most severe one if there are several.
#[derive(Parser, Debug)]
#[command(name = "stampede", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What may be asked for.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Play a scenario (YAML), or a Tsung configuration (XML)
    Run(Run),
    /// Check a scenario without playing it
    Check(Check),
    /// Translate a Tsung configuration into a scenario, with a report for each line
    Import(Import),
    /// Print the JSON Schema of scenarios
    Schema,
    /// The C10K test of 2012: a client every millisecond, an echo every second
    C10k(C10k),
    /// Open many connections and keep them open: measures memory per connection
    Hold(Hold),
    /// One channel, many users: measures the time from a publication to its first and last receiver
    Fanout(FanOut),
    /// Many rooms whose clients send messages at a fixed rate
    Rooms(Rooms),
    /// Users who arrive, talk at random times and leave
    Churn(Churn),
    /// All users are disconnected at once and reconnect at once
    Storm(Storm),
    /// HTTP requests from a number of concurrent users, with Siege's report
    Http(Http),
    /// Chat in a room, or fill it with simulated users (--load)
    Chat(Chat),
    /// Find the largest load that meets the given conditions
    Search(Search),
    /// Measure this machine's floor: raw TCP with fixed bytes, without parsing
    Floor(Floor),
    /// Check this machine and the target before a run
    Doctor(Doctor),
    /// Wait for a controller (run --agents) and play users for it
    Agent(Agent),
    /// Recompute the report from event logs; several runs are shown side by side
    Report(Report),
    /// Compare two runs: what got better or worse, and whether it is significant
    Compare(Compare),
}

/// `run`.
#[derive(Args, Debug)]
pub struct Run {
    /// The scenario: YAML, or Tsung's XML
    pub scenario: PathBuf,
    /// How to run it.
    #[command(flatten)]
    pub run: RunArguments,
}

/// `check`.
#[derive(Args, Debug)]
pub struct Check {
    /// The scenario: YAML, or Tsung's XML
    pub scenario: PathBuf,
    /// Set a variable of the scenario
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = run::name_and_value)]
    pub set: Vec<(String, String)>,
}

/// `import`.
#[derive(Args, Debug)]
pub struct Import {
    /// Tsung's XML
    pub configuration: PathBuf,
    /// Where to write the scenario [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the report as JSON: to standard output with --output, otherwise to standard error
    #[arg(long)]
    pub json: bool,
}

/// `floor`.
#[derive(Args, Debug)]
pub struct Floor {
    /// Number of connection pairs
    #[arg(long, default_value_t = 10_000)]
    pub connections: usize,
    /// Print one line of JSON instead of the table
    #[arg(long)]
    pub json: bool,
}

/// `doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Targets to check: ws, wss, http or https URLs
    pub targets: Vec<String>,
    /// Number of clients to plan for
    #[arg(long, default_value_t = 10_000)]
    pub clients: u64,
    /// Source addresses: single ones, ranges A-B, networks A/N, or `machine`
    #[arg(long = "source", value_name = "ADDRESSES", value_delimiter = ',')]
    pub sources: Vec<String>,
    /// Process of the first target, if it runs on this machine
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// Prometheus endpoint of the first target
    #[arg(long, value_name = "URL")]
    pub scrape: Option<String>,
    /// PEM file with a certificate authority to trust
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    pub insecure: bool,
    /// Agents to check instead of this machine: HOST:PORT, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "HOST:PORT")]
    pub agents: Vec<String>,
    /// The agents' shared token
    #[arg(long, env = "STAMPEDE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// PEM file with the certificate authority of the agents: use TLS with them
    #[arg(long, value_name = "FILE")]
    pub agent_ca: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// `report`.
#[derive(Args, Debug)]
pub struct Report {
    /// Run folders
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// Where to write the common report of several runs [default: the current folder]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print the summary as JSON; for several runs an array of summaries
    #[arg(long)]
    pub json: bool,
}

/// `compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// The earlier run, used as the baseline
    pub before: PathBuf,
    /// The later run, which is judged
    pub after: PathBuf,
    /// How much worse a figure may get, in per cent, before it counts as a regression
    #[arg(long, default_value_t = 5.0, value_name = "PERCENT", value_parser = tolerance)]
    pub tolerance: f64,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// A tolerance that is no number would tolerate everything, and one below zero nothing, not even what got better.
fn tolerance(text: &str) -> Result<f64, String> {
    let percent = text.parse().ok().filter(|percent: &f64| percent.is_finite() && *percent >= 0.0);
    percent.ok_or_else(|| "write a number of per cent that is 0 or more, such as 5".to_owned())
}

/// `agent`.
#[derive(Args, Debug)]
pub struct Agent {
    /// Address to listen on for the controller
    #[arg(long, default_value = "127.0.0.1:7000")]
    pub listen: SocketAddr,
    /// Token shared with the controller; required unless the address is a loopback address
    #[arg(long, env = "STAMPEDE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// PEM file with the certificate for TLS
    #[arg(long, requires = "key", value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// PEM file with the certificate's private key
    #[arg(long, requires = "certificate", value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// This machine's share of the load relative to the other agents
    #[arg(long, default_value_t = 1.0)]
    pub weight: f64,
    /// Folder for runs with an event log
    #[arg(long, default_value = "stampede-runs", value_name = "DIR")]
    pub out: PathBuf,
}
