//! What a driver can do with its shard's connections while the engine calls it.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;

use crate::dial::Dial;
use crate::driver::{ConnectionId, Delivery, Driver, EndCause, ShardIndex};
use crate::sockets::Sockets;

/// The shard, lent to its [`Driver`] for the duration of one call.
///
/// The bytes of one [`send`](Io::send), [`send_shared`](Io::send_shared), [`deliver`](Io::deliver) or
/// [`deliver_each`](Io::deliver_each) are one message: [`close_with`](Io::close_with) drops queued messages, but never
/// part of one. Calls that concern a connection that is gone or ending do nothing.
pub struct Io<'a, D: Driver> {
    sockets: &'a mut Sockets<D::Peer>,
}

impl<'a, D: Driver> Io<'a, D> {
    pub(crate) fn new(sockets: &'a mut Sockets<D::Peer>) -> Self {
        Self { sockets }
    }

    /// Returns when this tick began.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.sockets.now
    }

    /// Returns the index of this shard.
    #[must_use]
    pub fn shard(&self) -> ShardIndex {
        self.sockets.shard
    }

    /// Returns a connection's state, which exists until it is passed to [`Driver::ended`].
    pub fn peer(&mut self, id: ConnectionId) -> Option<&mut D::Peer> {
        self.sockets.slab.live_mut(id).map(|connection| &mut connection.peer)
    }

    /// Returns the connection that uses `slot` now.
    #[must_use]
    pub fn id_of(&self, slot: u32) -> Option<ConnectionId> {
        self.sockets.slab.id_of(slot)
    }

    /// Returns the peer's address. Asks the kernel for it, because it is seldom needed and not worth storing in every
    /// slot. `None` once the socket has failed.
    #[must_use]
    pub fn remote(&self, id: ConnectionId) -> Option<SocketAddr> {
        let connection = self.sockets.slab.live(id)?;
        rustix::net::getpeername(&connection.socket).ok().flatten()?.try_into().ok()
    }

    /// Returns the shard's number of connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.sockets.slab.len()
    }

    /// Returns an upper bound of the slots in use, for iterating over all connections.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.sockets.slab.slots()
    }

    /// Returns the number of connections whose peers are gone and that wait to be dealt with, because too many went at
    /// once: see [`hold_partings`](Io::hold_partings).
    #[must_use]
    pub fn partings(&self) -> usize {
        self.sockets.partings.waiting()
    }

    /// Sets whether connections whose peers are gone must wait, until this is called again. While they are held, a tick
    /// deals with only a few of them, and no tick starts for them alone. They are read to their end and reported
    /// ([`Driver::ended`]) later, and keep their descriptors until then. If the driver never calls this, each tick
    /// deals with a bounded number.
    pub fn hold_partings(&mut self, held: bool) {
        self.sockets.partings.hold(held);
    }

    /// Returns how many bytes are queued for a connection's peer.
    #[must_use]
    pub fn waiting_bytes(&self, id: ConnectionId) -> usize {
        let extra = self.sockets.slab.live(id).and_then(|connection| connection.extra.as_ref());
        extra.map_or(0, |extra| extra.outbox.bytes())
    }

    /// Begins an outgoing connection. [`Driver::connected`] is called when it is established, or [`Driver::ended`] if
    /// it fails before; neither is called from within this call. The driver may bound the wait by its
    /// [`Driver::idle_limit`], or by a timer of its own and [`abort`](Io::abort). What is sent meanwhile waits in the
    /// outbox.
    ///
    /// # Errors
    /// What the kernel reports at once; there is no connection then: EADDRNOTAVAIL or EADDRINUSE if the local address
    /// or its ports are used up, EMFILE without a free descriptor, ENETUNREACH without a route. EMFILE also beyond
    /// [`EngineLimits::connections_max`](crate::EngineLimits::connections_max) or
    /// [`EngineLimits::descriptors_reserve`](crate::EngineLimits::descriptors_reserve), and in a shard that is shutting
    /// down; [`InvalidInput`](std::io::ErrorKind::InvalidInput) if the TLS configuration allows no session.
    pub fn connect(&mut self, dial: &Dial<'_>, peer: D::Peer) -> std::io::Result<ConnectionId> {
        self.sockets.connect(dial, peer)
    }

    /// Returns why the TLS session failed, during a call of [`Driver::ended`] with [`EndCause::Tls`].
    #[must_use]
    pub fn tls_error(&self) -> Option<&rustls::Error> {
        self.sockets.tls_error.as_deref()
    }

    /// Stops reading: what the peer sends stays in the kernel, which slows the peer down, until
    /// [`resume_reading`](Io::resume_reading) or a close. The driver is told nothing more of the connection, not even
    /// of its orderly end; only an error still ends it. Bytes that [`Driver::received`] leaves over are passed again
    /// only together with new ones, so a driver that wants them at once consumes them before it pauses. A paused peer
    /// counts as silent. A connection that is not established yet cannot be paused.
    pub fn pause_reading(&mut self, id: ConnectionId) {
        self.sockets.pause_reading(id);
    }

    /// Resumes reading, from the next tick on.
    pub fn resume_reading(&mut self, id: ConnectionId) {
        self.sockets.resume_reading(id);
    }

    /// Stages a copy of one message. Everything staged for a connection leaves in one system call at the flush.
    pub fn send(&mut self, id: ConnectionId, bytes: &[u8]) {
        self.sockets.send(id, bytes);
    }

    /// Stages one message without copying it.
    pub fn send_shared(&mut self, id: ConnectionId, bytes: &Bytes) {
        self.sockets.send_shared(id, bytes);
    }

    /// Writes one message at once if nothing is staged or queued before it, else queues it in order.
    pub fn deliver(&mut self, id: ConnectionId, bytes: &Bytes) -> Delivery {
        self.sockets.deliver(id, bytes)
    }

    /// The same for each of the connections that use these slots now. For the recipients of a broadcast.
    pub fn deliver_each(&mut self, slots: &[u32], bytes: &Bytes) {
        self.sockets.deliver_each(slots, bytes);
    }

    /// Closes gracefully: what is staged and queued is sent, our side is shut down, and incoming data is discarded
    /// until the peer closes its side or [`EngineLimits::linger`](crate::EngineLimits::linger) is over.
    pub fn close(&mut self, id: ConnectionId) {
        self.sockets.close(id);
    }

    /// Drops every staged or queued message of which nothing was sent, sends `last` after one that was partly sent, and
    /// closes.
    pub fn close_with(&mut self, id: ConnectionId, last: &[u8]) {
        self.sockets.close_with(id, last);
    }

    /// Cuts the connection: the peer sees a reset, and what was not yet delivered is lost.
    pub fn abort(&mut self, id: ConnectionId) {
        self.sockets.doom(id, EndCause::Aborted);
    }

    /// Passes the connection to the control plane (see [`Handoff`](crate::Handoff)) with what was read from it and not
    /// consumed. What is staged is written as far as the kernel accepts it at once. A connection that uses TLS cannot
    /// be handed off and is cut.
    pub fn hand_off(&mut self, id: ConnectionId, unread: Vec<u8>) {
        self.sockets.hand_off(id, unread);
    }
}
