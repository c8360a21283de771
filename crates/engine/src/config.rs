//! The engine's configuration: the number of shards, where they listen, and every limit.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use bytes::Bytes;
use socket2::SockRef;

use crate::driver::LEFTOVER_BYTES_MAX;

/// Minimum size of a shard's read buffer: the longest leftover, and as much again for new bytes.
pub(crate) const READ_BUFFER_BYTES_MIN: usize = 2 * LEFTOVER_BYTES_MAX;
/// Maximum size of a shard's read buffer.
pub(crate) const READ_BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Mail handled per tick, so that a flood of it does not hold up the sockets.
pub(crate) const MAIL_PER_TICK_MAX: usize = 1024;
/// Connections taken from one listener per tick.
pub(crate) const ACCEPTS_PER_TICK_MAX: usize = 128;
/// Connections whose peers are gone that one tick handles; the rest wait for the next tick.
pub(crate) const PARTINGS_PER_TICK_MAX: usize = 64;
/// The same while the driver holds them back.
pub(crate) const PARTINGS_HELD_PER_TICK_MAX: usize = 8;
/// Connections past their linger time that one tick cuts.
pub(crate) const LINGERING_CUT_PER_TICK_MAX: usize = 64;
/// Readiness events taken per tick.
pub(crate) const EVENTS_PER_TICK_MAX: usize = 1024;
/// Staged bytes beyond which the shard flushes before it goes on with the tick.
pub(crate) const STAGED_BYTES_MAX: usize = 128 * 1024;
/// Listen backlog: connections that may wait in the kernel for each shard to accept them.
pub(crate) const BACKLOG: i32 = 8192;
/// How long a shard that ran out of descriptors waits before it tries again, if none of its connections ends earlier.
pub(crate) const ACCEPT_RETRY: Duration = Duration::from_millis(500);
/// Refused connections that have not sent anything yet and that a shard keeps waiting for their first bytes; beyond it
/// the oldest is answered at once.
pub(crate) const TURNED_AWAY_MAX: usize = 16;
/// How long each of them waits.
pub(crate) const TURNED_AWAY_PATIENCE: Duration = Duration::from_secs(1);
/// Bytes that the kernel may keep for the peer of a connection that is over, where the send queues are bounded.
pub(crate) const LAST_WORDS_BYTES_MAX: u64 = 4096;
/// Address space of a shard's stack; only the pages that are touched use memory.
pub(crate) const SHARD_STACK_BYTES: usize = 1024 * 1024;

const _: () = assert!(READ_BUFFER_BYTES_MIN <= READ_BUFFER_BYTES_MAX);
const _: () = assert!(READ_BUFFER_BYTES_MIN > LEFTOVER_BYTES_MAX);
const _: () = assert!(0 < PARTINGS_HELD_PER_TICK_MAX && PARTINGS_HELD_PER_TICK_MAX < PARTINGS_PER_TICK_MAX);

/// The engine's configuration.
#[derive(Clone, Debug)]
pub struct EngineConfig {
    /// Number of shards, at least one.
    pub shards: usize,
    /// Whether the shards share one descriptor table.
    pub tables: Tables,
    /// The addresses that every shard listens on; empty if the shards only connect. Port 0 is any free port; see
    /// [`Prepared::local_addresses`](crate::Prepared::local_addresses).
    pub listen: Vec<SocketAddr>,
    /// Whether a driver's sleep is accurate to the microsecond rather than to the millisecond. Each new deadline then
    /// costs a system call.
    pub fine_timer: bool,
    /// Limits, with what happens beyond each.
    pub limits: EngineLimits,
}

impl EngineConfig {
    /// Configures one shard on `listen`, in the process's own descriptor table, with the default limits.
    #[must_use]
    pub fn new(listen: Vec<SocketAddr>) -> Self {
        Self { shards: 1, tables: Tables::Shared, listen, fine_timer: false, limits: EngineLimits::default() }
    }
}

/// How descriptor tables are assigned to shards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tables {
    /// All shards use the process's table: the descriptor limit applies to the process.
    Shared,
    /// Each shard has its own table: the descriptor limit applies to the shard. Sockets move between tables only
    /// through the kernel, and a descriptor number means something different on each thread. So a driver must neither
    /// own nor use a descriptor that was opened elsewhere: it logs to standard error or through a channel, never to a
    /// file.
    Private,
}

/// Bounds of the kernel's buffers of one socket (SO_SNDBUF, SO_RCVBUF; socket(7)), in bytes. The kernel doubles both
/// for its own needs, may exceed the send bound by one segment (at most 64 KiB), and no longer autotunes either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketBuffers {
    /// Sent by us and not read by the peer.
    pub send_bytes: usize,
    /// Received, and not read by us.
    pub receive_bytes: usize,
}

impl SocketBuffers {
    /// Sets the bounds of a listening socket. The sockets that it accepts from then on inherit them.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn apply(&self, socket: impl AsFd) -> io::Result<()> {
        let socket = SockRef::from(&socket);
        socket.set_send_buffer_size(self.send_bytes)?;
        socket.set_recv_buffer_size(self.receive_bytes)
    }
}

/// Every limit of the engine that a user may set, with what happens beyond it.
#[derive(Clone, Debug)]
pub struct EngineLimits {
    /// Bytes that may be queued for one peer; beyond it the driver is asked to end the connection.
    pub outbox_bytes_max: usize,
    /// Memory that all outboxes of a shard may take, in bytes: each outbox is limited to half of what is left of it, so
    /// that the largest are ended first. Beyond that, too, the driver is asked to end the connection.
    pub outboxes_bytes_max: usize,
    /// Memory that the kernel may use for data that the peers of one shard's connections have not read, in bytes; with
    /// `usize::MAX` only the sockets' buffers bound it. Beyond it bytes wait in the outboxes, and a peer that has not
    /// read everything for a second is cut.
    pub send_queues_bytes_max: usize,
    /// Kernel buffers of each connection that comes in by a listener; `None` leaves them to the kernel.
    pub socket_buffers: Option<SocketBuffers>,
    /// Mail that may wait for one shard; beyond it [`Mailboxes::offer`](crate::Mailboxes::offer) refuses.
    pub mailbox_len_max: usize,
    /// Bytes read from one connection in one tick; beyond it the connection waits for the next tick.
    pub read_bytes_per_turn_max: usize,
    /// Size of each shard's read buffer, between 32 KiB and 64 KiB.
    pub read_buffer_bytes: usize,
    /// How long a closing connection may take to flush and its peer to close its side; beyond it the connection is cut.
    pub linger: Duration,
    /// Connections of all shards together; beyond it `refusal` is sent without asking the driver.
    pub connections_max: usize,
    /// Descriptors of each table, not counting the engine's own, that connections may not use; beyond it `refusal` is
    /// sent.
    pub descriptors_reserve: usize,
    /// What a connection beyond `connections_max` or `descriptors_reserve` is sent before it is closed: once it has
    /// sent something, or a second later.
    pub refusal: Bytes,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            outbox_bytes_max: 1024 * 1024,
            outboxes_bytes_max: usize::MAX,
            send_queues_bytes_max: usize::MAX,
            socket_buffers: None,
            mailbox_len_max: 64 * 1024,
            read_bytes_per_turn_max: 64 * 1024,
            read_buffer_bytes: READ_BUFFER_BYTES_MAX,
            linger: Duration::from_secs(2),
            connections_max: usize::MAX,
            descriptors_reserve: 64,
            refusal: Bytes::from_static(
                b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
            ),
        }
    }
}
