//! Reading the facts of this machine.

use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use engine::machine::{self, setting_numbers};

use super::facts::{
    ClockFacts, Conntrack, DescriptorFacts, Facts, MemoryFacts, NetworkFacts, OwnAddress, PortFacts,
    ProcessorFacts,
};
use super::reading::Reading;

/// How long the machine's time service may take to answer.
const TIME_SERVICE_LIMIT: Duration = Duration::from_secs(3);

impl Facts {
    /// Reads what this machine is and allows; `program` is the name and version of the caller. A fact that cannot be
    /// read has the reason instead; nothing is changed.
    #[must_use]
    pub fn read(program: &str) -> Self {
        Self {
            name: machine::host_name(),
            program: program.to_owned(),
            kernel: machine::kernel_release(),
            processor: processor(),
            memory: memory(),
            descriptors: descriptors(),
            ports: ports(),
            network: network(),
            clock: ClockFacts { source: machine::clock_source().into(), synchronised: synchronised().into() },
        }
    }
}

fn processor() -> ProcessorFacts {
    let read = machine::processor();
    let (model, mhz) = read.as_ref().map(|read| (read.model.clone(), read.mhz)).unwrap_or_default();
    ProcessorFacts {
        cores: machine::cores().map(|cores| cores as u64).into(),
        count: read.map(|read| read.count).into(),
        model,
        mhz,
        governor: machine::governor().ok(),
        runs_on: machine::hypervisor().map(|hypervisor| runs_on(&hypervisor)).into(),
        steal: machine::cpu_time()
            .map(|time| time.steal_ticks as f64 / time.total_ticks.max(1) as f64)
            .into(),
    }
}

fn runs_on(hypervisor: &machine::Hypervisor) -> String {
    let metal = if hypervisor.virtual_machine { "a virtual machine" } else { "hardware, apparently" };
    let product = hypervisor.product.as_ref().map(|product| format!(" ({product})")).unwrap_or_default();
    let container = hypervisor.container.map(|kind| format!(", in a {kind} container")).unwrap_or_default();
    format!("{metal}{product}{container}")
}

fn memory() -> MemoryFacts {
    let memory = Reading::from(machine::memory());
    let limit = machine::memory_limit().ok().flatten();
    MemoryFacts {
        total_bytes: memory.clone().map(|memory| memory.total_bytes),
        available_bytes: memory.map(|memory| memory.available_bytes),
        limit_bytes: limit.as_ref().map(|limit| limit.bytes),
        limit_file: limit.map(|limit| limit.file.display().to_string()),
        page_bytes: machine::page_bytes(),
    }
}

fn descriptors() -> DescriptorFacts {
    let limit = machine::descriptor_limit();
    let files = Reading::from(machine::system_files());
    DescriptorFacts {
        soft: limit.soft,
        hard: limit.hard,
        nr_open: number("fs.nr_open"),
        file_max: files.clone().map(|files| files.max),
        files_open: files.map(|files| files.open),
    }
}

fn ports() -> PortFacts {
    let range = Reading::from(setting_numbers::<2>("net.ipv4.ip_local_port_range"));
    let inside = range.known().copied().unwrap_or_default();
    let own = |own: machine::LocalAddress| OwnAddress { address: own.address, prefix_bits: own.prefix_bits };
    PortFacts {
        reserved: machine::setting("net.ipv4.ip_local_reserved_ports")
            .map(|list| reserved(&list, inside))
            .into(),
        range,
        tw_reuse: number("net.ipv4.tcp_tw_reuse"),
        timestamps: number("net.ipv4.tcp_timestamps"),
        time_wait: machine::socket_usage().map(|usage| usage.tcp_time_wait).into(),
        addresses: machine::local_addresses().map(|all| all.into_iter().map(own).collect()).into(),
    }
}

