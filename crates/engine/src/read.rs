//! The read path: bytes go from the kernel into the shard's one read buffer and from there to the driver.

use std::io::{self, Read};
use std::os::fd::AsRawFd;

use mio::Interest;
use mio::unix::SourceFd;
use rustix::io::Errno;
use rustix::net::RecvFlags;

use crate::connection::Flags;
use crate::counters::add;
use crate::driver::{ConnectionId, Driver, EndCause, LEFTOVER_BYTES_MAX};
use crate::io::Io;
use crate::shard::Shard;
use crate::source::Source;
use crate::tls::{Wire, write_encrypted};

/// Outcome of one attempt to read.
enum Reading {
    /// This many bytes of the buffer are unconsumed; more may be available at once.
    More(usize),
    /// As before, but the socket is empty: the next edge announces more.
    Drained(usize),
    /// There is nothing to read from any more.
    Over,
}

impl<D: Driver> Shard<D> {
    /// Reads what is available, within one turn's bound, and passes it to the driver.
    pub(crate) fn read(&mut self, id: ConnectionId) {
        let mut unconsumed = self.sockets.take_leftover(id, &mut self.read_buffer);
        let mut turn_bytes = 0;
        loop {
            let Some(connection) = self.sockets.slab.live(id) else { return };
            let reading = if connection.flags.any(Flags::DOOMED) {
                return;
            } else if connection.flags.any(Flags::PAUSED) {
                return self.keep(id, unconsumed);
            } else if connection.flags.any(Flags::TLS) {
                self.read_tls(id, unconsumed, &mut turn_bytes)
            } else {
                self.read_plain(id, unconsumed, &mut turn_bytes)
            };
            match reading {
                Reading::Over => return,
                Reading::Drained(rest) => return self.keep(id, rest),
                Reading::More(rest) => unconsumed = rest,
            }
            if turn_bytes >= self.read_bytes_per_turn_max {
                self.sockets.read_again(id);
                return self.keep(id, unconsumed);
            }
        }
    }

    /// Reads what is already there, and registers for what comes later.
    pub(crate) fn begin_reading(&mut self, id: ConnectionId) {
        self.note_idle_limit(id);
        self.read(id);
        self.register(id);
    }

