//! Counters of what happened on each shard, for metrics and tests.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters and gauges of one shard. Any thread may read them, with relaxed ordering; except where noted, only the
/// shard writes them.
#[derive(Debug, Default)]
pub struct ShardCounters {
    /// Connections admitted or adopted.
    pub accepted_total: AtomicU64,
    /// Connections refused, by the driver or because of a limit, and adoptions for which there was no room.
    pub refused_total: AtomicU64,
    /// Failures of `accept`, including those for lack of descriptors (EMFILE, ENFILE).
    pub accept_errors_total: AtomicU64,
    /// Outgoing connections requested by [`Io::connect`](crate::Io::connect).
    pub connects_total: AtomicU64,
    /// Those of them that failed at once, or ended for any reason before they were established.
    pub connect_errors_total: AtomicU64,
    /// Those of them that are now neither established nor ended.
    pub connecting: AtomicU64,
    /// Connections that left by [`Io::hand_off`](crate::Io::hand_off).
    pub handed_off_total: AtomicU64,
    /// Connections that ended, whatever the cause.
    pub ended_total: AtomicU64,
    /// Connections whose peers were gone and that waited for a later tick, because too many went at once.
    pub partings_delayed_total: AtomicU64,
    /// Current connections, including those that are not yet established.
    pub open: AtomicU64,
    /// Bytes read; for a TLS connection, plaintext bytes.
    pub bytes_in: AtomicU64,
    /// Bytes that the kernel accepted; for a TLS connection, the plaintext bytes that were encrypted for it.
    pub bytes_out: AtomicU64,
    /// System calls that read from a connection.
    pub reads_total: AtomicU64,
    /// System calls that wrote to a connection.
    pub writes_total: AtomicU64,
    /// Bytes waiting now because the kernel did not accept them; those that wait for several peers count for each.
    pub outbox_bytes: AtomicU64,
    /// Memory of what is waiting, in bytes; what waits for several peers counts once.
    pub outbox_memory_bytes: AtomicU64,
    /// Outboxes that exceeded their limit.
    pub outbox_overflows_total: AtomicU64,
    /// Upper bound on what the kernel keeps for peers that have not read it, in bytes; 0 without
    /// [`EngineLimits::send_queues_bytes_max`](crate::EngineLimits::send_queues_bytes_max).
    pub send_room_bytes: AtomicU64,
    /// Connections cut because that exceeded its limit and their peers read nothing.
    pub unread_cut_total: AtomicU64,
    /// Bytes of incomplete messages that wait for the rest.
    pub leftover_bytes: AtomicU64,
    /// Mail waiting now. Also written by the senders.
    pub mailbox_depth: AtomicU64,
    /// Mail refused because the mailbox was full. Written by the senders.
    pub mailbox_dropped_total: AtomicU64,
    /// Connections found silent beyond their limit, counted at each sweep.
    pub expired_total: AtomicU64,
    /// Iterations of the readiness loop.
    pub ticks: AtomicU64,
    /// Time spent in ticks, excluding the wait between them, in microseconds.
    pub tick_duration_us_total: AtomicU64,
    /// The longest tick so far, in microseconds.
    pub tick_duration_us_max: AtomicU64,
    /// Memory of the connections' slots, used and free, in bytes.
    pub slab_bytes: AtomicU64,
    /// Memory of the state that only some connections need (an outbox, a leftover, TLS), in bytes, without the bytes
    /// that wait in it and without the TLS library's own memory.
    pub extra_bytes: AtomicU64,
    /// Current connections with a TLS session.
    pub tls_sessions: AtomicU64,
    /// Memory of the shard's own buffers, in bytes: the read buffer as far as it was ever filled, and staging.
    pub buffer_bytes: AtomicU64,
}

/// Adds to a counter that only the calling thread writes, without the cost of a locked instruction.
pub(crate) fn add(counter: &AtomicU64, amount: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(amount), Relaxed);
}

/// Subtracts from a gauge that only the calling thread writes.
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
