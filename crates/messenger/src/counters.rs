//! The messenger's counters, for metrics.

/// A community's counters at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommunityCounts {
    /// People with a connection, on all nodes.
    pub people: u64,
    /// Connections that have joined their person's topic, on this node.
    pub devices: u64,
    /// Rooms that at least one connection has open, on this node.
    pub rooms_open: u64,
}

/// All counters at one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Communities with at least one person online on this node.
    pub communities: u64,
    /// People online on this node, or within their lease after the last device disconnected.
    pub people: u64,
    /// Their devices.
    pub devices: u64,
    /// Rooms that at least one connection has open.
    pub rooms_open: u64,
    /// Live connections that rely on a verified token.
    pub sessions: u64,
    /// Joins that wait because many of their community are under way.
    pub joins_waiting: u64,
    /// Joins that were refused because they had waited too long.
    pub joins_refused_total: u64,
    /// Requests to the store.
    pub asked_total: u64,
    /// Requests that failed because the store was in trouble.
    pub unavailable_total: u64,
    /// Events that the outlet rejected because too many were queued.
    pub untold_total: u64,
    /// Messages received from other nodes.
    pub heard_total: u64,
    /// Times that messages of other nodes may have been missed, after which everything was read again.
    pub missed_total: u64,
    /// Sightings that were dropped because too many were queued.
    pub sightings_dropped_total: u64,
    /// Requests refused by a per-minute limit, by limit.
    pub limited: Vec<(&'static str, u64)>,
    /// The read cache by kind: hits and misses.
    pub cache: Vec<(&'static str, u64, u64)>,
    /// Bytes used by the read cache.
    pub cache_bytes: u64,
    /// Upper bound of the read cache, in bytes.
    pub cache_bytes_max: u64,
}