    /// Registers a connection with the readiness loop.
    pub(crate) fn register(&mut self, id: ConnectionId) {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return };
        if connection.flags.any(Flags::DOOMED) {
            return;
        }
        connection.flags |= Flags::REGISTERED;
        // Registered once, for both directions and for good: edge-triggered, that costs nothing until an edge comes.
        let outcome = self.poll.registry().register(
            &mut SourceFd(&connection.socket.as_raw_fd()),
            Source::Connection(id).token(),
            Interest::READABLE | Interest::WRITABLE,
        );
        if let Err(error) = outcome {
            self.sockets.doom(id, EndCause::Reset(error.kind()));
        }
    }

    /// Passes to the driver bytes that were read before the shard had the socket.
    pub(crate) fn feed(&mut self, id: ConnectionId, mut unread: &[u8]) {
        let mut unconsumed = 0;
        while !unread.is_empty() && self.is_listening(id) {
            let (head, rest) = unread.split_at(unread.len().min(self.read_buffer.len() - unconsumed));
            self.read_buffer[unconsumed..unconsumed + head.len()].copy_from_slice(head);
            unconsumed = self.hand_over(id, unconsumed + head.len());
            unread = rest;
        }
        if self.sockets.speaks_tls(id) {
            // The session may have decrypted more than was taken from it.
            let Some(rest) = self.take_decrypted(id, unconsumed, &mut 0) else { return };
            unconsumed = rest;
        }
        self.keep(id, unconsumed);
    }

    fn read_plain(&mut self, id: ConnectionId, unconsumed: usize, turn_bytes: &mut usize) -> Reading {
        let Some(connection) = self.sockets.slab.live(id) else { return Reading::Over };
        let room = &mut self.read_buffer[unconsumed..];
        let room_bytes = room.len();
        add(&self.sockets.books.counters.reads_total, 1);
        let length = match rustix::net::recv(&connection.socket, room, RecvFlags::empty()) {
            Ok((_, 0)) => return self.peer_closed(id),
            Ok((_, length)) => length,
            Err(Errno::AGAIN) => return Reading::Drained(unconsumed),
            Err(Errno::INTR) => return Reading::More(unconsumed),
            Err(errno) => return self.fail(id, errno.kind()),
        };
        // Edge-triggered: a read that did not fill its buffer has emptied the socket, and whatever comes later is a new
        // edge, except an end that was already announced.
        let drained = length < room_bytes && !connection.flags.any(Flags::PEER_DONE);
        *turn_bytes += length;
        let unconsumed = self.take_in(id, unconsumed, length);
        if drained { Reading::Drained(unconsumed) } else { Reading::More(unconsumed) }
    }

    fn read_tls(&mut self, id: ConnectionId, unconsumed: usize, turn_bytes: &mut usize) -> Reading {
        let Some(connection) = self.sockets.slab.live_mut(id) else { return Reading::Over };
        let flags = connection.flags;
        if flags.any(Flags::DECRYPTED) {
            connection.flags.remove(Flags::DECRYPTED);
            let unconsumed = self.take_decrypted(id, unconsumed, turn_bytes);
            return unconsumed.map_or(Reading::Over, Reading::More);
        }
        let Some((session, socket)) = connection.tls_mut() else { return Reading::Over };
        let mut wire = Wire::new(socket, &self.sockets.books.counters);
        let length = match session.read_tls(&mut wire) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Reading::Drained(unconsumed),
            Err(error) => return self.fail(id, error.kind()),
        };
        let drained = wire.drained && !flags.any(Flags::PEER_DONE);
        if let Err(error) = session.process_new_packets() {
            // RFC 8446, section 6.2: the side that finds the error sends an alert before closing. The peer may not take
            // it.
            drop(write_encrypted(session, &mut wire));
            self.sockets.fail_tls(id, error);
            return Reading::Over;
        }
        if flags.any(Flags::OPENING) && !session.is_handshaking() {
            self.establish(id);
        }
        let Some(unconsumed) = self.take_decrypted(id, unconsumed, turn_bytes) else { return Reading::Over };
        if length == 0 {
            return self.peer_closed(id);
        }
        self.sockets.write_tls(id);
        if drained { Reading::Drained(unconsumed) } else { Reading::More(unconsumed) }
    }

    /// Passes on what the TLS session has decrypted. Returns how much of it is unconsumed; `None` if the connection is
    /// over.
    fn take_decrypted(
        &mut self,
        id: ConnectionId,
        mut unconsumed: usize,
        turn_bytes: &mut usize,
    ) -> Option<usize> {
        loop {
            let connection = self.sockets.slab.live_mut(id)?;
            if connection.flags.any(Flags::DOOMED) {
                return None;
            }
            if connection.flags.any(Flags::PAUSED) {
                connection.flags |= Flags::DECRYPTED;
                return Some(unconsumed);
            }
            let (session, _) = connection.tls_mut()?;
            match session.reader().read(&mut self.read_buffer[unconsumed..]) {
                Ok(length) if length > 0 => {
                    *turn_bytes += length;
                    unconsumed = self.take_in(id, unconsumed, length);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Some(unconsumed),
                // The peer closed, with a close_notify (RFC 8446, section 6.1) or without.
                Ok(_) | Err(_) => {
                    self.peer_closed(id);
                    return None;
                }
            }
        }
    }

    /// Accounts for `length` bytes read after the unconsumed ones and passes all of them to the driver. Returns how
    /// many are unconsumed now.
    fn take_in(&mut self, id: ConnectionId, unconsumed: usize, length: usize) -> usize {
        add(&self.sockets.books.counters.bytes_in, length as u64);
        self.read_reach = self.read_reach.max(unconsumed + length);
        self.sockets.heard(id.slot);
        // What comes after our side began to close is read only so that the peer sees an orderly close.
        if self.is_listening(id) { self.hand_over(id, unconsumed + length) } else { 0 }
    }

    /// Passes the first `length` bytes of the read buffer to the driver and moves what it leaves to the front.
    fn hand_over(&mut self, id: ConnectionId, length: usize) -> usize {
        let bytes = &mut self.read_buffer[..length];
        let consumed = self.driver.received(&mut Io::new(&mut self.sockets), id, bytes).min(length);
        let rest = length - consumed;
        if rest > LEFTOVER_BYTES_MAX {
            self.sockets.doom(id, EndCause::Unconsumed);
            return 0;
        }
        if rest > 0 {
            self.read_buffer.copy_within(consumed..length, 0);
        }
        rest
    }

    /// Ends the turn: keeps what is unconsumed until there is more.
    fn keep(&mut self, id: ConnectionId, unconsumed: usize) {
        if self.is_listening(id) {
            self.sockets.keep_leftover(id, &self.read_buffer[..unconsumed]);
            self.note_idle_limit(id);
        }
    }

    fn peer_closed(&mut self, id: ConnectionId) -> Reading {
        // A peer that closed only its sending side still gets the response to what it sent last.
        self.sockets.flush_now(id);
        let cause = match self.sockets.slab.live(id).map(|connection| connection.flags) {
            Some(flags) if flags.any(Flags::CLOSING) => EndCause::Local,
            Some(flags) if flags.any(Flags::OPENING) => EndCause::Reset(io::ErrorKind::UnexpectedEof),
            Some(_) | None => EndCause::PeerClosed,
        };
        self.sockets.doom(id, cause);
        Reading::Over
    }

    fn fail(&mut self, id: ConnectionId, kind: io::ErrorKind) -> Reading {
        self.sockets.doom(id, EndCause::Reset(kind));
        Reading::Over
    }

    /// Returns whether the driver still receives events of this connection.
    pub(crate) fn is_listening(&self, id: ConnectionId) -> bool {
        let connection = self.sockets.slab.live(id);
        connection.is_some_and(|connection| !connection.flags.any(Flags::CLOSING | Flags::DOOMED))
    }
}
