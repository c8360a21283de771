//! Adds up the memory that the shards, the control plane and the kernel report.

use super::component::{Component, Space};
use crate::admission::Admission;
use crate::metrics::Metrics;
use crate::shard::Mail;
use engine::machine::{self, ProcessMemory};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::Semaphore;

/// Memory of a TLS session after its handshake: the library's state and keys. Measured.
const TLS_SESSION_BYTES: u64 = 7_900;
/// Memory of a connection of the HTTP library: its task, state and buffers. Measured.
const HTTP_CONNECTION_BYTES: u64 = 11_000;
/// Memory of a connection on which a poll waits: its task, and the request head. Measured.
const LONGPOLL_CONNECTION_BYTES: u64 = 3_000;

/// The memory usage at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySnapshot {
    /// Each component, in bytes: first those of the process, then those of the kernel.
    pub components: Vec<(Component, u64)>,
    /// Number of open connections at that time.
    pub connections: u64,
    /// The process's resident memory as the kernel reports it; 0 if it does not.
    pub resident_bytes: u64,
}

impl MemorySnapshot {
    /// Returns the sum of a space's components, in bytes.
    #[must_use]
    pub fn sum(&self, space: Space) -> u64 {
        let of_space = self.components.iter().filter(|(component, _)| component.space() == space);
        of_space.map(|(_, bytes)| bytes).sum()
    }

    /// Returns what the server takes of the machine, in bytes: its resident memory, and the kernel's part.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.resident_bytes.max(self.sum(Space::Process)) + self.sum(Space::Kernel)
    }

    /// Adds a component of the process that the gateway does not know.
    pub fn enter(&mut self, component: Component, bytes: u64) {
        let kernels = self.components.iter().position(|(known, _)| known.space() == Space::Kernel);
        self.components.insert(kernels.unwrap_or(self.components.len()), (component, bytes));
    }

    /// Returns one component, in bytes.
    #[must_use]
    pub fn bytes_of(&self, component: Component) -> u64 {
        self.components.iter().find(|(known, _)| *known == component).map_or(0, |(_, bytes)| *bytes)
    }

    /// Iterates over the components with their bytes per open connection, without those that exist without connections.
    pub fn per_connection(&self) -> impl Iterator<Item = (Component, u64)> + '_ {
        let varying = self.components.iter().filter(|(component, _)| !component.is_fixed());
        varying
            .map(|(component, bytes)| (*component, bytes.checked_div(self.connections).unwrap_or_default()))
    }
}

/// The control plane's connections.
#[derive(Clone)]
pub(crate) struct HttpConnections {
    /// Each connection holds one permit.
    pub(crate) places: Arc<Semaphore>,
    pub(crate) places_max: usize,
    /// The number of connections on which polls wait.
    pub(crate) longpolls: Arc<AtomicUsize>,
}

impl HttpConnections {
    fn count(&self) -> u64 {
        self.places_max.saturating_sub(self.places.available_permits()) as u64
    }

    fn bytes(&self) -> u64 {
        let longpolls = self.longpolls.load(Relaxed) as u64;
        let others = self.count().saturating_sub(longpolls);
        longpolls * LONGPOLL_CONNECTION_BYTES + others * HTTP_CONNECTION_BYTES
    }
}

/// The sources of the numbers.
#[derive(Clone)]
pub(crate) struct Account {
    metrics: Metrics,
    admission: Arc<Admission>,
    http: HttpConnections,
    /// The memory that the kernel takes for one connection.
    socket_bytes: u64,
    /// Heap and stacks at the start.
    runtime_bytes: u64,
}

impl Account {
    /// Takes the current memory of the process as what it takes without connections.
    pub(crate) fn open(metrics: Metrics, admission: Arc<Admission>, http: HttpConnections) -> Account {
        let socket_bytes = machine::socket_bytes();
        let mut account = Account { metrics, admission, http, socket_bytes, runtime_bytes: 0 };
        let counted: u64 = account.counted().iter().map(|(_, bytes)| bytes).sum();
        account.runtime_bytes = process().anonymous_bytes.saturating_sub(counted);
        account
    }

