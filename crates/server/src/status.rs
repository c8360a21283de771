//! What a running server says of itself: the document of `GET /api/status`, which the administration writes and
//! `throng top` reads. Fields may be added; a reader passes over what it does not know.

use serde::{Deserialize, Serialize};

/// One moment. Totals count from the server's start.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Status {
    /// Version of the server.
    pub(crate) version: String,
    /// Since its start.
    pub(crate) uptime_seconds: f64,
    pub(crate) connections: ConnectionStatus,
    pub(crate) totals: Totals,
    /// By index.
    pub(crate) shards: Vec<ShardStatus>,
    pub(crate) memory: MemoryStatus,
    /// The largest first.
    pub(crate) topics: Vec<TopicStatus>,
    /// Who has most to read first.
    pub(crate) slow_readers: Vec<ReaderStatus>,
}

/// What stands now.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConnectionStatus {
    pub(crate) open: u64,
    pub(crate) joined: u64,
    /// Counted on each shard that has members.
    pub(crate) topics: u64,
    pub(crate) longpoll_sessions: u64,
    /// Joins beyond their pace, which wait for their turn.
    pub(crate) joins_waiting: u64,
}

/// What happened since the start.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Totals {
    pub(crate) accepted: u64,
    pub(crate) closed: u64,
    /// Those of the closed that did not read.
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

/// One shard.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ShardStatus {
    pub(crate) connections: u64,
    /// Messages from other threads that wait.
    pub(crate) mailbox_depth: u64,
    /// Bytes that wait for its slow readers.
    pub(crate) outbox_bytes: u64,
    /// Time that it did not sleep, since the start.
    pub(crate) busy_us: u64,
    /// Its longest turn so far.
    pub(crate) turn_us_max: u64,
}

/// What the memory is made of, in bytes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MemoryStatus {
    /// Of the process, by the kernel.
    pub(crate) resident_bytes: u64,
    /// That, and the kernel's own for the process.
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
    /// Connections that it allows now.
    pub(crate) connections: u64,
}

/// A part of the memory.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ComponentStatus {
    pub(crate) component: String,
    /// Whether it is the kernel's, and no part of what is resident.
    pub(crate) kernel: bool,
    pub(crate) bytes: u64,
    /// For each open connection; `null` where it is there without any.
    pub(crate) connection_bytes: Option<u64>,
}

/// A topic.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct TopicStatus {
    pub(crate) topic: String,
    pub(crate) members: u64,
}

/// A client that does not read as fast as it is sent to.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReaderStatus {
    pub(crate) shard: u64,
    /// Its address, if it is still there.
    pub(crate) remote: Option<String>,
    pub(crate) socket_id: Option<String>,
    pub(crate) waiting_bytes: u64,
}
