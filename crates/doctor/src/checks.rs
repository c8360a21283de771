//! Checks of the machine's facts against the requirements.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::amounts::{bytes, counted, grouped, percent};
use super::bounds::clients_per_table;
use super::scene::{Configured, Scene};
use super::settings::{Setting, command};

/// Ordinary bursts of a load test fill queues below these lengths.
const ACCEPT_QUEUE_MIN: u64 = 4_096;
const PACKET_QUEUE_MIN: u64 = 10_000;
/// A send or receive buffer below this cannot keep a connection busy.
const BUFFER_BYTES_MIN: u64 = 64 * 1_024;
/// Connections that share an entry of TCP's hash table before the search for one takes a noticeable part of a packet's time.
const CONNECTIONS_PER_ENTRY_MAX: u64 = 4;
/// The most that `net.ipv4.tcp_child_ehash_entries` can be.
const ENTRIES_MAX: u64 = 1 << 24;
/// Share of stolen time from which figures differ from run to run.
const STEAL_MAX: f64 = 0.01;
/// How long the kernel keeps a port after this side has closed its connection (TCP_TIMEWAIT_LEN).
const TIME_WAIT_SECONDS: u64 = 60;
/// Clocks that are read without a system call, of several architectures.
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

/// How a fact bears on the requirements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It stands in nobody's way.
    Ok,
    /// Good to know.
    Note,
    /// It may make the figures worse than they are.
    Caution,
    /// The run cannot go as required.
    Stop,
}

/// One fact, judged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What it is about.
    pub subject: String,
    /// How it bears on the requirements.
    pub state: State,
    /// What is so, and why it matters.
    pub text: String,
    /// The command or step that changes it.
    pub remedy: Option<String>,
    /// The same as lines of configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Setting>,
}

impl Check {
    /// Creates a check of a fact that nothing has to change.
    #[must_use]
    pub fn new(subject: &str, state: State, text: impl Into<String>) -> Self {
        Self { subject: subject.to_owned(), state, text: text.into(), remedy: None, settings: Vec::new() }
    }

