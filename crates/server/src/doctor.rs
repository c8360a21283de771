//! `throng doctor`: checks this machine for use as a server, its ports and its certificate. Changes nothing.
//!
//! The machine's capacity is assessed by the crate `doctor`, as for Stampede; what depends on a server's configuration
//! is checked here.

mod budget;
mod certificate;
mod ports;

use crate::budget::Budget;
use crate::capacity::Capacity;
use crate::config::Config;
use ::doctor::{Colours, Configured, Examination, Facts, Role, State, TLS_BYTES, diagnose};
use gateway::machine::DescriptorLimit;
use gateway::{budget_for, idle_connections, machine};
use std::io::{self, IsTerminal};

const PROGRAM: &str = concat!("throng ", env!("CARGO_PKG_VERSION"));
/// Number of connections to check for if neither a flag nor the configuration gives one.
const CLIENTS_DEFAULT: u64 = 10_000;

/// The options of the command.
pub(crate) struct Options {
    pub(crate) clients: Option<u64>,
    pub(crate) json: bool,
}

/// The result.
pub(crate) struct Found {
    pub(crate) text: String,
    /// Whether a problem must be solved before the server can do what is wanted.
    pub(crate) stops: bool,
}

/// Checks whether the machine can do what the configuration requires.
pub(crate) fn examine(config: &Config, options: &Options) -> io::Result<Found> {
    let configured = configured(config);
    let clients = options.clients.or(configured.connections_max).unwrap_or(CLIENTS_DEFAULT);
    let budget = Budget::read(config.limits.memory_budget);
    let tls = config.tls.is_some();
    let room = room(&budget, clients, tls);
    let role = Role::Server { tls, budget: room, configured };
    let facts = Facts::read(PROGRAM);
    let mut diagnosis =
        diagnose(&facts, &::doctor::Requirements { clients, role, ..::doctor::Requirements::default() });
    diagnosis.checks.extend(ports::check(config));
    diagnosis.checks.extend(config.tls.iter().flat_map(certificate::check));
    diagnosis.checks.extend(budget::check(&budget, room, &facts));
    let stops = diagnosis.state() == State::Stop;
    let examination = Examination { facts, targets: Vec::new(), diagnosis };
    let text = if options.json {
        serde_json::to_string_pretty(&examination).map_err(io::Error::other)? + "\n"
    } else {
        printed(&examination)?
    };
    Ok(Found { text, stops })
}

/// Returns what the configuration has room for, once `serve` has raised the descriptor limit.
fn configured(config: &Config) -> Configured {
    let hard = machine::descriptor_limit().hard;
    let capacity = Capacity::of(config, DescriptorLimit { soft: hard, hard });
    Configured {
        tables: capacity.tables_count() as u64,
        connections_max: config.limits.connections.map(|connections| connections as u64),
    }
}

/// Returns what the budget has room for, and what it would have to be for the given number of clients. This process
/// already takes most of what the server takes without connections.
fn room(budget: &Budget, clients: u64, tls: bool) -> Option<::doctor::Budget> {
    let bytes = budget.bytes?;
    let start_bytes = machine::process_memory().unwrap_or_default().resident_bytes();
    let each_bytes = machine::socket_bytes() + if tls { TLS_BYTES } else { 0 };
    let wanted_bytes = budget_for(clients, start_bytes, each_bytes);
    Some(::doctor::Budget {
        bytes,
        clients: idle_connections(bytes, start_bytes, each_bytes),
        wanted_bytes,
        wanted_limit_bytes: budget.limit_for(wanted_bytes),
    })
}

fn printed(examination: &Examination) -> io::Result<String> {
    let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colours = if io::stdout().is_terminal() && !is_plain { Colours::On } else { Colours::Off };
    let mut text = Vec::new();
    ::doctor::print(&mut text, examination, colours)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
