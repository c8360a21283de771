//! Where a run stands, for whoever wants to look at any time.

use std::sync::atomic::AtomicU64;

/// Counts of all shards together; each may be read at any time, and none waits for another.
#[derive(Debug, Default)]
pub struct Gauges {
    /// Users that the schedule has wanted so far; those that could not be started are among them.
    pub wanted: AtomicU64,
    /// Users that are playing.
    pub users: AtomicU64,
    /// Users whose session has ended, in whatever way; a user of a closed phase counts for each of its sessions.
    pub finished: AtomicU64,
    /// Open WebSockets.
    pub connected: AtomicU64,
    /// Joined Phoenix topics.
    pub joined: AtomicU64,
    /// Entries in the users' lists of who is present, for joins with `presence`.
    pub present: AtomicU64,
    /// The phase that runs: its place among all phases of all rounds, from 0.
    pub phase: AtomicU64,
    /// How long shards have waited because the collector could not keep up, in nanoseconds.
    pub stalled_ns: AtomicU64,
}