    /// Adds the command or step that changes it.
    #[must_use]
    pub fn with(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Appends a step to the command.
    fn and_then(self, step: &str) -> Self {
        Self { remedy: self.remedy.map(|remedy| format!("{remedy} ({step})")), ..self }
    }

    /// Adds kernel settings that change it.
    fn changed_by(self, settings: Vec<Setting>) -> Self {
        Self { remedy: Some(command(&settings)), settings, ..self }
    }
}

/// Returns the checks of the machine, in reading order. A fact that is not known has none.
pub(super) fn machine_checks(scene: &Scene<'_>) -> Vec<Check> {
    let checks = [
        cores(scene),
        governor(scene),
        steal(scene),
        descriptors(scene),
        time_wait(scene),
        Some(tw_recycle()),
        accept_queue(scene),
        syn_queue(scene),
        packet_queue(scene),
        orphans(scene),
        connection_table(scene),
        buffers(scene),
        clock_source(scene),
        clock_kept(scene),
    ];
    checks.into_iter().flatten().collect()
}

fn cores(scene: &Scene<'_>) -> Option<Check> {
    let processor = &scene.facts.processor;
    let cores = *processor.cores.known()?;
    let named = counted(cores, "core", "cores");
    let check = |state, text: String| Some(Check::new("cores", state, text));
    if scene.is_local() {
        let text = format!(
            "the target runs on this machine, too: generator and server share {named} and slow each other \
             down"
        );
        return check(State::Caution, text).map(|check| {
            check.with("measure from another machine, or note in the result that both shared one machine")
        });
    }
    match processor.count.known() {
        Some(count) if u64::from(*count) > cores => check(
            State::Note,
            format!("this process can use {named} of the machine's {count} (affinity or quota)"),
        ),
        Some(_) | None if scene.plays() => check(State::Ok, format!("{named} for the generator")),
        Some(_) | None => check(State::Ok, format!("{named} for the server")),
    }
}

fn governor(scene: &Scene<'_>) -> Option<Check> {
    let governor = scene.facts.processor.governor.as_deref()?;
    if governor == "performance" {
        return Some(Check::new("frequency", State::Ok, "the governor is \"performance\""));
    }
    let text =
        format!("the governor \"{governor}\" lowers the frequency of idle cores: times vary with the load");
    Some(Check::new("frequency", State::Caution, text).with("cpupower frequency-set -g performance"))
}

fn steal(scene: &Scene<'_>) -> Option<Check> {
    let steal = *scene.facts.processor.steal.known()?;
    let text = format!(
        "the hypervisor gave {} of the CPU time to other machines since this machine started",
        percent(steal)
    );
    if steal <= STEAL_MAX {
        return Some(Check::new("steal", State::Ok, text));
    }
    let check = Check::new("steal", State::Caution, format!("{text}: results are not repeatable"));
    Some(check.with("use a machine or an instance type with dedicated cores"))
}

fn descriptors(scene: &Scene<'_>) -> Option<Check> {
    let limits = &scene.facts.descriptors;
    let each = clients_per_table(scene)?;
    let state_and_text = if scene.requirements.clients <= each {
        let raised = match (limits.soft, limits.hard) {
            (Some(soft), Some(hard)) if soft < hard => {
                let when = if scene.plays() { "the start of a run" } else { "the start" };
                format!("{} now, raised to {} at {when}", grouped(soft), grouped(hard))
            }
            (_, Some(hard)) => grouped(hard),
            (_, None) => "no limit except fs.nr_open".to_owned(),
        };
        (State::Ok, format!("nofile: {raised}"))
    } else {
        let threads = scene.requirements.clients.div_ceil(each.max(1));
        let table = grouped(each.saturating_add(super::bounds::DESCRIPTORS_RESERVED));
        let text = match scene.configured() {
            Some(Configured { tables: 0 | 1, .. }) => {
                format!("a table holds {table} descriptors, and the configuration gives the server one")
            }
            Some(_) | None => format!(
                "a table holds {table} descriptors: the clients are spread over {} with their own tables",
                counted(threads, "thread", "threads")
            ),
        };
        (State::Note, text)
    };
    let check = Check::new("descriptors", state_and_text.0, state_and_text.1);
    Some(if scene.plays() || state_and_text.0 == State::Ok { check } else { larger_table(scene, check) })
}

/// A server is faster with fewer threads beyond its cores, and its unit can give it a larger table.
fn larger_table(scene: &Scene<'_>, check: Check) -> Check {
    let needed = scene.requirements.clients.saturating_add(super::bounds::DESCRIPTORS_RESERVED);
    let nr_open = scene.facts.descriptors.nr_open.known().copied().filter(|nr_open| *nr_open < needed);
    let settings = nr_open.map(|_| Setting::sysctl("fs.nr_open", needed)).into_iter();
    Check {
        remedy: Some(format!(
            "LimitNOFILE={needed} in the systemd unit, or set limits.connections = {}",
            scene.requirements.clients
        )),
        settings: settings.chain([Setting::systemd("LimitNOFILE", needed)]).collect(),
        ..check
    }
}

/// Only for a machine that plays the clients: a server keeps its one port, whatever is in TIME_WAIT.
fn time_wait(scene: &Scene<'_>) -> Option<Check> {
    if !scene.plays() {
        return None;
    }
    let ports = &scene.facts.ports;
    let (reuse, timestamps) = (*ports.tw_reuse.known()?, ports.timestamps.known().copied().unwrap_or(1));
    let reused = timestamps != 0 && (reuse == 1 || (reuse == 2 && scene.is_loopback()));
    if reused {
        let text = format!("ports of closed connections are reused after a second (tcp_tw_reuse {reuse})");
        return Some(Check::new("TIME_WAIT", State::Ok, text));
    }
    let each_second = scene.ports_each()?.saturating_mul(scene.pairs()) / TIME_WAIT_SECONDS;
    let text = format!(
        "a port is blocked for {TIME_WAIT_SECONDS} s after its connection (tcp_tw_reuse {reuse}): at most {} \
         users per second can arrive and leave",
        grouped(each_second)
    );
    let stamps = (timestamps == 0).then(|| Setting::sysctl("net.ipv4.tcp_timestamps", 1));
    let settings = stamps.into_iter().chain([Setting::sysctl("net.ipv4.tcp_tw_reuse", 1)]).collect();
    Some(Check::new("TIME_WAIT", State::Caution, text).changed_by(settings))
}

fn tw_recycle() -> Check {
    let text = "older guides set net.ipv4.tcp_tw_recycle; Linux 4.12 removed it, because it broke clients \
        behind NAT: do not set it";
    Check::new("tcp_tw_recycle", State::Note, text)
}

fn accept_queue(scene: &Scene<'_>) -> Option<Check> {
    const SUBJECT: &str = "accept queue";
    if !scene.serves() {
        let text = "somaxconn, SYN backlog and SYN cookies matter on the server's machine: run stampede \
            doctor there, too";
        return Some(Check::new(SUBJECT, State::Note, text));
    }
    let network = &scene.facts.network;
    let somaxconn = *network.somaxconn.known()?;
    let overflows = network.listen_overflows.known().copied().unwrap_or_default();
    let seen = match overflows {
        0 => String::new(),
        count => {
            format!("; {} overflowed since the machine started", counted(count, "connection", "connections"))
        }
    };
    if somaxconn >= ACCEPT_QUEUE_MIN {
        let state = if overflows == 0 { State::Ok } else { State::Note };
        return Some(Check::new(SUBJECT, state, format!("somaxconn {}{seen}", grouped(somaxconn))));
    }
    let text = format!(
        "somaxconn {}: if more clients connect at once than the server accepts, the others wait a second or \
         more{seen}",
        grouped(somaxconn)
    );
    let check = Check::new(SUBJECT, State::Caution, text)
        .changed_by(vec![Setting::sysctl("net.core.somaxconn", 65_535)]);
    Some(check.and_then("then restart the server"))
}

fn syn_queue(scene: &Scene<'_>) -> Option<Check> {
    if !scene.serves() {
        return None;
    }
    let (backlog, cookies) =
        (*scene.facts.network.syn_backlog.known()?, *scene.facts.network.syncookies.known()?);
    let text = format!("tcp_max_syn_backlog {}, SYN cookies {}", grouped(backlog), cookies_in_words(cookies));
    if cookies != 0 || backlog >= ACCEPT_QUEUE_MIN {
        return Some(Check::new("SYN queue", State::Ok, text));
    }
    let text = format!("{text}: handshakes beyond the queue are dropped and retried after a second");
    let settings = vec![
        Setting::sysctl("net.ipv4.tcp_max_syn_backlog", 65_535),
        Setting::sysctl("net.ipv4.tcp_syncookies", 1),
    ];
    Some(Check::new("SYN queue", State::Caution, text).changed_by(settings))
}

/// Returns the words for `net.ipv4.tcp_syncookies`.
pub(super) fn cookies_in_words(setting: u64) -> &'static str {
    match setting {
        0 => "off",
        1 => "when it is full",
        _ => "always",
    }
}

