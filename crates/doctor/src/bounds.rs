//! How many clients each resource of the machine is enough for. Arithmetic only.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amounts::{bytes, counted, grouped};
use super::scene::{Configured, Scene};
use super::settings::{Setting, command};

/// Descriptors of a table that are not clients: standard streams, readiness, timers, logs, the live view.
pub const DESCRIPTORS_RESERVED: u64 = 512;
/// Maximum number of threads with connections that the engine allows.
const THREADS_MAX: u64 = 65_535;
/// Kernel memory of one end of an idle TCP connection: socket, inode, file, directory entry and readiness entry.
/// Measured on Linux 6 (8,350 bytes for both ends, `docs/performance.md`).
pub const KERNEL_BYTES_PER_END: u64 = 4_200;
/// The most memory that Stampede itself uses for one connected client.
pub const CLIENT_BYTES: u64 = 1_024;
/// The most memory that Throng itself uses for one connected client that has joined a channel's topic. A person of the
/// messenger takes about 800 bytes more (`docs/performance.md`), a sixth of what a client takes with the kernel's part.
pub const SERVED_BYTES: u64 = 256;
/// What a TLS session takes in addition: its keys and what remains of its handshake. An estimate; of the server's end,
/// 7,900 bytes are measured (`gateway/src/memory/account.rs`).
pub const TLS_BYTES: u64 = 12 * 1_024;
/// The share of the usable memory that clients may take; the rest is for bursts and for other programs.
const MEMORY_SHARE: f64 = 0.9;
/// The number of unprivileged ports: all but those below 1,024.
const PORTS_MOST: u64 = 64_512;

/// What a machine can run out of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Descriptors of the process, in as many tables as it has.
    Descriptors,
    /// The most connections that a server's configuration accepts.
    Configuration,
    /// Open files of the machine.
    Files,
    /// Source addresses and ports.
    Ports,
    /// Memory.
    Memory,
    /// A server's memory budget.
    Budget,
    /// Memory of TCP's buffers.
    TcpMemory,
    /// Entries of connection tracking.
    Conntrack,
}

impl Resource {
    /// Returns the name shown to people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Descriptors => "descriptors",
            Self::Configuration => "limits.connections",
            Self::Files => "open files",
            Self::Ports => "source ports",
            Self::Memory => "memory",
            Self::Budget => "memory budget",
            Self::TcpMemory => "TCP buffers",
            Self::Conntrack => "conntrack",
        }
    }
}

/// How many clients one resource suffices for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// Which.
    pub resource: Resource,
    /// The clients.
    pub clients: u64,
    /// Whether not one more can connect; otherwise it is reached only when all clients are busy at the same moment.
    pub firm: bool,
    /// How it is reckoned.
    pub basis: String,
    /// What to change when it is too few for the requirements.
    pub remedy: Option<String>,
    /// The same as lines of configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
}

impl Bound {
    /// Creates a firm bound that nothing changes.
    fn new(resource: Resource, clients: u64, basis: String) -> Self {
        Self { resource, clients, firm: true, basis, remedy: None, settings: Vec::new() }
    }

    /// Adds the kernel setting that changes the bound.
    fn changed_by(self, setting: Setting) -> Self {
        let settings = vec![setting];
        Self { remedy: Some(command(&settings)), settings, ..self }
    }
}

/// Returns the known bounds, the lowest first.
pub(super) fn bounds(scene: &Scene<'_>) -> Vec<Bound> {
    let all = [
        descriptors(scene),
        configuration(scene),
        files(scene),
        ports(scene),
        memory(scene),
        budget(scene),
        tcp_memory(scene),
        conntrack(scene),
    ];
    let mut bounds: Vec<Bound> = all.into_iter().flatten().collect();
    for bound in &mut bounds {
        if bound.clients >= scene.requirements.clients {
            bound.remedy = None;
            bound.settings.clear();
        }
    }
    bounds.sort_by_key(|bound| (bound.clients, bound.resource));
    bounds
}

/// Returns how many clients one descriptor table holds.
pub(super) fn clients_per_table(scene: &Scene<'_>) -> Option<u64> {
    scene.facts.table_size().map(|size| size.saturating_sub(DESCRIPTORS_RESERVED))
}

