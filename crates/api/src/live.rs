//! What operations need from the running server beside its store.

use serde_json::value::RawValue;

/// The channels and counters of the running server.
pub trait Live: Send + Sync {
    /// Sends an event to every member of a topic, and returns before anybody received it. `payload` is a JSON object.
    ///
    /// # Errors
    /// Too many events wait for the topic; try again later.
    fn publish(&self, topic: &str, event: &str, payload: &RawValue) -> Result<(), TopicBusy>;

    /// Returns the server's current counters.
    fn stats(&self) -> ServerStats;
}

/// Too many events wait for a topic.
#[derive(Clone, Copy, Debug)]
pub struct TopicBusy;

/// The server's counters at one moment.
#[derive(Clone, Debug, Default)]
pub struct ServerStats {
    /// Its version.
    pub version: &'static str,
    /// Seconds since it started.
    pub uptime_s: u64,
    /// Connections of clients.
    pub connections: u64,
    /// Joined channels.
    pub joins: u64,
    /// Bytes that the process holds in memory.
    pub memory_bytes: u64,
}