/// When a crowd leaves at once, each connection that is being closed is an orphan until the other end has confirmed it.
fn orphans(scene: &Scene<'_>) -> Option<Check> {
    let max = *scene.facts.network.max_orphans.known()?;
    let wanted = scene.requirements.clients.saturating_mul(scene.ends());
    let text = format!("tcp_max_orphans {}", grouped(max));
    if wanted <= max {
        return Some(Check::new("closing connections", State::Ok, text));
    }
    let text = format!(
        "{text}: if all clients leave at once, the kernel resets connections beyond it, including others that are \
         being closed"
    );
    let settings = vec![Setting::sysctl("net.ipv4.tcp_max_orphans", wanted)];
    Some(Check::new("closing connections", State::Note, text).changed_by(settings))
}

/// Each packet is looked up there, and passes all connections that share its entry, each of them a miss of the caches.
fn connection_table(scene: &Scene<'_>) -> Option<Check> {
    const SUBJECT: &str = "TCP hash table";
    let entries = *scene.facts.network.connection_table.known()?;
    let connections = scene.requirements.clients.saturating_mul(scene.ends());
    let text = counted(entries, "entry", "entries");
    if connections <= entries.saturating_mul(CONNECTIONS_PER_ENTRY_MAX) {
        return Some(Check::new(SUBJECT, State::Ok, text));
    }
    let text = format!(
        "{text}: about {} connections share one, and each packet is searched for among them",
        grouped(connections / entries.max(1))
    );
    let wanted = connections.min(ENTRIES_MAX).next_power_of_two();
    let setting = Setting::sysctl("net.ipv4.tcp_child_ehash_entries", wanted);
    let remedy = format!(
        "boot with thash_entries={wanted}; or, since Linux 6.2, for containers and network namespaces that are made \
         afterwards: {}",
        command(std::slice::from_ref(&setting))
    );
    Some(Check { remedy: Some(remedy), settings: vec![setting], ..Check::new(SUBJECT, State::Caution, text) })
}

