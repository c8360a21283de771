//! The status of a running server: the document of `GET /api/status`, which the administration API writes and `throng
//! top` reads. Fields may be added; readers ignore unknown ones.

use serde::{Deserialize, Serialize};

/// The status at one time. Totals count from the server's start.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    /// Version of the server.
    pub(crate) version: String,
    /// Time since its start.
    pub(crate) uptime_seconds: f64,
    pub(crate) connections: ConnectionStatus,
    pub(crate) totals: Totals,
    /// By index.
    pub(crate) shards: Vec<ShardStatus>,
    pub(crate) memory: MemoryStatus,
    /// Largest first.
    pub(crate) topics: Vec<TopicStatus>,
    /// Slowest first.
    pub(crate) slow_readers: Vec<ReaderStatus>,
}

/// Current counts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConnectionStatus {
    pub(crate) open: u64,
    pub(crate) joined: u64,
    /// Counted on each shard that has members.
    pub(crate) topics: u64,
    pub(crate) longpoll_sessions: u64,
    /// Joins beyond the rate, which wait for their turn.
    pub(crate) joins_waiting: u64,
}

/// Totals since the start.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Totals {
    pub(crate) accepted: u64,
    pub(crate) closed: u64,
    /// Closed connections that did not read.
    pub(crate) slow_consumers: u64,
    pub(crate) rejected: u64,
    pub(crate) joins: u64,
    pub(crate) messages_in: u64,
    pub(crate) messages_out: u64,
    pub(crate) bytes_in: u64,
    pub(crate) bytes_out: u64,
    /// Broadcasts for which a topic's queue or a shard's mailbox had no room.
    pub(crate) dropped: u64,
}

/// The status of one shard.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ShardStatus {
    pub(crate) connections: u64,
    /// Mailbox messages that wait.
    pub(crate) mailbox_depth: u64,
    /// Bytes that wait for its slow readers.
    pub(crate) outbox_bytes: u64,
    /// Time that it was not asleep, since the start.
    pub(crate) busy_us: u64,
    /// Its longest turn so far.
    pub(crate) turn_us_max: u64,
}

/// The memory by component, in bytes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MemoryStatus {
    /// Resident memory of the process, as the kernel reports it.
    pub(crate) resident_bytes: u64,
    /// Resident memory and the kernel's memory for the process.
    pub(crate) whole_bytes: u64,
    pub(crate) budget: Option<BudgetStatus>,
    /// The limit of the server's control group, if there is one.
    pub(crate) limit_bytes: Option<u64>,
    pub(crate) components: Vec<ComponentStatus>,
}

/// The memory budget.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BudgetStatus {
    pub(crate) bytes: u64,
    /// Number of connections that it allows now.
    pub(crate) connections: u64,
}

/// A component of the memory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ComponentStatus {
    pub(crate) component: String,
    /// Whether it belongs to the kernel, and is not part of the resident memory.
    pub(crate) kernel: bool,
    pub(crate) bytes: u64,
    /// Bytes per open connection; `null` if the component exists without connections.
    pub(crate) connection_bytes: Option<u64>,
}

/// A topic.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TopicStatus {
    pub(crate) topic: String,
    pub(crate) members: u64,
}

/// A client that reads more slowly than the server sends.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReaderStatus {
    pub(crate) shard: u64,
    /// Its address, if it is still connected.
    pub(crate) remote: Option<String>,
    pub(crate) socket_id: Option<String>,
    pub(crate) waiting_bytes: u64,
}