fn descriptors(scene: &Scene<'_>) -> Option<Bound> {
    let each = clients_per_table(scene)?;
    if let Some(Configured { tables, .. }) = scene.configured() {
        return Some(servers_descriptors(scene, each, tables));
    }
    let tables = scene.requirements.clients.div_ceil(each.max(1));
    let basis = match tables {
        0 | 1 => format!("{} in the process's descriptor table", grouped(each)),
        _ => format!(
            "{} per descriptor table; {} threads with their own tables",
            grouped(each),
            grouped(tables)
        ),
    };
    let remedy =
        "ulimit -Hn 1048576 (as root, before starting the program), or nofile in /etc/security/limits.conf"
            .to_owned();
    let bound = Bound::new(Resource::Descriptors, each.saturating_mul(THREADS_MAX), basis);
    Some(Bound { remedy: Some(remedy), settings: vec![Setting::systemd("LimitNOFILE", 1_048_576)], ..bound })
}

/// A server has the tables that its configuration gives it, and takes no more when it is full.
fn servers_descriptors(scene: &Scene<'_>, each: u64, tables: u64) -> Bound {
    let basis = match tables {
        0 | 1 => format!("{} in the one descriptor table that the configuration gives it", grouped(each)),
        _ => format!(
            "{} per descriptor table; {} shards with their own tables",
            grouped(each),
            grouped(tables)
        ),
    };
    let remedy =
        format!("limits.connections = {}, for shards with tables of their own", scene.requirements.clients);
    let bound = Bound::new(Resource::Descriptors, each.saturating_mul(tables), basis);
    Bound { remedy: Some(remedy), ..bound }
}

/// Beyond it the server refuses connections, whatever the machine could hold.
fn configuration(scene: &Scene<'_>) -> Option<Bound> {
    let max = scene.configured()?.connections_max?;
    let bound =
        Bound::new(Resource::Configuration, max, "the most that the configuration accepts".to_owned());
    Some(Bound { remedy: Some(format!("limits.connections = {}", scene.requirements.clients)), ..bound })
}

fn files(scene: &Scene<'_>) -> Option<Bound> {
    let descriptors = &scene.facts.descriptors;
    let (max, open) = (*descriptors.file_max.known()?, *descriptors.files_open.known()?);
    let needed =
        round_up((scene.requirements.clients.saturating_mul(scene.ends())).saturating_add(open), 100_000);
    let basis = format!("fs.file-max {}, {} open{}", grouped(max), grouped(open), both_ends(scene));
    let bound = Bound::new(Resource::Files, max.saturating_sub(open) / scene.ends(), basis);
    Some(bound.changed_by(Setting::sysctl("fs.file-max", needed)))
}

/// Only for a machine that plays the clients: a server needs one port for all of them.
fn ports(scene: &Scene<'_>) -> Option<Bound> {
    let each = scene.ports_each().filter(|_| scene.plays())?;
    let sources = counted(scene.source_count(), "source address", "source addresses");
    let targets = counted(scene.target_count(), "target", "targets");
    let basis = format!("{sources} × {} × {targets}", counted(each, "port", "ports"));
    let bound = Bound::new(Resource::Ports, each.saturating_mul(scene.pairs()), basis);
    Some(Bound { remedy: Some(more_ports(scene, each)), ..bound })
}

fn more_ports(scene: &Scene<'_>, each: u64) -> String {
    let widened = PORTS_MOST.saturating_sub(scene.facts.ports.reserved.known().copied().unwrap_or_default());
    let can_widen = scene.requirements.sources.ports.is_none() && widened > each;
    let widen = "sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"";
    if can_widen && widened.saturating_mul(scene.pairs()) >= scene.requirements.clients {
        return widen.to_owned();
    }
    let more = |each: u64| {
        let needed = scene.requirements.clients.div_ceil(each.saturating_mul(scene.target_count()).max(1));
        let example = match loopback_range(needed).filter(|_| scene.is_loopback()) {
            Some(range) => format!(", such as {range}"),
            None => ", each added with: ip address add ADDRESS/PREFIX dev INTERFACE".to_owned(),
        };
        (needed, example)
    };
    let (needed, example) = more(each);
    if can_widen && !scene.is_loopback() {
        let (fewer, _) = more(widened);
        return format!("more source addresses: {needed}{example}; or {fewer} together with: {widen}");
    }
    format!("more source addresses: {needed}{example}")
}

