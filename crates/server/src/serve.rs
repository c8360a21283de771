//! `throng serve`, from a valid configuration to the end of the process.

use crate::admin::{Admin, AdminError, Served, WholeMemory};
use crate::budget::Budget;
use crate::config::{Config, Profile};
use crate::durable::{self, DurableError};
use crate::health::Readiness;
use crate::rest::{self, Rest, RestError};
use crate::signals::BlockedSignals;
use crate::tls::{CertificateError, Certificates};
use crate::{logging, page, supervise, wiring};
use bus::Bus;
use gateway::machine::{self, DescriptorLimit};
use gateway::{BudgetTooSmall, MemoryBudget, OriginRule};
use messenger::Messenger;
use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

/// Time limit for the store at the end.
const LEAVE_MAX: Duration = Duration::from_secs(10);

/// Why the server could not start, or could not end properly.
#[derive(Debug)]
pub(crate) enum ServeError {
    /// The first certificate is unusable.
    Certificate(CertificateError),
    /// The administration listener could not be set up.
    Admin(AdminError),
    /// The configuration of the bus is invalid.
    Bus(bus::BadSettings),
    /// The messenger's API could not be set up.
    Rest(RestError),
    /// The messenger could not start.
    Messenger(DurableError),
    /// The gateway could not start.
    Gateway(gateway::StartError),
    /// The control group's limit leaves less memory than the server needs.
    ControlGroup { error: BudgetTooSmall, limit: String },
    /// The main thread could not create a runtime, or cannot wait for signals.
    Supervision(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServeError::Certificate(error) => error.fmt(f),
            ServeError::Admin(error) => error.fmt(f),
            ServeError::Bus(error) => error.fmt(f),
            ServeError::Rest(error) => error.fmt(f),
            ServeError::Messenger(error) => error.fmt(f),
            ServeError::Gateway(error) => error.fmt(f),
            ServeError::ControlGroup { error, limit } => {
                write!(
                    f,
                    "{error}; the budget comes from {limit}: raise that limit, or set `limits.memory_budget`"
                )
            }
            ServeError::Supervision(error) => write!(f, "cannot supervise the server: {error}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Runs the server until a signal ends it.
pub(crate) fn serve(config: &Config) -> Result<(), ServeError> {
    let signals = BlockedSignals::new().map_err(ServeError::Supervision)?;
    logging::start(&config.log);
    raise_descriptor_limit();
    let budget = Budget::read(config.limits.memory_budget);
    budget.log();

    let certificates =
        config.tls.as_ref().map(Certificates::load).transpose().map_err(ServeError::Certificate)?;
    let bind_admin = |address| Admin::bind(address, &config.data_dir);
    let admin = config.admin_listen.map(bind_admin).transpose().map_err(ServeError::Admin)?;
    let bus = config.bus.as_ref().map(|bus| wiring::bus(bus, &config.history)).transpose();
    let bus = bus.map_err(ServeError::Bus)?;
    let bus_status = bus.as_ref().map(Bus::status);
    let readiness = Readiness::with_bus(bus_status.clone());
    let tls = certificates
        .as_ref()
        .map(Certificates::server_config)
        .transpose()
        .map_err(ServeError::Certificate)?;
    let outbound = rest::outbound(&config.sites_networks).map_err(ServeError::Rest)?;
    let of_addresses = config.limits.of_addresses;
    let durable = durable::open(&config.store, &config.data_dir, outbound.clone(), of_addresses);
    let durable = durable.map_err(ServeError::Messenger)?;
    let messenger = durable.messenger.clone();
    let rest = Rest::new(messenger.clone(), outbound, durable.node.clone());
    let running =
        wiring::start(config, tls, &readiness, bus, &messenger, rest.public(&config.socket), budget.bytes)
            .map_err(|error| not_started(error, &budget))?;
    let memory = WholeMemory::new(running.handle(), messenger.clone());
    messenger.tell_through(running.handle());
    let background = rest.begin(running.handle()).map_err(ServeError::Rest)?;

    let announcement = announcement(config, &running, admin.as_ref(), &budget);
    if let Some(admin) = admin {
        let served = Served {
            handle: running.handle(),
            messenger: messenger.clone(),
            memory,
            bus: bus_status,
            rest: rest.api(),
            memory_limit: budget.limit,
        };
        admin.start(served, readiness.clone()).map_err(ServeError::Admin)?;
    }
    let requests = signals.listen().map_err(ServeError::Supervision)?;
    readiness.set(true);
    // A server whose output nobody reads works all the same.
    let _ = io::stdout().write_all(announcement.as_bytes()).and_then(|()| io::stdout().flush());
    supervise::until_ended(running, certificates, &readiness, requests, config.shutdown)
        .map_err(ServeError::Supervision)?;
    background.end();
    take_leave(&messenger).map_err(ServeError::Supervision)
}

fn not_started(error: gateway::StartError, budget: &Budget) -> ServeError {
    match (error, budget.origin()) {
        (gateway::StartError::MemoryBudget(error), Some(limit)) => {
            ServeError::ControlGroup { error, limit: limit.to_string() }
        }
        (error, _) => ServeError::Gateway(error),
    }
}

/// Stores what the messenger knows about people and has not stored yet, within a time limit.
fn take_leave(messenger: &Messenger) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(async {
        if tokio::time::timeout(LEAVE_MAX, messenger.take_leave()).await.is_err() {
            tracing::warn!("some last-seen times of people were not stored: the store is too slow");
        }
    });
    Ok(())
}

/// Shells start programs with a low soft limit that any program may raise; each connection takes a descriptor.
fn raise_descriptor_limit() {
    match machine::raise_descriptor_limit() {
        Ok(DescriptorLimit { soft: Some(limit), .. }) => tracing::info!("descriptor limit: {limit}"),
        Ok(DescriptorLimit { soft: None, .. }) => {}
        Err(error) => tracing::warn!("the descriptor limit could not be raised: {error}"),
    }
}

/// Returns the server's addresses for standard output; scripts wait for these lines.
fn announcement(
    config: &Config,
    running: &gateway::Running,
    admin: Option<&Admin>,
    budget: &Budget,
) -> String {
    let mut lines = String::new();
    let mut line = |text: String| lines.push_str(&(text + "\n"));
    for address in running.local_addresses() {
        line(format!("listening on http://{address}"));
    }
    for address in running.tls_addresses() {
        line(format!("listening on https://{address}"));
    }
    if let Some(admin) = admin {
        line(format!(
            "administration on http://{}, token in {}",
            admin.address(),
            admin.token_path().display()
        ));
    }
    if let Some(MemoryBudget { bytes, capacity, .. }) = running.handle().memory_budget() {
        let by = budget.origin().map(|limit| format!(", by {limit}")).unwrap_or_default();
        let mebibytes = bytes >> 20;
        line(format!("memory budget {mebibytes} MiB: room for about {capacity} idle connections{by}"));
    }
    if let Some(bus) = &config.bus {
        let instances: Vec<String> = bus.instances.iter().map(ToString::to_string).collect();
        line(format!("bus {}", instances.join(", ")));
    }
    if let Some(address) = running.node_address() {
        line(format!("listening for other nodes on {address}"));
    }
    if !page::is_embedded() {
        line("this binary was built without its web page: `make run` builds both".into());
    }
    match config.profile {
        Profile::Standard => {}
        Profile::LoadTest => line(load_test_warning(config)),
    }
    lines
}

fn load_test_warning(config: &Config) -> String {
    let idle = config.socket.idle_timeout.map_or("off".to_owned(), |timeout| format!("{timeout:?}"));
    let echo = config.echo_path.as_deref().unwrap_or("off");
    let origins = if config.socket.origins == OriginRule::Any { "any" } else { "as configured" };
    let lenient = if config.socket.lenient_origin { "counts as a host" } else { "is refused" };
    format!(
        "profile load-test, not for the internet: idle timeout {idle}, origins {origins}, \
         an origin without a scheme {lenient}, echo mount {echo}"
    )
}
