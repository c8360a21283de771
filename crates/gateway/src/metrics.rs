//! What shards have done, readable from anywhere without asking them.

use engine::ShardCounters;
use hub::{Counters, Hub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Why connections ended, as the server saw it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CloseReason {
    /// The client closed, or its network did.
    Client,
    /// The socket failed.
    Reset,
    /// Silent for too long (1001).
    Idle,
    /// Would not read what it was sent (1013).
    SlowConsumer,
    /// Broke the WebSocket protocol (1002, 1007, 1009).
    Violation,
    /// Sent what cannot be decoded, or too much behind an undecided join (1011, 1008).
    Undecodable,
    /// Disconnected by its socket id (1001).
    Disconnected,
    /// The server shut down (1012).
    Drained,
    /// The handshake was refused or took too long.
    Handshake,
}

impl CloseReason {
    /// All reasons, in the order of [`Snapshot::closed`].
    pub const ALL: [CloseReason; 9] = [
        CloseReason::Client,
        CloseReason::Reset,
        CloseReason::Idle,
        CloseReason::SlowConsumer,
        CloseReason::Violation,
        CloseReason::Undecodable,
        CloseReason::Disconnected,
        CloseReason::Drained,
        CloseReason::Handshake,
    ];

    /// The metric's label.
    pub fn label(self) -> &'static str {
        match self {
            CloseReason::Client => "client",
            CloseReason::Reset => "reset",
            CloseReason::Idle => "idle",
            CloseReason::SlowConsumer => "slow_consumer",
            CloseReason::Violation => "violation",
            CloseReason::Undecodable => "undecodable",
            CloseReason::Disconnected => "disconnected",
            CloseReason::Drained => "drained",
            CloseReason::Handshake => "handshake",
        }
    }
}

/// Labels of [`Snapshot::rejected`].
pub(crate) const REJECTIONS: [&str; 12] = [
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
    "draining",
    CAPACITY,
];
/// Refused by the engine, before anything of ours is asked.
const CAPACITY: &str = "capacity";

/// Upper bounds of the processing time's buckets, in seconds.
pub(crate) const PROCESSING_BOUNDS: [f64; 12] =
    [0.000_025, 0.000_1, 0.000_25, 0.001, 0.002_5, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0];
/// Upper bounds of the fan-out's buckets, in members.
pub(crate) const FANOUT_BOUNDS: [f64; 8] =
    [1.0, 10.0, 100.0, 1_000.0, 10_000.0, 100_000.0, 1_000_000.0, 10_000_000.0];

/// Written by one shard, read by anyone.
pub(crate) struct AtomicHistogram<const BUCKETS: usize> {
    bounds: [f64; BUCKETS],
    buckets: [AtomicU64; BUCKETS],
    beyond: AtomicU64,
    /// In the unit's millionths.
    sum_micro: AtomicU64,
}

impl<const BUCKETS: usize> AtomicHistogram<BUCKETS> {
    fn new(bounds: [f64; BUCKETS]) -> Self {
        let buckets = std::array::from_fn(|_| AtomicU64::new(0));
        AtomicHistogram { bounds, buckets, beyond: AtomicU64::new(0), sum_micro: AtomicU64::new(0) }
    }

    pub(crate) fn observe(&self, value: f64, times: u64) {
        let bucket = self.bounds.iter().position(|&bound| value <= bound).map(|at| &self.buckets[at]);
        bucket.unwrap_or(&self.beyond).fetch_add(times, Relaxed);
        self.sum_micro.fetch_add((value * 1e6) as u64 * times, Relaxed);
    }

    fn snapshot(&self) -> Histogram {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        let beyond = self.beyond.load(Relaxed);
        let count = counts.iter().sum::<u64>() + beyond;
        let sum = self.sum_micro.load(Relaxed) as f64 / 1e6;
        Histogram { bounds: self.bounds.to_vec(), counts, count, sum }
    }
}

/// A histogram at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Upper bounds of the buckets, ascending.
    pub bounds: Vec<f64>,
    /// Observations in each bucket alone, not cumulated.
    pub counts: Vec<u64>,
    /// All observations, beyond the last bound too.
    pub count: u64,
    /// Their sum.
    pub sum: f64,
}