/// Returns the range of the first `count` loopback addresses as text; `None` beyond a million, which are enough to
/// show.
fn loopback_range(count: u64) -> Option<String> {
    let last = u32::try_from(count).ok().filter(|count| (1..=1_000_000).contains(count))?;
    let address = |offset: u32| std::net::Ipv4Addr::from(0x7f00_0000 + offset);
    Some(if last == 1 { address(1).to_string() } else { format!("{} to {}", address(1), address(last)) })
}

fn memory(scene: &Scene<'_>) -> Option<Bound> {
    let usable = scene.facts.usable_bytes()?;
    let tls = if scene.by_tls() { TLS_BYTES } else { 0 };
    let own = if scene.plays() { CLIENT_BYTES } else { SERVED_BYTES };
    let each = KERNEL_BYTES_PER_END * scene.ends() + own + tls;
    let servers_own = if scene.is_local() { ", excluding the server's own memory" } else { "" };
    let limited = scene.facts.memory.limit_bytes == Some(usable);
    let others = if scene.plays() { "more machines: --agents" } else { "more servers" };
    let remedy = if limited {
        format!("raise the control group's memory limit (memory.max; docker run --memory), or use {others}")
    } else {
        format!("more memory, or {others}")
    };
    let clients = (usable as f64 * MEMORY_SHARE / each as f64) as u64;
    let basis = format!("{} usable, about {} per client{servers_own}", bytes(usable), bytes(each));
    Some(Bound { remedy: Some(remedy), ..Bound::new(Resource::Memory, clients, basis) })
}

/// Beyond it the server refuses connections, whatever memory the machine has left.
fn budget(scene: &Scene<'_>) -> Option<Bound> {
    let budget = scene.budget()?;
    let basis = format!("{} for the whole server, including its memory at the start", bytes(budget.bytes));
    let bound = Bound::new(Resource::Budget, budget.clients, basis);
    let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
    let Some(limit) = budget.wanted_limit_bytes.map(mebibytes) else {
        let remedy =
            format!("limits.memory_budget = \"{}MiB\", or more servers", mebibytes(budget.wanted_bytes));
        return Some(Bound { remedy: Some(remedy), ..bound });
    };
    let remedy = format!(
        "raise the control group's memory limit to {limit} MiB (memory.max; docker run --memory), or use \
         more servers"
    );
    let settings = vec![Setting::systemd("MemoryMax", format!("{limit}M"))];
    Some(Bound { remedy: Some(remedy), settings, ..bound })
}

/// Idle connections take none of it. One with data in flight takes at least a page.
fn tcp_memory(scene: &Scene<'_>) -> Option<Bound> {
    let [_, _, most] = *scene.facts.network.tcp_mem.known()?;
    let needed = scene.requirements.clients.saturating_mul(scene.ends());
    let basis = format!(
        "{} (tcp_mem) if every client has a message in flight{}",
        bytes(most.saturating_mul(scene.facts.memory.page_bytes)),
        both_ends(scene)
    );
    let [pressure, limit] = [needed / 4, needed / 2].map(|more| needed.saturating_add(more));
    let bound = Bound { firm: false, ..Bound::new(Resource::TcpMemory, most / scene.ends(), basis) };
    Some(bound.changed_by(Setting::sysctl("net.ipv4.tcp_mem", format!("{needed} {pressure} {limit}"))))
}

/// Applies only with a firewall that tracks connections: then each takes an entry, and without one its packets are
/// dropped.
fn conntrack(scene: &Scene<'_>) -> Option<Bound> {
    let conntrack = scene.facts.network.conntrack?;
    let used = if conntrack.count == 0 { "no connections tracked now" } else { "some entries in use" };
    let needed = round_up(scene.requirements.clients.saturating_add(conntrack.count), 100_000);
    let basis = format!("nf_conntrack_max {}, {used}", grouped(conntrack.max));
    let clients = conntrack.max.saturating_sub(conntrack.count);
    let bound = Bound { firm: conntrack.count > 0, ..Bound::new(Resource::Conntrack, clients, basis) };
    Some(bound.changed_by(Setting::sysctl("net.netfilter.nf_conntrack_max", needed)))
}

fn both_ends(scene: &Scene<'_>) -> &'static str {
    if scene.is_local() { ", both ends on this machine" } else { "" }
}

fn round_up(number: u64, step: u64) -> u64 {
    number.div_ceil(step).saturating_mul(step)
}
