//! What happened on each shard, for metrics and tests.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters and gauges of one shard. Any thread may read them, with relaxed ordering; except where noted, only the
/// shard writes them.
#[derive(Debug, Default)]
pub struct ShardCounters {
    /// Connections admitted or adopted.
    pub accepted_total: AtomicU64,
    /// Connections refused, by the driver or for a limit, and adoptions for which there was no room.
    pub refused_total: AtomicU64,
    /// Failures of `accept`, those for want of descriptors (EMFILE, ENFILE) among them.
    pub accept_errors_total: AtomicU64,
    /// Connections out that were asked for by [`Io::connect`](crate::Io::connect).
    pub connects_total: AtomicU64,
    /// Those of them that failed at once, or ended for whatever cause before they were established.
    pub connect_errors_total: AtomicU64,
    /// Those of them that are neither established nor over now.
    pub connecting: AtomicU64,
    /// Connections that left by [`Io::hand_off`](crate::Io::hand_off).
    pub handed_off_total: AtomicU64,
    /// Connections that ended, whatever the cause.
    pub ended_total: AtomicU64,
    /// Those whose peers were gone and that waited for a later tick, because too many went at once.
    pub partings_delayed_total: AtomicU64,
    /// Connections now, those that are not yet established among them.
    pub open: AtomicU64,
    /// Bytes read; of a TLS connection, the plain ones.
    pub bytes_in: AtomicU64,
    /// Bytes that the kernel took; of a TLS connection, the plain ones that were encrypted for it.
    pub bytes_out: AtomicU64,
    /// System calls that read from a connection.
    pub reads_total: AtomicU64,
    /// System calls that wrote to a connection.
    pub writes_total: AtomicU64,
    /// Bytes waiting now because the kernel would not take them; those that wait for several peers are counted for each.
    pub outbox_bytes: AtomicU64,
    /// Memory of what waits, in bytes: what waits for several peers is there once.
    pub outbox_memory_bytes: AtomicU64,
    /// Outboxes that went beyond their limit.
    pub outbox_overflows_total: AtomicU64,
    /// What the kernel keeps for peers that have not read it, or more, in bytes; 0 without
    /// [`EngineLimits::send_queues_bytes_max`](crate::EngineLimits::send_queues_bytes_max).
    pub send_room_bytes: AtomicU64,
    /// Connections cut because that was too much, and their peers read nothing.
    pub unread_cut_total: AtomicU64,
    /// Bytes of messages cut in two that wait now for their rest.
    pub leftover_bytes: AtomicU64,
    /// Mail waiting now. Also written by those who post.
    pub mailbox_depth: AtomicU64,
    /// Mail refused because the mailbox was full. Written by those who offer.
    pub mailbox_dropped_total: AtomicU64,
    /// Connections found silent beyond their limit, each sweep counted.
    pub expired_total: AtomicU64,
    /// Turns of the readiness loop.
    pub ticks: AtomicU64,
    /// Time spent in ticks, the waiting between them left out, in microseconds.
    pub tick_duration_us_total: AtomicU64,
    /// The longest tick so far, in microseconds.
    pub tick_duration_us_max: AtomicU64,
    /// Memory of the connections' slots, used and free, in bytes.
    pub slab_bytes: AtomicU64,
    /// Memory of the bookkeeping that only some connections need (an outbox, a leftover, TLS), in bytes, without the
    /// bytes that wait in it and without the TLS library's own.
    pub extra_bytes: AtomicU64,
    /// Connections with a TLS session now.
    pub tls_sessions: AtomicU64,
    /// Memory of the shard's own buffers (reading, as far as it was ever filled, and staging), in bytes.
    pub buffer_bytes: AtomicU64,
}

/// Adds to a counter that only the calling thread writes, without the cost of a locked instruction.
pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(amount), Relaxed);
}

/// Takes from a gauge that only the calling thread writes.
pub(crate) fn subtract(gauge: &AtomicU64, amount: u64) {
    gauge.store(gauge.load(Relaxed).wrapping_sub(amount), Relaxed);
}

/// Raises a maximum that only the calling thread writes.
pub(crate) fn raise(maximum: &AtomicU64, value: u64) {
    if value > maximum.load(Relaxed) {
        maximum.store(value, Relaxed);
    }
}

/// Sets a gauge that only the calling thread writes.
pub(crate) fn set(gauge: &AtomicU64, value: usize) {
    gauge.store(value as u64, Relaxed);
}
