//! Connections that the driver does not want to hear of for a while. Their bytes stay in the kernel.

use crate::connection::Flags;
use crate::driver::{ConnectionId, EndCause};
use crate::sockets::Sockets;

impl<P> Sockets<P> {
    pub(crate) fn pause_reading(&mut self, id: ConnectionId) {
        // An opening connection is read by its handshake, and a closing one until its end, which nobody else would see.
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::OPENING | Flags::CLOSING | Flags::DOOMED)
        {
            connection.flags |= Flags::PAUSED;
        }
    }

    /// Edges that came during the pause do not come again, so the next tick looks for itself.
    pub(crate) fn resume_reading(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && connection.flags.any(Flags::PAUSED)
        {
            connection.flags.remove(Flags::PAUSED);
            self.read_again(id);
        }
    }

    /// Asks a paused connection whether it has failed, without reading from it.
    pub(crate) fn fetch_error(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && let Err(errno) =
                rustix::net::sockopt::socket_error(&connection.socket).and_then(|outcome| outcome)
        {
            self.books.doom(id, connection, EndCause::Reset(errno.kind()));
        }
    }
}
