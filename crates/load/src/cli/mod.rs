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

/// The load lab: plays millions of clients against a WebSocket or HTTP server, and says honestly what it saw.
///
/// Exit status: 0 the run is valid and its thresholds hold; 1 a threshold was missed, or a comparison found a
/// regression; 2 the command line, a scenario or a file is wrong; 3 the run is INVALID, since the generator was the
/// limit or its end is not known; 4 the run could not be done. `report` ends as the runs did, with the gravest of
/// several.
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
    /// Say whether a scenario is right, without playing it
    Check(Check),
    /// Translate a Tsung configuration into a scenario, and say line by line what became of it
    Import(Import),
    /// Print the JSON Schema of scenarios
    Schema,
    /// The C10K test of 2012: a client every millisecond, an echo every second
    C10k(C10k),
    /// Open many connections and keep them: memory per connection
    Hold(Hold),
    /// One channel, many users: from a publication to its first and its last receiver
    Fanout(FanOut),
    /// Many rooms of some clients who talk at a rate
    Rooms(Rooms),
    /// People who come, talk at random and leave
    Churn(Churn),
    /// Everybody is cut at once, and comes back at once
    Storm(Storm),
    /// HTTP requests as fast as so many users make them, with Siege's report
    Http(Http),
    /// Talk in a room, or play a room full of talkers with --load
    Chat(Chat),
    /// Find the largest load that still holds
    Search(Search),
    /// Measure this machine's floor: raw TCP, canned bytes, no parsing
    Floor(Floor),
    /// Look at this machine, and at the target, before a run
    Doctor(Doctor),
    /// Wait for a controller (run --agents), and play users for it
    Agent(Agent),
    /// Compute the report again from event logs; several runs are drawn side by side
    Report(Report),
    /// Say what got better or worse from run A to run B, and whether it is more than noise
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
    /// Give a variable of the scenario another value
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
    /// The report as JSON: on standard output with --output, which the scenario has otherwise
    #[arg(long)]
    pub json: bool,
}

/// `floor`.
#[derive(Args, Debug)]
pub struct Floor {
    /// Pairs to connect, and to broadcast to
    #[arg(long, default_value_t = 10_000)]
    pub connections: usize,
    /// One line of JSON in place of the table
    #[arg(long)]
    pub json: bool,
}

/// `doctor`.
#[derive(Args, Debug)]
pub struct Doctor {
    /// Targets to look at: ws, wss, http or https URLs
    pub targets: Vec<String>,
    /// How many clients are wanted
    #[arg(long, default_value_t = 10_000)]
    pub clients: u64,
    /// Source addresses: single ones, ranges A-B, networks A/N, or `machine`
    #[arg(long = "source", value_name = "ADDRESSES", value_delimiter = ',')]
    pub sources: Vec<String>,
    /// The first target's process, when it runs on this machine
    #[arg(long, value_name = "PID")]
    pub pid: Option<u32>,
    /// The first target's Prometheus endpoint
    #[arg(long, value_name = "URL")]
    pub scrape: Option<String>,
    /// PEM file with an authority to trust
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Accept any certificate
    #[arg(long)]
    pub insecure: bool,
    /// Agents to look at as well: HOST:PORT, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "HOST:PORT")]
    pub agents: Vec<String>,
    /// The agents' shared token
    #[arg(long, env = "STAMPEDE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// PEM file with the authority of the agents' certificates: speak TLS with them
    #[arg(long, value_name = "FILE")]
    pub agent_ca: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `report`.
#[derive(Args, Debug)]
pub struct Report {
    /// Run folders
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// Where to write what several runs come to [default: the current folder]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print the summary as JSON; of several runs an array of them
    #[arg(long)]
    pub json: bool,
}

/// `compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// The run to compare with
    pub before: PathBuf,
    /// The run to judge
    pub after: PathBuf,
    /// What a figure may get worse, in per cent, before it counts as a regression
    #[arg(long, default_value_t = 5.0, value_name = "PERCENT")]
    pub tolerance: f64,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// `agent`.
#[derive(Args, Debug)]
pub struct Agent {
    /// Where to wait for the controller
    #[arg(long, default_value = "127.0.0.1:7000")]
    pub listen: SocketAddr,
    /// Shared with the controller; needed unless the address is a loopback address
    #[arg(long, env = "STAMPEDE_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// PEM file with the certificate for TLS
    #[arg(long, requires = "key", value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// PEM file with its key
    #[arg(long, requires = "certificate", value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// What this machine can carry, beside the other agents
    #[arg(long, default_value_t = 1.0)]
    pub weight: f64,
    /// Folder for the runs whose controller wants an event log
    #[arg(long, default_value = "stampede-runs", value_name = "DIR")]
    pub out: PathBuf,
}
