//! The write path: one system call per connection and tick. What the kernel does not accept waits in the connection's
//! outbox for the socket to become writable.

use std::io::IoSlice;
use std::os::fd::OwnedFd;

use bytes::Bytes;
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown};

use crate::books::Books;
use crate::connection::{Connection, Flags, UNTOUCHED};
use crate::counters::{add, subtract};
use crate::driver::{ConnectionId, Delivery, EndCause};
use crate::staging::{Staged, Staging, Touched};
use crate::tls;

/// Slices passed to the kernel by one system call.
const SLICES_PER_WRITE_MAX: usize = 64;

impl Books {
    /// Writes `bytes` at once if nothing is before them, else queues them behind it.
    #[inline]
    pub(crate) fn deliver<P>(
        &mut self,
        staging: &mut Staging,
        id: ConnectionId,
        connection: &mut Connection<P>,
        bytes: &Bytes,
    ) -> Delivery {
        if connection.staged != UNTOUCHED || connection.flags.any(Flags::INDIRECT) {
            return self.deliver_in_order(staging, id, connection, bytes);
        }
        if !self.may_write(connection, |_| bytes.len()) {
            self.enqueue(connection, bytes.clone());
            self.check_outbox(id, connection);
            return Delivery::Queued;
        }
        let outcome = self.write(&connection.socket, bytes);
        self.settle_delivery(id, connection, bytes, outcome)
    }

    /// Queues what the kernel did not accept of `bytes`, which were offered to it.
    pub(crate) fn settle_delivery<P>(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection<P>,
        bytes: &Bytes,
        outcome: Result<usize, Errno>,
    ) -> Delivery {
        match outcome {
            Ok(written) if written == bytes.len() => Delivery::Written,
            Ok(written) => {
                self.enqueue_rest(connection, bytes.slice(written..), written > 0);
                self.check_outbox(id, connection);
                Delivery::Queued
            }
            Err(errno) => {
                self.doom(id, connection, EndCause::Reset(errno.kind()));
                Delivery::Gone
            }
        }
    }

    #[cold]
    fn deliver_in_order<P>(
        &mut self,
        staging: &mut Staging,
        id: ConnectionId,
        connection: &mut Connection<P>,
        bytes: &Bytes,
    ) -> Delivery {
        if connection.flags.any(Flags::MUTE) {
            return Delivery::Gone;
        }
        if connection.staged == UNTOUCHED && connection.flags.any(Flags::QUEUED) {
            self.enqueue(connection, bytes.clone());
            self.check_outbox(id, connection);
        } else {
            staging.share(id, &mut connection.staged, bytes.clone());
        }
        Delivery::Queued
    }

    /// Writes what is staged for a connection with nothing queued; what the kernel does not accept is queued.
    pub(crate) fn write_staged<P>(
        &mut self,
        id: ConnectionId,
        connection: &mut Connection<P>,
        staging: &Staging,
        touched: Touched,
    ) {
        let length = |_: &Connection<P>| staging.pieces(touched).map(|piece| piece.as_slice().len()).sum();
        if !self.may_write(connection, length) {
            return self.enqueue_unwritten(connection, staging.pieces(touched), 0);
        }
        let mut pieces = staging.pieces(touched);
        let Some(first) = pieces.next() else { return };
        let outcome = match pieces.next() {
            None => {
                let only = first.as_slice();
                self.write(&connection.socket, only).map(|written| (written, written == only.len()))
            }
            Some(second) => {
                self.write_gathered(&connection.socket, [first, second].into_iter().chain(pieces))
            }
        };
        match outcome {
            Ok((_, true)) => {}
            Ok((written, false)) => self.enqueue_unwritten(connection, staging.pieces(touched), written),
            Err(errno) => self.doom(id, connection, EndCause::Reset(errno.kind())),
        }
    }

