//! What a driver may do to its shard's connections while the engine calls it.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::Bytes;

use crate::driver::{ConnectionId, Delivery, Driver, EndCause, ShardIndex};
use crate::sockets::Sockets;

/// The shard, lent to its [`Driver`] for the time of one call.
///
/// The bytes of one [`send`](Io::send), [`send_shared`](Io::send_shared) or [`deliver`](Io::deliver) are one message:
/// [`close_with`](Io::close_with) drops queued messages, but never a part of one. What concerns a connection that is
/// gone or on its way out does nothing.
pub struct Io<'a, D: Driver> {
    sockets: &'a mut Sockets<D::Peer>,
}

impl<'a, D: Driver> Io<'a, D> {
    pub(crate) fn new(sockets: &'a mut Sockets<D::Peer>) -> Self {
        Self { sockets }
    }

    /// When this tick began.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.sockets.now
    }

    /// Which shard this is.
    #[must_use]
    pub fn shard(&self) -> ShardIndex {
        self.sockets.shard
    }

    /// The state beside a connection, until [`Driver::ended`] gets it.
    pub fn peer(&mut self, id: ConnectionId) -> Option<&mut D::Peer> {
        self.sockets.slab.live_mut(id).map(|connection| &mut connection.peer)
    }

    /// The connection that uses `slot` now.
    #[must_use]
    pub fn id_of(&self, slot: u32) -> Option<ConnectionId> {
        self.sockets.slab.id_of(slot)
    }

    /// The peer's address, asked of the kernel: seldom needed, and not worth its bytes in every slot. `None` once the
    /// socket has failed.
    #[must_use]
    pub fn remote(&self, id: ConnectionId) -> Option<SocketAddr> {
        let connection = self.sockets.slab.live(id)?;
        rustix::net::getpeername(&connection.socket).ok().flatten()?.try_into().ok()
    }

    /// How many connections the shard has.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.sockets.slab.len()
    }

    /// Upper bound of the slots in use, for walks over all connections.
    #[must_use]
    pub fn slots(&self) -> u32 {
        self.sockets.slab.slots()
    }

    /// Stages a copy of one message. Everything staged for a connection leaves in one system call at the flush.
    pub fn send(&mut self, id: ConnectionId, bytes: &[u8]) {
        self.sockets.send(id, bytes);
    }

    /// Stages one message without copying it.
    pub fn send_shared(&mut self, id: ConnectionId, bytes: &Bytes) {
        self.sockets.send_shared(id, bytes);
    }

    /// Writes one message at once when nothing is staged or queued before it, else queues it in order. For walks over
    /// the members of a broadcast.
    pub fn deliver(&mut self, id: ConnectionId, bytes: &Bytes) -> Delivery {
        self.sockets.deliver(id, bytes)
    }

    /// Closes orderly: what is staged and queued is sent, our side is shut, and what still comes in is dropped until
    /// the peer closes its side or [`EngineLimits::linger`](crate::EngineLimits::linger) is over.
    pub fn close(&mut self, id: ConnectionId) {
        self.sockets.close(id);
    }

    /// Drops every staged or queued message not yet begun, sends `last` behind the one that is, and closes.
    pub fn close_with(&mut self, id: ConnectionId, last: &[u8]) {
        self.sockets.close_with(id, last);
    }

    /// Cuts the connection; the peer sees a reset, and what was not yet delivered is lost.
    pub fn abort(&mut self, id: ConnectionId) {
        self.sockets.doom(id, EndCause::Aborted);
    }

    /// Sends the connection to the control plane (see [`Handoff`](crate::Handoff)) with what was read of it and not
    /// used. What is staged is written as far as the kernel takes it at once. A connection that speaks TLS cannot be
    /// handed off and is cut.
    pub fn hand_off(&mut self, id: ConnectionId, unread: Vec<u8>) {
        self.sockets.hand_off(id, unread);
    }
}
