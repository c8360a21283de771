//! Outgoing connections: from the first packet until both sides may send.

use std::io;

use rustix::io::Errno;

use crate::connection::Flags;
use crate::counters::{add, subtract};
use crate::dial::Dial;
use crate::driver::{ConnectionId, Driver, EndCause};
use crate::io::Io;
use crate::shard::Shard;
use crate::sockets::Sockets;

impl<P> Sockets<P> {
    /// Begins a connection. It is registered with the readiness loop when the tick comes to rest.
    pub(crate) fn connect(&mut self, dial: &Dial<'_>, peer: P) -> io::Result<ConnectionId> {
        add(&self.books.counters.connects_total, 1);
        let begun = self.begin(dial, peer);
        if begun.is_err() {
            add(&self.books.counters.connect_errors_total, 1);
        }
        begun
    }

    fn begin(&mut self, dial: &Dial<'_>, peer: P) -> io::Result<ConnectionId> {
        if !self.capacity.enter(self.slab.len()) {
            return Err(Errno::MFILE.into());
        }
        let (socket, session) = dial.begin().inspect_err(|_| self.capacity.leave())?;
        let id = self.insert_dialed(socket, peer, session);
        self.dialed.push(id);
        Ok(id)
    }
}

impl<D: Driver> Shard<D> {
    /// Registers the connections begun since the last call.
    pub(crate) fn await_dialed(&mut self) {
        while let Some(id) = self.sockets.dialed.pop() {
            self.note_idle_limit(id);
            self.register(id);
        }
    }

    /// Handles the end of connecting: it succeeded, or there is an error to fetch.
    pub(crate) fn finish_connecting(&mut self, id: ConnectionId) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        let outcome = rustix::net::sockopt::socket_error(&connection.socket);
        if let Err(errno) = outcome.and_then(|outcome| outcome) {
            return self.sockets.doom(id, EndCause::Reset(errno.kind()));
        }
        connection.flags.remove(Flags::CONNECTING);
        self.sockets.heard(id.slot);
        if self.sockets.speaks_tls(id) {
            // Sends the first message of the handshake.
            self.sockets.writable(id);
        } else {
            self.establish(id);
        }
    }

    /// Establishes the connection: both sides may send from now on.
    pub(crate) fn establish(&mut self, id: ConnectionId) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        connection.flags.remove(Flags::OPENING);
        // Neither what was sent before nor the end of the handshake could leave until now.
        connection.flags |= Flags::QUEUED;
        subtract(&self.sockets.books.counters.connecting, 1);
        self.sockets.writable(id);
        if self.is_listening(id) {
            self.driver.connected(&mut Io::new(&mut self.sockets), id);
        }
    }
}