/// Counts the ports of a list such as `8080,9000-9010` that lie within a range.
fn reserved(list: &str, [first, last]: [u64; 2]) -> u64 {
    let count = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from = from.trim().parse::<u64>().ok()?.max(first);
        let to = to.trim().parse::<u64>().ok()?.min(last);
        Some(to.saturating_add(1).saturating_sub(from))
    };
    list.split(',').filter_map(count).sum()
}

fn network() -> NetworkFacts {
    let drops = Reading::from(machine::drops());
    NetworkFacts {
        somaxconn: number("net.core.somaxconn"),
        syn_backlog: number("net.ipv4.tcp_max_syn_backlog"),
        syncookies: number("net.ipv4.tcp_syncookies"),
        netdev_backlog: number("net.core.netdev_max_backlog"),
        max_orphans: number("net.ipv4.tcp_max_orphans"),
        connection_table: connection_table().into(),
        backlog_dropped: drops.clone().map(|drops| drops.backlog_packets),
        listen_overflows: drops.map(|drops| drops.listen_overflows),
        tcp_mem: setting_numbers("net.ipv4.tcp_mem").into(),
        tcp_rmem: setting_numbers("net.ipv4.tcp_rmem").into(),
        tcp_wmem: setting_numbers("net.ipv4.tcp_wmem").into(),
        conntrack: conntrack(),
    }
}

/// The kernel shows the number as negative in a network namespace that shares the table of the first one.
fn connection_table() -> io::Result<u64> {
    let text = machine::setting("net.ipv4.tcp_ehash_entries")?;
    text.parse::<i64>().map(i64::unsigned_abs).map_err(io::Error::other)
}

fn conntrack() -> Option<Conntrack> {
    let [max] = setting_numbers("net.netfilter.nf_conntrack_max").ok()?;
    let [count] = setting_numbers("net.netfilter.nf_conntrack_count").ok()?;
    Some(Conntrack { max, count })
}

fn number(name: &str) -> Reading<u64> {
    setting_numbers::<1>(name).map(|[number]| number).into()
}

/// Asks the machine's time service. Without unsafe code the kernel's own state, adjtimex(2), cannot be read here.
fn synchronised() -> io::Result<bool> {
    let (sender, answer) = mpsc::channel();
    // A service that hangs is not waited for: its thread is left behind.
    thread::Builder::new().name("time-service".to_owned()).spawn(move || {
        let output = Command::new("timedatectl")
            .args(["show", "--property=NTPSynchronized", "--value"])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        let _ = sender.send(output);
    })?;
    let unclear = |why: &str| io::Error::other(format!("the time service does not report it ({why})"));
    let output = answer
        .recv_timeout(TIME_SERVICE_LIMIT)
        .map_err(|_late| unclear("no answer from timedatectl"))?
        .map_err(|error| unclear(&format!("timedatectl: {error}")))?;
    match String::from_utf8_lossy(&output.stdout).trim() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(unclear("timedatectl does not know")),
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn this_machine_is_read_and_survives_json() {
        let facts = Facts::read("stampede 0.1.0");
        assert!(!facts.name.is_empty());
        assert!(facts.usable_bytes().is_some_and(|bytes| bytes > 0), "{facts:?}");
        assert!(facts.ports_each().is_some_and(|ports| ports > 0), "{facts:?}");
        assert!(facts.is_own(IpAddr::from([127, 0, 0, 1])));
        let json = serde_json::to_string(&facts).expect("JSON");
        assert_eq!(serde_json::from_str::<Facts>(&json).expect("facts"), facts);
    }

    #[test]
    fn reserved_ports_count_inside_the_range_only() {
        for (list, expected) in [
            ("", 0),
            ("8080", 0),
            ("40000", 1),
            ("32000-32769", 2),
            ("60999-65535,40000-40009", 11),
            ("x", 0),
        ] {
            assert_eq!(reserved(list, [32_768, 60_999]), expected, "{list}");
        }
    }
}
