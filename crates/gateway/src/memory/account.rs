//! Adds up what shards, control plane and kernel tell.

use super::component::{Component, Space};
use crate::admission::Admission;
use crate::metrics::Metrics;
use crate::shard::Mail;
use engine::machine::{self, ProcessMemory};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tokio::sync::Semaphore;

/// What a TLS session takes once its handshake is done: the library's state and keys. Measured.
const TLS_SESSION_BYTES: u64 = 7_900;
/// What a connection of the HTTP library takes: its task, state and buffers. Measured.
const HTTP_CONNECTION_BYTES: u64 = 13_400;
/// What a connection takes on which a poll waits: its task, and the request's head. Measured.
const LONGPOLL_CONNECTION_BYTES: u64 = 3_000;

/// The memory of one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemorySnapshot {
    /// Each component, in bytes; first the process's, then the kernel's.
    pub components: Vec<(Component, u64)>,
    /// Open connections at that moment.
    pub connections: u64,
    /// The process's resident memory as the kernel tells it; 0 where it does not.
    pub resident_bytes: u64,
}

impl MemorySnapshot {
    /// The sum of a space's components, in bytes.
    #[must_use]
    pub fn sum(&self, space: Space) -> u64 {
        let of_space = self.components.iter().filter(|(component, _)| component.space() == space);
        of_space.map(|(_, bytes)| bytes).sum()
    }

    /// What the server takes of the machine, in bytes: its resident memory, and the kernel's part.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.resident_bytes.max(self.sum(Space::Process)) + self.sum(Space::Kernel)
    }

    /// Enters what something else of the process takes that the gateway does not know.
    pub fn enter(&mut self, component: Component, bytes: u64) {
        let kernels = self.components.iter().position(|(known, _)| known.space() == Space::Kernel);
        self.components.insert(kernels.unwrap_or(self.components.len()), (component, bytes));
    }

    /// One component, in bytes.
    #[must_use]
    pub fn bytes_of(&self, component: Component) -> u64 {
        self.components.iter().find(|(known, _)| *known == component).map_or(0, |(_, bytes)| *bytes)
    }

    /// Bytes for each open connection, by component; of those that are there without any, nothing.
    pub fn per_connection(&self) -> impl Iterator<Item = (Component, u64)> + '_ {
        let varying = self.components.iter().filter(|(component, _)| !component.is_fixed());
        varying
            .map(|(component, bytes)| (*component, bytes.checked_div(self.connections).unwrap_or_default()))
    }
}

/// The control plane's connections.
#[derive(Clone)]
pub(crate) struct HttpConnections {
    /// A place less for each.
    pub(crate) places: Arc<Semaphore>,
    pub(crate) places_max: usize,
    /// Those on which polls wait.
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

/// Where the numbers are.
#[derive(Clone)]
pub(crate) struct Account {
    metrics: Metrics,
    admission: Arc<Admission>,
    http: HttpConnections,
    /// What the kernel takes for one connection.
    socket_bytes: u64,
    /// Heap and stacks at the start.
    runtime_bytes: u64,
}

impl Account {
    /// Takes what the process has now for what it takes without connections.
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

    /// What the kernel takes for one connection, without buffers.
    pub(crate) fn socket_bytes(&self) -> u64 {
        self.socket_bytes
    }

    fn connections(&self) -> u64 {
        self.metrics.engine.iter().map(|shard| shard.open.load(Relaxed)).sum()
    }

    /// What the parts of the process counted of themselves.
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
        // The kernel tells the buffers of all sockets only, so a share of them is the best that can be said.
        let share = sockets as f64 / usage.tcp_sockets.max(sockets).max(1) as f64;
        [
            (Component::Sockets, sockets.saturating_mul(self.socket_bytes)),
            (Component::SocketBuffers, (usage.tcp_buffer_bytes as f64 * share) as u64),
            (Component::PageTables, process.page_table_bytes),
            (Component::ThreadStacks, machine::thread_stack_bytes(process.threads)),
        ]
    }
}

/// Nothing where the kernel does not tell.
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
