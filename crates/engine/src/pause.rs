//! Connections that the driver has paused. Their bytes stay in the kernel.

use crate::connection::Flags;
use crate::driver::{ConnectionId, EndCause};
use crate::sockets::Sockets;

impl<P> Sockets<P> {
    pub(crate) fn pause_reading(&mut self, id: ConnectionId) {
        // The handshake reads an opening connection. A closing one is read until its end, which nothing else would
        // notice.
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::OPENING | Flags::CLOSING | Flags::DOOMED)
        {
            connection.flags |= Flags::PAUSED;
        }
    }

    /// Edges that came during the pause are not repeated, so the next tick reads without one.
    pub(crate) fn resume_reading(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && connection.flags.any(Flags::PAUSED)
        {
            connection.flags.remove(Flags::PAUSED);
            self.read_again(id);
        }
    }

    /// Checks whether a paused connection has failed, without reading from it.
    pub(crate) fn fetch_error(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && let Err(errno) =
                rustix::net::sockopt::socket_error(&connection.socket).and_then(|outcome| outcome)
        {
            self.books.doom(id, connection, EndCause::Reset(errno.kind()));
        }
    }
}