fn packet_queue(scene: &Scene<'_>) -> Option<Check> {
    let network = &scene.facts.network;
    let backlog = *network.netdev_backlog.known()?;
    let dropped = network.backlog_dropped.known().copied().unwrap_or_default();
    let seen = match dropped {
        0 => "none dropped".to_owned(),
        count => format!("{} dropped since the machine started", counted(count, "packet", "packets")),
    };
    let text = format!("netdev_max_backlog {}, {seen}", grouped(backlog));
    // Every loopback packet goes through this queue; those of a network card only if its traffic is steered.
    let short = backlog < PACKET_QUEUE_MIN && (scene.is_local() || dropped > 0);
    if !short {
        return Some(Check::new("packet queue", State::Ok, text));
    }
    let text = format!(
        "{text}: packets of larger bursts are lost, and each loss delays a connection by 200 ms or more"
    );
    let settings = vec![Setting::sysctl("net.core.netdev_max_backlog", 30_000)];
    Some(Check::new("packet queue", State::Caution, text).changed_by(settings))
}

fn buffers(scene: &Scene<'_>) -> Option<Check> {
    let network = &scene.facts.network;
    let ([_, _, receive], [_, _, send]) = (*network.tcp_rmem.known()?, *network.tcp_wmem.known()?);
    let text = format!("a connection can buffer {} received and {} to be sent", bytes(receive), bytes(send));
    if receive.min(send) >= BUFFER_BYTES_MIN {
        return Some(Check::new("buffers", State::Ok, text));
    }
    let text = format!("{text}: large messages and bursts are sent in many small steps");
    let settings = vec![
        Setting::sysctl("net.ipv4.tcp_rmem", "4096 131072 6291456"),
        Setting::sysctl("net.ipv4.tcp_wmem", "4096 16384 4194304"),
    ];
    Some(Check::new("buffers", State::Caution, text).changed_by(settings))
}

fn clock_source(scene: &Scene<'_>) -> Option<Check> {
    let source = scene.facts.clock.source.known()?;
    if FAST_CLOCKS.contains(&source.as_str()) {
        return Some(Check::new("clock", State::Ok, format!("read from {source}, without a system call")));
    }
    let text = format!("read from {source}, with a system call: each time stamp is more expensive");
    let remedy = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource (if the kernel \
        lists it as available)";
    Some(Check::new("clock", State::Caution, text).with(remedy))
}

fn clock_kept(scene: &Scene<'_>) -> Option<Check> {
    let check = |state, text| Some(Check::new("time of day", state, text));
    match scene.facts.clock.synchronised.known() {
        Some(true) => check(State::Ok, "synchronised"),
        Some(false) => check(State::Caution, "not synchronised: the logs of several machines will not match")
            .map(|check| check.with("timedatectl set-ntp true")),
        None if !scene.plays() => None,
        None => check(
            State::Note,
            "not known whether it is synchronised; this does not matter on one machine, and agents measure \
             their offsets",
        ),
    }
}
