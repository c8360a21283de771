//! The metrics that one shard writes.

use super::close_reason::CloseReason;
use super::histogram::AtomicHistogram;
use hub::{Counters, Memory};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Labels of [`Snapshot::rejected`](super::Snapshot::rejected).
pub(crate) const REJECTIONS: [&str; 19] = [
    "origin",
    "auth_token",
    "subprotocol",
    "version",
    "connect",
    "bad_request",
    "timeout",
    "header_bytes",
    "connections_per_ip",
    "connection_rate_per_ip",
    "http_connections",
    "longpoll_sessions",
    LONGPOLL_BODIES,
    "tls",
    "draining",
    PROXY_PROTOCOL,
    CONNECTION_RATE,
    MEMORY_BUDGET,
    CAPACITY,
];
/// Refused for lack of room: by the engine, before the driver is asked, or at an upgrade on the control plane.
pub(crate) const CAPACITY: &str = "capacity";
/// Refused because the bodies of long-poll requests take all the room that they may.
pub(crate) const LONGPOLL_BODIES: &str = "longpoll_bodies";
/// Cut, because it did not begin with the required PROXY protocol header, or is not from a trusted proxy.
pub(crate) const PROXY_PROTOCOL: &str = "proxy_protocol";
/// Refused because connections exceed the rate limit.
pub(crate) const CONNECTION_RATE: &str = "connection_rate";
/// Refused because the memory budget has no room.
pub(crate) const MEMORY_BUDGET: &str = "memory_budget";

/// Upper bounds of the processing time's buckets, in seconds.
pub(crate) const PROCESSING_BOUNDS: [f64; 12] =
    [0.000_025, 0.000_1, 0.000_25, 0.001, 0.002_5, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0];
/// Upper bounds of the fan-out's buckets, in members.
pub(crate) const FANOUT_BOUNDS: [f64; 8] =
    [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0, 10_000_000.0];

/// One shard's metrics, published once per turn.
pub(crate) struct ShardMetrics {
    hub: [AtomicU64; Counters::COUNT],
    memory: [AtomicU64; HUB_COMPONENTS],
    pub(crate) closed: [AtomicU64; CloseReason::ALL.len()],
    pub(crate) rejected: [AtomicU64; REJECTIONS.len()],
    pub(crate) processing: AtomicHistogram<{ PROCESSING_BOUNDS.len() }>,
    pub(crate) fanout: AtomicHistogram<{ FANOUT_BOUNDS.len() }>,
    pub(crate) longpoll_sessions: AtomicU64,
    /// Memory of long-poll sessions, including their queues.
    pub(crate) longpoll_bytes: AtomicU64,
    /// Memory of incomplete WebSocket messages.
    pub(crate) partial_bytes: AtomicU64,
    /// Connections that the driver refused when the engine asked it.
    pub(crate) refused_at_accept: AtomicU64,
}

impl ShardMetrics {
    pub(crate) fn new() -> ShardMetrics {
        ShardMetrics {
            hub: std::array::from_fn(|_| AtomicU64::new(0)),
            memory: std::array::from_fn(|_| AtomicU64::new(0)),
            closed: std::array::from_fn(|_| AtomicU64::new(0)),
            rejected: std::array::from_fn(|_| AtomicU64::new(0)),
            processing: AtomicHistogram::new(PROCESSING_BOUNDS),
            fanout: AtomicHistogram::new(FANOUT_BOUNDS),
            longpoll_sessions: AtomicU64::new(0),
            longpoll_bytes: AtomicU64::new(0),
            partial_bytes: AtomicU64::new(0),
            refused_at_accept: AtomicU64::new(0),
        }
    }

    pub(crate) fn close(&self, reason: CloseReason) {
        self.closed[reason as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn reject(&self, reason: &str) {
        if let Some(at) = REJECTIONS.iter().position(|&known| known == reason) {
            self.rejected[at].fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn observe_processing(&self, span: Duration, messages: u64) {
        self.processing.observe(span.as_secs_f64(), messages);
    }

    pub(crate) fn publish(&self, counters: &Counters, memory: &Memory) {
        for (place, value) in self.hub.iter().zip(counters.to_array()) {
            place.store(value, Relaxed);
        }
        let Memory { connections, extras, channels, topics, members, publications, presence, histories } =
            *memory;
        let components = [connections, extras, channels, topics, members, publications, presence, histories];
        for (place, value) in self.memory.iter().zip(components) {
            place.store(value, Relaxed);
        }
    }

    pub(crate) fn memory(&self) -> Memory {
        let [connections, extras, channels, topics, members, publications, presence, histories] =
            self.memory.each_ref().map(|place| place.load(Relaxed));
        Memory { connections, extras, channels, topics, members, publications, presence, histories }
    }

    pub(super) fn counters(&self) -> Counters {
        Counters::from_array(self.hub.each_ref().map(|place| place.load(Relaxed)))
    }
}

const HUB_COMPONENTS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_hub_keeps_its_place() {
        let mut numbers = 1..;
        let mut next = || numbers.next().expect("endless");
        let counters = Counters::from_array(std::array::from_fn(|_| next()));
        let metrics = ShardMetrics::new();
        let memory = Memory {
            connections: next(),
            extras: next(),
            channels: next(),
            topics: next(),
            members: next(),
            publications: next(),
            presence: next(),
            histories: next(),
        };
        metrics.publish(&counters, &memory);
        assert_eq!((metrics.counters(), metrics.memory()), (counters, memory));
    }
}