impl Histogram {
    fn add(&mut self, other: &Histogram) {
        if self.bounds.is_empty() {
            *self = other.clone();
            return;
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
    }
}

/// One shard's numbers, published once a turn.
pub(crate) struct ShardMetrics {
    hub: [AtomicU64; 14],
    pub(crate) closed: [AtomicU64; CloseReason::ALL.len()],
    pub(crate) rejected: [AtomicU64; REJECTIONS.len()],
    pub(crate) processing: AtomicHistogram<{ PROCESSING_BOUNDS.len() }>,
    pub(crate) fanout: AtomicHistogram<{ FANOUT_BOUNDS.len() }>,
    pub(crate) longpoll_sessions: AtomicU64,
    /// Those of the refused connections that the driver refused when the engine asked it.
    pub(crate) refused_at_accept: AtomicU64,
}

impl ShardMetrics {
    pub(crate) fn new() -> ShardMetrics {
        ShardMetrics {
            hub: std::array::from_fn(|_| AtomicU64::new(0)),
            closed: std::array::from_fn(|_| AtomicU64::new(0)),
            rejected: std::array::from_fn(|_| AtomicU64::new(0)),
            processing: AtomicHistogram::new(PROCESSING_BOUNDS),
            fanout: AtomicHistogram::new(FANOUT_BOUNDS),
            longpoll_sessions: AtomicU64::new(0),
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

    pub(crate) fn publish(&self, counters: &Counters) {
        for (place, value) in self.hub.iter().zip(flat(counters)) {
            place.store(value, Relaxed);
        }
    }

    fn counters(&self) -> Counters {
        let value = |at: usize| self.hub[at].load(Relaxed);
        Counters {
            connections: value(0),
            joined: value(1),
            topics: value(2),
            joins: value(3),
            joins_refused: value(4),
            messages_in: value(5),
            messages_out: value(6),
            publications: value(7),
            deliveries: value(8),
            publications_dropped: value(9),
            undeliverable: value(10),
            channels_failed: value(11),
            connection_bytes: value(12),
            channel_bytes: value(13),
            ..Counters::default()
        }
    }
}

fn flat(counters: &Counters) -> [u64; 14] {
    [
        counters.connections,
        counters.joined,
        counters.topics,
        counters.joins,
        counters.joins_refused,
        counters.messages_in,
        counters.messages_out,
        counters.publications,
        counters.deliveries,
        counters.publications_dropped,
        counters.undeliverable,
        counters.channels_failed,
        counters.connection_bytes,
        counters.channel_bytes,
    ]
}

/// What one shard has done and holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShardSnapshot {
    /// Open sockets, handshakes included.
    pub connections: u64,
    /// Mail that waits.
    pub mailbox_depth: u64,
    /// Mail that was dropped because too much waited.
    pub mailbox_dropped_total: u64,
    /// The longest turn so far, in microseconds.
    pub turn_us_max: u64,
}

/// What the gateway has done and holds, summed over shards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Each shard's own.
    pub shards: Vec<ShardSnapshot>,
    /// Open sockets, handshakes included.
    pub connections_open: u64,
    /// Sockets that ever were.
    pub connections_total: u64,
    /// Long-poll sessions.
    pub longpoll_sessions: u64,
    /// Ended connections by reason, in the order of [`CloseReason::ALL`].
    pub closed: Vec<(CloseReason, u64)>,
    /// Refused connections by reason.
    pub rejected: Vec<(&'static str, u64)>,
    /// Joins that stand.
    pub joined: u64,
    /// Joins that were accepted.
    pub joins_total: u64,
    /// Joins that were refused.
    pub joins_refused_total: u64,
    /// Topics, counted on each shard that has members.
    pub topics: u64,
    /// Messages from clients.
    pub messages_in_total: u64,
    /// Messages to clients, broadcasts counted once for each member.
    pub messages_out_total: u64,
    /// Publications that could not be queued.
    pub publications_dropped_total: u64,
    /// Messages that a client's serializer cannot carry.
    pub undeliverable_total: u64,
    /// Channels that panicked or failed.
    pub channels_failed_total: u64,
    /// Bytes read from sockets.
    pub bytes_in_total: u64,
    /// Bytes written to sockets.
    pub bytes_out_total: u64,
    /// Bytes that slow clients have not taken yet.
    pub outbox_bytes: u64,
    /// Memory by component, in bytes.
    pub memory: Vec<(&'static str, u64)>,
    /// From receiving a message to the last write or outbox of its local subscribers, in seconds. A publication is
    /// counted on each shard with members.
    pub processing_seconds: Histogram,
    /// Members that publications reached, on each shard.
    pub fanout_size: Histogram,
}

/// All shards' numbers.
#[derive(Clone)]
pub(crate) struct Metrics {
    pub(crate) shards: Arc<[ShardMetrics]>,
    pub(crate) engine: Arc<[Arc<ShardCounters>]>,
}

impl Metrics {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot {
            closed: CloseReason::ALL.map(|reason| (reason, 0)).to_vec(),
            rejected: REJECTIONS.map(|reason| (reason, 0)).to_vec(),
            ..Snapshot::default()
        };
        let (mut slots, mut rare, mut buffers, mut connections, mut channels) = (0, 0, 0, 0, 0);
        for (metrics, engine) in self.shards.iter().zip(self.engine.iter()) {
            all.add(metrics, engine);
            slots += engine.slab_bytes.load(Relaxed);
            rare += engine.extra_bytes.load(Relaxed);
            buffers += engine.buffer_bytes.load(Relaxed);
            let counters = metrics.counters();
            connections += counters.connection_bytes;
            channels += counters.channel_bytes;
        }
        all.memory = vec![
            ("engine_slots", slots),
            ("hub_connections", connections),
            ("topic_members", all.joined * Hub::MEMBER_BYTES as u64),
            ("channels", channels),
            ("engine_rare", rare),
            ("buffers", buffers),
            ("outboxes", all.outbox_bytes),
        ];
        all
    }
}

impl Snapshot {
    fn add(&mut self, metrics: &ShardMetrics, engine: &ShardCounters) {
        let counters = metrics.counters();
        let open = engine.open.load(Relaxed);
        self.shards.push(ShardSnapshot {
            connections: open,
            mailbox_depth: engine.mailbox_depth.load(Relaxed),
            mailbox_dropped_total: engine.mailbox_dropped_total.load(Relaxed),
            turn_us_max: engine.tick_duration_us_max.load(Relaxed),
        });
        self.connections_open += open;
        self.connections_total += engine.accepted_total.load(Relaxed);
        self.longpoll_sessions += metrics.longpoll_sessions.load(Relaxed);
        for ((_, sum), count) in self.closed.iter_mut().zip(&metrics.closed) {
            *sum += count.load(Relaxed);
        }
        let by_engine =
            engine.refused_total.load(Relaxed).saturating_sub(metrics.refused_at_accept.load(Relaxed));
        for ((reason, sum), count) in self.rejected.iter_mut().zip(&metrics.rejected) {
            *sum += if *reason == CAPACITY { by_engine } else { count.load(Relaxed) };
        }
        self.joined += counters.joined;
        self.joins_total += counters.joins;
        self.joins_refused_total += counters.joins_refused;
        self.topics += counters.topics;
        self.messages_in_total += counters.messages_in;
        self.messages_out_total += counters.messages_out + counters.deliveries;
        self.publications_dropped_total += counters.publications_dropped;
        self.undeliverable_total += counters.undeliverable;
        self.channels_failed_total += counters.channels_failed;
        self.bytes_in_total += engine.bytes_in.load(Relaxed);
        self.bytes_out_total += engine.bytes_out.load(Relaxed);
        self.outbox_bytes += engine.outbox_bytes.load(Relaxed);
        self.processing_seconds.add(&metrics.processing.snapshot());
        self.fanout_size.add(&metrics.fanout.snapshot());
    }
}
