//! The way out for connections: from the first packet to the moment at which both sides may speak.

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
    /// Begins a connection. The readiness loop gets to know it when the tick comes to rest.
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
    /// Asks for word of the connections that were begun since the last time.
    pub(crate) fn await_dialed(&mut self) {
        while let Some(id) = self.sockets.dialed.pop() {
            self.note_idle_limit(id);
            self.register(id);
        }
    }

    /// The kernel has come to an end with connecting: it succeeded, or there is an error to fetch.
    pub(crate) fn finish_connecting(&mut self, id: ConnectionId) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        let outcome = rustix::net::sockopt::socket_error(&connection.socket);
        if let Err(errno) = outcome.and_then(|outcome| outcome) {
            return self.sockets.doom(id, EndCause::Reset(errno.kind()));
        }
        connection.flags.remove(Flags::CONNECTING);
        self.sockets.heard(id.slot);
        if self.sockets.speaks_tls(id) {
            // The first words of the handshake.
            self.sockets.writable(id);
        } else {
            self.establish(id);
        }
    }

    /// Both sides may speak from now on.
    pub(crate) fn establish(&mut self, id: ConnectionId) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        connection.flags.remove(Flags::OPENING);
        // What was sent before could not leave until now, nor could the end of the handshake.
        connection.flags |= Flags::QUEUED;
        subtract(&self.sockets.books.counters.connecting, 1);
        self.sockets.writable(id);
        if self.is_listening(id) {
            self.driver.connected(&mut Io::new(&mut self.sockets), id);
        }
    }
}
