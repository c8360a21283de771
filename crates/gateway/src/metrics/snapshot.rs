//! The metrics at one time, summed over the shards.

use super::close_reason::CloseReason;
use super::histogram::Histogram;
use super::shard::{CAPACITY, REJECTIONS, ShardMetrics};
use crate::control::Refusals;
use crate::nodes::Nodes;
use engine::ShardCounters;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// The totals and current values of one shard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShardSnapshot {
    /// Open sockets, including those in a handshake.
    pub connections: u64,
    /// Mailbox messages that wait.
    pub mailbox_depth: u64,
    /// Mailbox messages that were dropped because too many waited.
    pub mailbox_dropped_total: u64,
    /// The longest turn so far, in microseconds.
    pub turn_us_max: u64,
    /// Time that it was not asleep, in microseconds.
    pub busy_us_total: u64,
    /// Bytes that its slow clients have not read yet.
    pub outbox_bytes: u64,
}

/// The totals and current values of the gateway, summed over the shards.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The values of each shard.
    pub shards: Vec<ShardSnapshot>,
    /// Open sockets, including those in a handshake.
    pub connections_open: u64,
    /// Sockets accepted so far.
    pub connections_total: u64,
    /// Long-poll sessions.
    pub longpoll_sessions: u64,
    /// Requests of long-polling clients that were forwarded to the nodes of their sessions, by outcome: `answered`,
    /// `gone` (there is no such session), or `unreachable` (there is no such node, or it did not answer).
    pub longpoll_forwarded: Vec<(&'static str, u64)>,
    /// Ended connections by reason, in the order of [`CloseReason::ALL`].
    pub closed: Vec<(CloseReason, u64)>,
    /// Refused connections by reason.
    pub rejected: Vec<(&'static str, u64)>,
    /// Refused TLS connections for which the server had no room, by outcome: `answered`, or `cut` (beyond
    /// [`Limits::tls_refusals_per_second_max`](crate::Limits), or the client did not wait for the answer).
    pub tls_refusals: Vec<(&'static str, u64)>,
    /// Established joins.
    pub joined: u64,
    /// Joins that were accepted.
    pub joins_total: u64,
    /// Joins that were refused.
    pub joins_refused_total: u64,
    /// Joins that are queued now.
    pub joins_waiting: u64,
    /// Joins that had to be queued.
    pub joins_queued_total: u64,
    /// Joins that were refused because they would have had to wait too long.
    pub joins_overloaded_total: u64,
    /// Topics, counted on each shard that has members.
    pub topics: u64,
    /// Messages from clients.
    pub messages_in_total: u64,
    /// Messages to clients; a broadcast counts once per member.
    pub messages_out_total: u64,
    /// Publications that were dropped because a queue was full.
    pub publications_dropped_total: u64,
    /// Messages that a client's serializer cannot encode.
    pub undeliverable_total: u64,
    /// Channels that panicked or failed.
    pub channels_failed_total: u64,
    /// Connections closed for a message that could not be decoded.
    pub undecodable_total: u64,
    /// Connections closed because too many messages waited for an undecided join or a held channel.
    pub parked_overflows_total: u64,
    /// Publications on recoverable topics that were ordered and stored.
    pub appends_total: u64,
    /// Publications on recoverable topics that were refused because too much waited, or because the bus was away.
    pub appends_refused_total: u64,
    /// How often a shard noticed that publications of a recoverable topic were missing, or that those of an ephemeral
    /// topic may be, after the bus was away.
    pub gaps_total: u64,
    /// How often all missing publications were recovered.
    pub gaps_healed_total: u64,
    /// How often members were told that publications are lost to them.
    pub gaps_told_total: u64,
    /// Joins that got what they missed.
    pub recoveries_total: u64,
    /// Joins that could not get what they missed.
    pub recoveries_refused_total: u64,
    /// Bytes read from sockets.
    pub bytes_in_total: u64,
    /// Bytes written to sockets.
    pub bytes_out_total: u64,
    /// Bytes that slow clients have not read yet.
    pub outbox_bytes: u64,
    /// Time from receiving a message to the last write to (or outbox of) its local subscribers, in seconds. A
    /// publication is counted on each shard with members.
    pub processing_seconds: Histogram,
    /// Number of members that each publication reached, per shard.
    pub fanout_size: Histogram,
}

/// The metrics of all shards.
#[derive(Clone)]
pub(crate) struct Metrics {
    pub(crate) shards: Arc<[ShardMetrics]>,
    pub(crate) engine: Arc<[Arc<ShardCounters>]>,
    pub(crate) nodes: Arc<Nodes>,
    pub(crate) refusals: Arc<Refusals>,
}

impl Metrics {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let mut all = Snapshot {
            closed: CloseReason::ALL.map(|reason| (reason, 0)).to_vec(),
            rejected: REJECTIONS.map(|reason| (reason, 0)).to_vec(),
            longpoll_forwarded: self.nodes.counts.named().to_vec(),
            tls_refusals: self.refusals.named().to_vec(),
            ..Snapshot::default()
        };
        for (metrics, engine) in self.shards.iter().zip(self.engine.iter()) {
            all.add(metrics, engine);
        }
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
            busy_us_total: engine.tick_duration_us_total.load(Relaxed),
            outbox_bytes: engine.outbox_bytes.load(Relaxed),
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
            *sum += count.load(Relaxed) + if *reason == CAPACITY { by_engine } else { 0 };
        }
        self.joined += counters.joined;
        self.joins_total += counters.joins;
        self.joins_refused_total += counters.joins_refused;
        self.joins_waiting += counters.joins_waiting;
        self.joins_queued_total += counters.joins_queued;
        self.joins_overloaded_total += counters.joins_overloaded;
        self.topics += counters.topics;
        self.messages_in_total += counters.messages_in;
        self.messages_out_total += counters.messages_out + counters.deliveries;
        self.publications_dropped_total += counters.publications_dropped;
        self.undeliverable_total += counters.undeliverable;
        self.channels_failed_total += counters.channels_failed;
        self.undecodable_total += counters.undecodable;
        self.parked_overflows_total += counters.parked_overflows;
        self.appends_total += counters.appends;
        self.appends_refused_total += counters.appends_refused;
        self.gaps_total += counters.gaps;
        self.gaps_healed_total += counters.gaps_healed;
        self.gaps_told_total += counters.gaps_told;
        self.recoveries_total += counters.recoveries;
        self.recoveries_refused_total += counters.recoveries_refused;
        self.bytes_in_total += engine.bytes_in.load(Relaxed);
        self.bytes_out_total += engine.bytes_out.load(Relaxed);
        self.outbox_bytes += engine.outbox_bytes.load(Relaxed);
        self.processing_seconds.add(&metrics.processing.snapshot());
        self.fanout_size.add(&metrics.fanout.snapshot());
    }
}