    /// Writes the pieces until the kernel accepts no more. Returns how many bytes it accepted, and whether those were
    /// all.
    fn write_gathered<'a>(
        &mut self,
        socket: &OwnedFd,
        mut pieces: impl Iterator<Item = Staged<'a>>,
    ) -> Result<(usize, bool), Errno> {
        let mut total = 0;
        loop {
            let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE_MAX];
            let mut count = 0;
            let mut offered = 0;
            for (slice, piece) in slices.iter_mut().zip(&mut pieces) {
                *slice = IoSlice::new(piece.as_slice());
                count += 1;
                offered += piece.as_slice().len();
            }
            if count == 0 {
                return Ok((total, true));
            }
            let written = self.write_slices(socket, &slices[..count])?;
            total += written;
            if written < offered {
                return Ok((total, false));
            }
            if count < SLICES_PER_WRITE_MAX {
                return Ok((total, true));
            }
        }
    }

    /// Puts what is left of `pieces`, after the first `written` bytes, into the empty outbox.
    fn enqueue_unwritten<'a, P>(
        &mut self,
        connection: &mut Connection<P>,
        pieces: impl Iterator<Item = Staged<'a>>,
        mut written: usize,
    ) {
        for piece in pieces {
            let length = piece.as_slice().len();
            if written >= length {
                written -= length;
                continue;
            }
            if connection.flags.any(Flags::QUEUED) {
                self.enqueue(connection, piece.keep_from(0));
            } else {
                self.enqueue_rest(connection, piece.keep_from(written), written > 0);
            }
            written = 0;
        }
    }

    pub(crate) fn enqueue<P>(&mut self, connection: &mut Connection<P>, segment: Bytes) {
        if segment.is_empty() {
            return;
        }
        connection.flags |= Flags::QUEUED;
        add(&self.counters.outbox_bytes, segment.len() as u64);
        self.extra_mut(connection).outbox.push(segment, &mut self.held);
    }

    /// Queues `rest` as the first segment; `begun` if its beginning was sent.
    pub(crate) fn enqueue_rest<P>(&mut self, connection: &mut Connection<P>, rest: Bytes, begun: bool) {
        if !begun {
            return self.enqueue(connection, rest);
        }
        connection.flags |= Flags::QUEUED;
        add(&self.counters.outbox_bytes, rest.len() as u64);
        self.extra_mut(connection).outbox.push_begun(rest, &mut self.held);
    }

    /// Writes what is queued, as far as the kernel accepts it, and frees the outbox when it is empty.
    pub(crate) fn drain<P>(&mut self, id: ConnectionId, connection: &mut Connection<P>) {
        let length =
            |connection: &Connection<P>| connection.extra.as_ref().map_or(0, |extra| extra.outbox.bytes());
        if !self.may_write(connection, length) {
            connection.flags |= Flags::QUEUED;
            return;
        }
        let outcome = if connection.flags.any(Flags::TLS) {
            tls::drain(connection, self).map_err(|error| error.kind())
        } else {
            self.drain_plain(connection).map_err(|errno| errno.kind())
        };
        match outcome {
            Ok(true) => {
                connection.flags.remove(Flags::QUEUED);
                self.release_extra(connection);
            }
            Ok(false) => connection.flags |= Flags::QUEUED,
            Err(kind) => self.doom(id, connection, EndCause::Reset(kind)),
        }
    }

    /// Returns whether nothing is queued any more.
    fn drain_plain<P>(&mut self, connection: &mut Connection<P>) -> Result<bool, Errno> {
        let Some(extra) = connection.extra.as_mut() else { return Ok(true) };
        while !extra.outbox.is_empty() {
            let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE_MAX];
            let count = extra.outbox.list(&mut slices);
            let offered: usize = slices[..count].iter().map(|slice| slice.len()).sum();
            let written = self.write_slices(&connection.socket, &slices[..count])?;
            extra.outbox.advance(written, &mut self.held);
            subtract(&self.counters.outbox_bytes, written as u64);
            if written < offered {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Shuts down our side of a closing connection once everything is sent.
    pub(crate) fn finish_closing<P>(&mut self, id: ConnectionId, connection: &mut Connection<P>) {
        let flags = connection.flags;
        if !flags.any(Flags::CLOSING) || flags.any(Flags::SHUT | Flags::QUEUED | Flags::DOOMED) {
            return;
        }
        if flags.any(Flags::TLS) && !flags.any(Flags::NOTIFIED) {
            connection.flags |= Flags::NOTIFIED;
            if let Some((session, _)) = connection.tls_mut() {
                // RFC 8446, section 6.1: each side sends a close_notify before it closes its write side.
                session.send_close_notify();
            }
            self.drain(id, connection);
            if connection.flags.any(Flags::QUEUED | Flags::DOOMED) {
                return;
            }
        }
        connection.flags |= Flags::SHUT;
        if let Err(errno) = rustix::net::shutdown(&connection.socket, Shutdown::Write) {
            self.doom(id, connection, EndCause::Reset(errno.kind()));
        }
    }

    /// Makes one write. Returns zero if the kernel accepts nothing now.
    pub(crate) fn write(&mut self, socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
        self.count_write(|| Self::send(socket, bytes))
    }

    /// As [`Books::write`], after a first attempt with this outcome, which was not counted.
    pub(crate) fn count_write_of(
        &mut self,
        first: Result<usize, Errno>,
        socket: &OwnedFd,
        bytes: &[u8],
    ) -> Result<usize, Errno> {
        let mut first = Some(first);
        self.count_write(|| first.take().unwrap_or_else(|| Self::send(socket, bytes)))
    }

    /// Makes one attempt to write, which is not counted.
    pub(crate) fn send(socket: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
        rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)
    }

    fn write_slices(&mut self, socket: &OwnedFd, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        match slices {
            [only] => self.write(socket, only),
            several => self.count_write(|| rustix::io::writev(socket, several)),
        }
    }

    fn count_write(&mut self, mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
        loop {
            add(&self.counters.writes_total, 1);
            match call() {
                Ok(written) => {
                    add(&self.counters.bytes_out, written as u64);
                    self.send_room.hand_over(written);
                    return Ok(written);
                }
                Err(Errno::AGAIN) => return Ok(0),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}
