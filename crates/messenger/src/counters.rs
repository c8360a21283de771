//! The messenger's numbers, for metrics.

/// The numbers of a community at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommunityCounts {
    /// People with a connection, on all nodes.
    pub people: u64,
    /// Connections that have joined a topic of their person, on this node.
    pub devices: u64,
    /// Rooms that somebody has open, on this node.
    pub rooms_open: u64,
}

/// The numbers of one moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Communities with somebody here.
    pub communities: u64,
    /// People who are here, or were a moment ago.
    pub people: u64,
    /// Their devices.
    pub devices: u64,
    /// Rooms that somebody has open.
    pub rooms_open: u64,
    /// Live connections that stand on a token.
    pub sessions: u64,
    /// What was asked of the store.
    pub asked_total: u64,
    /// What of it failed because the store is in trouble.
    pub unavailable_total: u64,
    /// News that were not told because too much waited.
    pub untold_total: u64,
    /// News of other nodes that were heard.
    pub heard_total: u64,
    /// Times that news of other nodes may have been missed, after which everything was read again.
    pub missed_total: u64,
    /// People of whom it was not noted when they were seen because too many waited.
    pub sightings_dropped_total: u64,
    /// What was refused because there was too much of it in a minute, by its limit.
    pub limited: Vec<(&'static str, u64)>,
    /// The read cache by kind: hits and misses.
    pub cache: Vec<(&'static str, u64, u64)>,
    /// Bytes in the read cache.
    pub cache_bytes: u64,
    /// Bytes that may be in it.
    pub cache_bytes_max: u64,
}
