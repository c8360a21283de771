//! What a machine is and allows, as far as it matters for many connections.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reading::Reading;

/// The facts of one machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// Host name.
    pub name: String,
    /// Name and version of the program that read them.
    pub program: String,
    /// Name and release of the kernel.
    pub kernel: String,
    /// Processors.
    pub processor: ProcessorFacts,
    /// Memory.
    pub memory: MemoryFacts,
    /// Descriptors and files.
    pub descriptors: DescriptorFacts,
    /// Source ports.
    pub ports: PortFacts,
    /// The network stack.
    pub network: NetworkFacts,
    /// The clock.
    pub clock: ClockFacts,
}

/// Processors, and what they run on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProcessorFacts {
    /// Threads of this process that can run at once, by affinity and quota.
    pub cores: Reading<u64>,
    /// Logical processors of the machine.
    pub count: Reading<u32>,
    /// Model, where the architecture names it.
    pub model: Option<String>,
    /// Clock frequency in MHz at the moment of reading, where it is told.
    pub mhz: Option<f64>,
    /// Frequency governor; `None` where the machine does not scale its frequency.
    pub governor: Option<String>,
    /// Virtual machine and container, as far as they show.
    pub runs_on: Reading<String>,
    /// Share of the time since the machine's start that the hypervisor gave to others, 0 … 1.
    pub steal: Reading<f64>,
}

/// Memory, in bytes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFacts {
    /// Of the machine.
    pub total_bytes: Reading<u64>,
    /// What a new program could use without swapping.
    pub available_bytes: Reading<u64>,
    /// What the control group allows; `None` when it sets no limit.
    pub limit_bytes: Option<u64>,
    /// The file that says so.
    pub limit_file: Option<String>,
    /// Bytes of a page.
    pub page_bytes: u64,
}

/// Descriptors and files.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct DescriptorFacts {
    /// RLIMIT_NOFILE in force, per table; `None` is no limit.
    pub soft: Option<u64>,
    /// RLIMIT_NOFILE as far as the process may raise it; `None` is no limit.
    pub hard: Option<u64>,
    /// `fs.nr_open`: how far the hard limit can be raised.
    pub nr_open: Reading<u64>,
    /// `fs.file-max`: files that the machine may have open.
    pub file_max: Reading<u64>,
    /// Files that it has open.
    pub files_open: Reading<u64>,
}

/// Source ports.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PortFacts {
    /// `net.ipv4.ip_local_port_range`: first and last port that the kernel gives.
    pub range: Reading<[u64; 2]>,
    /// Ports in that range that are reserved for others.
    pub reserved: Reading<u64>,
    /// `net.ipv4.tcp_tw_reuse`: 0 never, 1 always, 2 on loopback.
    pub tw_reuse: Reading<u64>,
    /// `net.ipv4.tcp_timestamps`, without which nothing is used again.
    pub timestamps: Reading<u64>,
    /// Sockets in TIME_WAIT.
    pub time_wait: Reading<u64>,
    /// The machine's own addresses and networks.
    pub addresses: Reading<Vec<OwnAddress>>,
}

/// An address of the machine, or a network that is all its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct OwnAddress {
    /// The address, or the network's first.
    pub address: IpAddr,
    /// 32 or 128 for a single one.
    pub prefix_bits: u8,
}

/// The network stack.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct NetworkFacts {
    /// `net.core.somaxconn`: connections that may wait for a listener.
    pub somaxconn: Reading<u64>,
    /// `net.ipv4.tcp_max_syn_backlog`: handshakes that may be under way for a listener.
    pub syn_backlog: Reading<u64>,
    /// `net.ipv4.tcp_syncookies`: 0 off, 1 when the queue is full, 2 always.
    pub syncookies: Reading<u64>,
    /// `net.core.netdev_max_backlog`: packets that may wait for one processor.
    pub netdev_backlog: Reading<u64>,
    /// Packets that found no room there since the machine started.
    pub backlog_dropped: Reading<u64>,
    /// `net.ipv4.tcp_max_orphans`: closed sockets whose peer has not confirmed that yet.
    #[serde(default)]
    pub max_orphans: Reading<u64>,
    /// `net.ipv4.tcp_ehash_entries`: entries of the hash table in which TCP finds the connection of a packet.
    #[serde(default)]
    pub connection_table: Reading<u64>,
    /// Connections that found a listener's queue full since the machine started.
    pub listen_overflows: Reading<u64>,
    /// `net.ipv4.tcp_mem`: pages of all TCP buffers: no pressure below, pressure above, never more.
    pub tcp_mem: Reading<[u64; 3]>,
    /// `net.ipv4.tcp_rmem`: bytes of one receive buffer: least, usual, most.
    pub tcp_rmem: Reading<[u64; 3]>,
    /// `net.ipv4.tcp_wmem`: bytes of one send buffer: least, usual, most.
    pub tcp_wmem: Reading<[u64; 3]>,
    /// Connection tracking; `None` when its module is not loaded.
    pub conntrack: Option<Conntrack>,
}

/// Connection tracking of the firewall.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Conntrack {
    /// `net.netfilter.nf_conntrack_max`: connections that it can keep.
    pub max: u64,
    /// Connections that it keeps.
    pub count: u64,
}

/// The clock.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ClockFacts {
    /// What the kernel reads the time from.
    pub source: Reading<String>,
    /// Whether it is kept with the world's.
    pub synchronised: Reading<bool>,
}

impl Facts {
    /// Returns whether `address` is one of the machine's own; also `false` if the machine's addresses are not known and
    /// it is not a loopback address.
    #[must_use]
    pub fn is_own(&self, address: IpAddr) -> bool {
        let contains = |own: &OwnAddress| {
            engine::machine::LocalAddress { address: own.address, prefix_bits: own.prefix_bits }
                .contains(address)
        };
        address.is_loopback() || self.ports.addresses.known().is_some_and(|own| own.iter().any(contains))
    }

    /// Returns how many source ports the kernel has for one address and target.
    #[must_use]
    pub fn ports_each(&self) -> Option<u64> {
        let [first, last] = *self.ports.range.known()?;
        let reserved = self.ports.reserved.known().copied().unwrap_or_default();
        Some(last.checked_sub(first)?.saturating_add(1).saturating_sub(reserved))
    }

    /// Returns how many descriptors a table of this process can be raised to.
    #[must_use]
    pub fn table_size(&self) -> Option<u64> {
        let nr_open = self.descriptors.nr_open.known().copied();
        self.descriptors.hard.into_iter().chain(nr_open).min()
    }

    /// Returns the memory that this process can have without anything being swapped or killed, in bytes.
    #[must_use]
    pub fn usable_bytes(&self) -> Option<u64> {
        let available = self.memory.available_bytes.known().copied();
        available.into_iter().chain(self.memory.limit_bytes).min()
    }
}
