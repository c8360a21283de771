//! The [`Driver`] trait, whose implementation runs inside a shard, and the types that it and the engine exchange.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;

use crate::Io;

/// The most bytes that [`Driver::received`] may leave unconsumed. They are kept per connection, so this bounds what a
/// peer that splits its messages can make the engine hold.
pub const LEFTOVER_BYTES_MAX: usize = 16 * 1024;

/// Index of a shard, from zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShardIndex(pub u16);

/// Index of the configured address that a connection came in by, from zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ListenerIndex(pub u16);

/// A connection of one shard. Slots are dense and reused after a connection's end; the generation tells successive
/// users apart, so that a stale id refers to nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConnectionId {
    /// Index in the shard's slab, below [`Io::slots`].
    pub slot: u32,
    /// How often the slot was used before.
    pub generation: u32,
}

/// The driver's answer to a new connection.
#[derive(Debug)]
pub enum Admission<P> {
    /// Accept it, with this state.
    Admit(P),
    /// Once it has sent something, or a second later, write these bytes as far as the kernel accepts them at once, then
    /// close it. If there are none, close it now.
    Refuse(Bytes),
}

/// Outcome of one [`Io::deliver`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// The kernel accepted all of it.
    Written,
    /// It is queued: behind earlier data, or because the kernel did not accept all of it.
    Queued,
    /// There is no such connection, or it is ending.
    Gone,
}

/// Why a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndCause {
    /// The peer closed its side first.
    PeerClosed,
    /// The socket failed; a reset by the peer is [`io::ErrorKind::ConnectionReset`]. Before [`Driver::connected`], the
    /// connection could not be made: [`io::ErrorKind::ConnectionRefused`], [`io::ErrorKind::HostUnreachable`] and so
    /// on, or [`io::ErrorKind::UnexpectedEof`] if the peer closed during the TLS handshake.
    Reset(io::ErrorKind),
    /// The TLS session failed, in its handshake or later; [`Io::tls_error`] gives the reason.
    Tls,
    /// Closed by [`Io::close`] or [`Io::close_with`], and the peer closed its side in time.
    Local,
    /// Closed by [`Io::close`] or [`Io::close_with`], and the peer did not close its side in time.
    Lingered,
    /// Cut by [`Io::abort`], whether established or not.
    Aborted,
    /// The outbox exceeded its limit, however the driver then closed the connection.
    Overflow,
    /// [`Driver::received`] left more than [`LEFTOVER_BYTES_MAX`] unconsumed.
    Unconsumed,
    /// It left the shard by [`Io::hand_off`]; the socket lives on elsewhere.
    HandedOff,
    /// The engine was shut down.
    Shutdown,
}

/// The code that runs inside a shard: one value per shard, created on the shard's own thread, so it need not be `Send`.
///
/// The engine calls one method at a time. A method must not block: the shard does nothing else meanwhile. With
/// [`Tables::Private`](crate::Tables) it must also not touch a descriptor that another thread opened.
pub trait Driver: Sized + 'static {
    /// State stored with each connection, inline in the slab. Keep it within 16 bytes.
    type Peer: 'static;
    /// What other threads post to the shard.
    type Mail: Send + 'static;
    /// What accompanies a socket that the control plane passes to the shard.
    type Seed: Send + 'static;

    /// Decides whether to accept a new incoming connection.
    fn accepted(&mut self, listener: ListenerIndex, remote: SocketAddr) -> Admission<Self::Peer>;

    /// Returns the state of an adopted connection; called just before [`Driver::adopted`].
    fn peer_for(&mut self, seed: &Self::Seed) -> Self::Peer;

    /// A socket arrived from the control plane, by [`Engine::adopt`](crate::Engine::adopt).
    fn adopted(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, seed: Self::Seed);

    /// A connection begun by [`Io::connect`] is established, including its TLS handshake if it has one. If it fails
    /// before that, only [`Driver::ended`] is called. The default does nothing, for drivers that do not connect.
    fn connected(&mut self, _io: &mut Io<'_, Self>, _id: ConnectionId) {}

    /// Bytes arrived: everything unread, contiguous, with what was left over the last time in front. Returns how many
    /// were consumed. The rest, at most [`LEFTOVER_BYTES_MAX`], is kept as the driver left it and passed again in front
    /// of the next bytes.
    fn received(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, bytes: &mut [u8]) -> usize;

    /// The connection is over, and no later call names it. Called exactly once for each admitted, adopted or begun
    /// connection, whatever the cause; `id` no longer refers to a connection.
    fn ended(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, peer: Self::Peer, cause: EndCause);

    /// Returns how long the peer may be silent, counted from its last byte or the connection's beginning; `None` is
    /// forever. Called when a connection begins, after [`Driver::received`], and at each sweep that finds it silent for
    /// long.
    fn idle_limit(&self, peer: &Self::Peer) -> Option<Duration>;

    /// The peer has been silent for longer than its limit. Called again at each sweep until the connection is closed.
    fn expired(&mut self, io: &mut Io<'_, Self>, id: ConnectionId);

    /// The outbox exceeded its limit: respond with [`Io::close_with`] or [`Io::abort`]. If the driver does neither, the
    /// connection is cut.
    fn overflowed(&mut self, io: &mut Io<'_, Self>, id: ConnectionId);

    /// Handles mail that another thread posted.
    fn mail(&mut self, io: &mut Io<'_, Self>, mail: Self::Mail);

    /// Called once per tick, after reads and mail and before the flush: what is delivered here leaves in one system
    /// call with what is staged for the same connection. The default does nothing.
    fn before_flush(&mut self, _io: &mut Io<'_, Self>) {}

    /// Called once per tick, after reads, mail and the flush; what it sends is flushed afterwards. Returns how long the
    /// shard may sleep, counted from the return: `Some(Duration::ZERO)` if there is more to do, `None` to sleep until
    /// something happens. The shard may sleep a little longer than that, up to a millisecond or so without
    /// [`EngineConfig::fine_timer`](crate::EngineConfig::fine_timer).
    fn turn(&mut self, io: &mut Io<'_, Self>) -> Option<Duration>;
}
