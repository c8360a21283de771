//! What runs inside a shard: the [`Driver`] trait and the words that it and the engine exchange.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;

use crate::Io;

/// The most bytes that [`Driver::received`] may leave unconsumed. They are kept on behalf of one connection, so this
/// bounds what a peer that cuts its messages in two can make the engine hold.
pub const LEFTOVER_BYTES_MAX: usize = 16 * 1024;

/// Which shard, from zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShardIndex(pub u16);

/// Which of the configured addresses a connection came in by, from zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ListenerIndex(pub u16);

/// A connection of one shard. The slot is dense and used again after the connection's end; the generation tells its
/// users apart, so that a stale id names nobody.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConnectionId {
    /// Place in the shard's slab, below [`Io::slots`].
    pub slot: u32,
    /// How often the slot has been given away before.
    pub generation: u32,
}

/// The driver's answer to a new connection.
#[derive(Debug)]
pub enum Admission<P> {
    /// Take it, with this state beside it.
    Admit(P),
    /// Once it has said something, or a second later, write these bytes as far as the kernel takes them at once, then
    /// close it. Without any, close it now.
    Refuse(Bytes),
}

/// What became of one [`Io::deliver`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// The kernel took all of it.
    Written,
    /// It waits behind what was there before, or for the kernel to take the rest.
    Queued,
    /// There is no such connection, or it is on its way out.
    Gone,
}

/// Why a connection is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndCause {
    /// The peer ended its side first.
    PeerClosed,
    /// The socket failed; a reset by the peer is [`io::ErrorKind::ConnectionReset`]. Before [`Driver::connected`], the
    /// connection could not be made: [`io::ErrorKind::ConnectionRefused`], [`io::ErrorKind::HostUnreachable`] and so
    /// on, or [`io::ErrorKind::UnexpectedEof`] when the peer closed in the middle of the TLS handshake.
    Reset(io::ErrorKind),
    /// The TLS session failed, in its handshake or later; [`Io::tls_error`] says why.
    Tls,
    /// Closed by [`Io::close`] or [`Io::close_with`], and the peer closed its side in time.
    Local,
    /// Closed by [`Io::close`] or [`Io::close_with`], and the peer did not close its side in time.
    Lingered,
    /// Cut by [`Io::abort`], whether established or not.
    Aborted,
    /// The outbox went beyond its limit, whichever way the driver then closed it.
    Overflow,
    /// [`Driver::received`] left more than [`LEFTOVER_BYTES_MAX`] unconsumed.
    Unconsumed,
    /// It left the shard by [`Io::hand_off`]; the socket lives on elsewhere.
    HandedOff,
    /// The engine was shut down.
    Shutdown,
}

/// What runs inside a shard: one value per shard, made on the shard's own thread, so it need not be `Send`.
///
/// The engine calls one method at a time. A method must not block: nothing else happens on the shard meanwhile. With
/// [`Tables::Private`](crate::Tables) it must not touch a descriptor that another thread opened, either.
pub trait Driver: Sized + 'static {
    /// State kept beside each connection, inline in the slab. Keep it within 16 bytes.
    type Peer: 'static;
    /// What other threads post to the shard.
    type Mail: Send + 'static;
    /// What travels with a socket that the control plane hands to the shard.
    type Seed: Send + 'static;

    /// A connection came in: take it or not.
    fn accepted(&mut self, listener: ListenerIndex, remote: SocketAddr) -> Admission<Self::Peer>;

    /// The state of an adopted connection; called just before [`Driver::adopted`].
    fn peer_for(&mut self, seed: &Self::Seed) -> Self::Peer;

    /// A socket came from the control plane by [`Engine::adopt`](crate::Engine::adopt).
    fn adopted(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, seed: Self::Seed);

    /// A connection begun by [`Io::connect`] is established, its TLS handshake too if it has one. Where it fails before
    /// that, only [`Driver::ended`] is called. A driver that connects to nobody need not say what to do.
    fn connected(&mut self, _io: &mut Io<'_, Self>, _id: ConnectionId) {}

    /// Bytes came in: everything unread, contiguous, what was left over the last time in front. Returns how many were
    /// consumed. The rest, at most [`LEFTOVER_BYTES_MAX`], is kept as the driver left it and comes again in front of
    /// the next bytes.
    fn received(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, bytes: &mut [u8]) -> usize;

    /// The connection is over, and no later call names it. Called exactly once for each admitted, adopted or begun
    /// connection, whatever the cause; `id` names nobody any more.
    fn ended(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, peer: Self::Peer, cause: EndCause);

    /// How long the peer may be silent, counted from its last byte or the connection's beginning; `None` is for ever.
    /// Asked when a connection begins, after [`Driver::received`], and at each sweep that finds it silent for long.
    fn idle_limit(&self, peer: &Self::Peer) -> Option<Duration>;

    /// The peer was silent for longer than its limit. Called again at each sweep until the connection is closed.
    fn expired(&mut self, io: &mut Io<'_, Self>, id: ConnectionId);

    /// The outbox went beyond its limit: answer with [`Io::close_with`] or [`Io::abort`]. A connection for which the
    /// driver does neither is cut.
    fn overflowed(&mut self, io: &mut Io<'_, Self>, id: ConnectionId);

    /// Mail that another thread posted.
    fn mail(&mut self, io: &mut Io<'_, Self>, mail: Self::Mail);

    /// Called once per tick, after reads and mail and before the flush: what is delivered here leaves in one system call with what
    /// is staged for the same connection. A driver that has nothing of the kind need not say what to do.
    fn before_flush(&mut self, _io: &mut Io<'_, Self>) {}

    /// Called once per tick, after reads, mail and the flush; what it sends is flushed after it. Returns how long the
    /// shard may sleep, counted from the return: `Some(Duration::ZERO)` when there is more to do, `None` until
    /// something happens. It may sleep a little longer than that, up to a millisecond or so without
    /// [`EngineConfig::fine_timer`](crate::EngineConfig::fine_timer).
    fn turn(&mut self, io: &mut Io<'_, Self>) -> Option<Duration>;
}
