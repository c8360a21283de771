//! TLS between a connection's queues and its socket: for adopted connections, whose handshake is done, and for outgoing
//! ones, from the handshake on.
//!
//! The outbox holds plaintext, so that its segments can be dropped whole; only what has been encrypted must be sent.
//! The outbox waits until the handshake is done, because nothing can be encrypted before.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustls::Connection as TlsSession;

use crate::books::Books;
use crate::connection::Connection;
use crate::counters::{ShardCounters, add, subtract};

/// Plaintext bytes encrypted at a time: one record of maximum length (RFC 8446, section 5.1).
const RECORD_BYTES_MAX: usize = 16 * 1024;

/// Encrypts and writes what is queued, as far as the kernel accepts it. Returns whether nothing is queued any more.
pub(crate) fn drain<P>(connection: &mut Connection<P>, books: &mut Books) -> io::Result<bool> {
    let Some(extra) = connection.extra.as_mut() else { return Ok(true) };
    let Some(session) = extra.tls.as_mut() else { return Ok(true) };
    loop {
        let mut wire = Wire::new(&connection.socket, &books.counters);
        let written = write_encrypted(session, &mut wire);
        books.send_room.hand_over(wire.written);
        if !written? {
            return Ok(false);
        }
        let Some(segment) = extra.outbox.first() else { return Ok(true) };
        if session.is_handshaking() {
            return Ok(false);
        }
        let record = &segment[..segment.len().min(RECORD_BYTES_MAX)];
        let taken = session.writer().write(record)?;
        extra.outbox.advance(taken, &mut books.held);
        subtract(&books.counters.outbox_bytes, taken as u64);
        add(&books.counters.bytes_out, taken as u64);
    }
}

/// Writes what the session has encrypted. Returns false if the kernel accepts no more now.
pub(crate) fn write_encrypted(session: &mut TlsSession, wire: &mut Wire<'_>) -> io::Result<bool> {
    while session.wants_write() {
        match session.write_tls(wire) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// The socket, as the reader and writer that rustls expects.
pub(crate) struct Wire<'a> {
    socket: &'a OwnedFd,
    counters: &'a ShardCounters,
    /// The last read did not fill its buffer, so an edge will announce what comes next.
    pub(crate) drained: bool,
    /// Bytes that the kernel accepted.
    written: usize,
}

impl<'a> Wire<'a> {
    pub(crate) fn new(socket: &'a OwnedFd, counters: &'a ShardCounters) -> Self {
        Self { socket, counters, drained: false, written: 0 }
    }
}

impl Read for Wire<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            add(&self.counters.reads_total, 1);
            match rustix::net::recv(self.socket, &mut *buffer, RecvFlags::empty()) {
                Ok((length, _)) => {
                    self.drained = length < buffer.len();
                    return Ok(length);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Write for Wire<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            add(&self.counters.writes_total, 1);
            match rustix::net::send(self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(length) => {
                    self.written += length;
                    return Ok(length);
                }
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