    pub(crate) fn snapshot(&self) -> MemorySnapshot {
        let process = process();
        let mut components =
            vec![(Component::Program, process.file_bytes), (Component::Runtime, self.runtime_bytes)];
        components.extend(self.counted());
        let connections = self.connections();
        components.extend(self.of_kernel(process, connections));
        MemorySnapshot { components, connections, resident_bytes: process.resident_bytes() }
    }

    /// Returns what the kernel takes for one connection, without buffers.
    pub(crate) fn socket_bytes(&self) -> u64 {
        self.socket_bytes
    }

    fn connections(&self) -> u64 {
        self.metrics.engine.iter().map(|shard| shard.open.load(Relaxed)).sum()
    }

    /// Returns the components that the parts of the process count themselves.
    fn counted(&self) -> Vec<(Component, u64)> {
        let engine = |read: fn(&engine::ShardCounters) -> u64| -> u64 {
            self.metrics.engine.iter().map(|shard| read(shard)).sum()
        };
        let shards = self.metrics.shards.iter();
        let hub = shards.clone().map(|shard| shard.memory()).fold(hub::Memory::default(), add);
        let sum = |read: fn(&crate::metrics::ShardMetrics) -> u64| -> u64 { shards.clone().map(read).sum() };
        vec![
            (Component::ConnectionSlots, engine(|shard| shard.slab_bytes.load(Relaxed))),
            (Component::ConnectionStates, hub.connections),
            (Component::ConnectionExtras, hub.extras + engine(|shard| shard.extra_bytes.load(Relaxed))),
            (
                Component::PartialMessages,
                engine(|shard| shard.leftover_bytes.load(Relaxed))
                    + sum(|shard| shard.partial_bytes.load(Relaxed)),
            ),
            (
                Component::TlsSessions,
                engine(|shard| shard.tls_sessions.load(Relaxed)).saturating_mul(TLS_SESSION_BYTES),
            ),
            (Component::Outboxes, engine(|shard| shard.outbox_memory_bytes.load(Relaxed))),
            (Component::Channels, hub.channels),
            (Component::Topics, hub.topics),
            (Component::TopicMembers, hub.members),
            (Component::Publications, hub.publications),
            (Component::Presence, hub.presence),
            (Component::Histories, hub.histories),
            (Component::LongpollSessions, sum(|shard| shard.longpoll_bytes.load(Relaxed))),
            (Component::HttpConnections, self.http.bytes()),
            (Component::Addresses, self.admission.bytes()),
            (
                Component::Mailboxes,
                engine(|shard| shard.mailbox_depth.load(Relaxed)).saturating_mul(size_of::<Mail>() as u64),
            ),
            (Component::Buffers, engine(|shard| shard.buffer_bytes.load(Relaxed))),
        ]
    }

    fn of_kernel(&self, process: ProcessMemory, connections: u64) -> [(Component, u64); 4] {
        let sockets = connections + self.http.count();
        let usage = machine::socket_usage().unwrap_or_default();
        // The kernel reports only the buffers of all sockets together, so a proportional share is the best estimate.
        let share = sockets as f64 / usage.tcp_sockets.max(sockets).max(1) as f64;
        [
            (Component::Sockets, sockets.saturating_mul(self.socket_bytes)),
            (Component::SocketBuffers, (usage.tcp_buffer_bytes as f64 * share) as u64),
            (Component::PageTables, process.page_table_bytes),
            (Component::ThreadStacks, machine::thread_stack_bytes(process.threads)),
        ]
    }
}

/// Returns zeros if the kernel does not report.
fn process() -> ProcessMemory {
    machine::process_memory().unwrap_or_default()
}

fn add(sum: hub::Memory, of: hub::Memory) -> hub::Memory {
    hub::Memory {
        connections: sum.connections + of.connections,
        extras: sum.extras + of.extras,
        channels: sum.channels + of.channels,
        topics: sum.topics + of.topics,
        members: sum.members + of.members,
        publications: sum.publications + of.publications,
        presence: sum.presence + of.presence,
        histories: sum.histories + of.histories,
    }
}
