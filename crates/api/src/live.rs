//! What operations ask of the running server beside its store.

use serde_json::value::RawValue;

/// The channels and numbers of the running server.
pub trait Live: Send + Sync {
    /// Tells every member of a topic something, and returns before anyone got it. `payload` is a JSON object.
    ///
    /// # Errors
    /// Too much waits for the topic; try again later.
    fn publish(&self, topic: &str, event: &str, payload: &RawValue) -> Result<(), TopicBusy>;

    /// The server's numbers of this moment.
    fn stats(&self) -> ServerStats;
}

/// Too much waits for a topic.
#[derive(Clone, Copy, Debug)]
pub struct TopicBusy;

/// The server's numbers of this moment.
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
