//! The write path, as a driver sees it: messages are staged and leave with the flush, or are delivered at once if
//! nothing is before them.

use bytes::Bytes;

use crate::connection::{Flags, UNTOUCHED};
use crate::driver::{ConnectionId, Delivery};
use crate::sockets::Sockets;
use crate::staging::{Staging, Touched};

impl<P> Sockets<P> {
    /// Stages a copy of `bytes` for the next flush.
    pub(crate) fn send(&mut self, id: ConnectionId, bytes: &[u8]) {
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::MUTE)
        {
            self.staging.copy(id, &mut connection.staged, bytes);
        }
    }

    /// Stages `bytes` for the next flush without copying them.
    pub(crate) fn send_shared(&mut self, id: ConnectionId, bytes: &Bytes) {
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::MUTE)
        {
            self.staging.share(id, &mut connection.staged, bytes.clone());
        }
    }

    /// Writes `bytes` at once if nothing is before them, else queues them behind it.
    pub(crate) fn deliver(&mut self, id: ConnectionId, bytes: &Bytes) -> Delivery {
        let Some(connection) = self.slab.live_mut(id) else { return Delivery::Gone };
        self.books.deliver(&mut self.staging, id, connection, bytes)
    }

    /// Writes everything staged, with one system call per connection if the kernel accepts it all.
    pub(crate) fn flush(&mut self) {
        if self.staging.is_empty() {
            return;
        }
        let mut staging = std::mem::take(&mut self.staging);
        for (place, touched) in staging.touched().iter().enumerate() {
            self.flush_one(&staging, place as u32, *touched);
        }
        staging.clear();
        self.staging = staging;
    }

    /// Writes what is staged for one connection without waiting for the flush.
    pub(crate) fn flush_now(&mut self, id: ConnectionId) {
        let staging = std::mem::take(&mut self.staging);
        if let Some(place) = self.slab.live(id).map(|connection| connection.staged)
            && let Some(touched) = staging.touched().get(place as usize)
        {
            self.flush_one(&staging, place, *touched);
        }
        self.staging = staging;
    }

    /// Continues writing: the socket accepts bytes again.
    pub(crate) fn writable(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && connection.flags.any(Flags::QUEUED)
            && !connection.flags.any(Flags::DOOMED)
        {
            self.books.drain(id, connection);
            self.books.finish_closing(id, connection);
        }
    }

    /// Writes what the TLS session sends of its own accord, such as the response to a key update.
    pub(crate) fn write_tls(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::QUEUED | Flags::DOOMED)
            && connection.tls_mut().is_some_and(|(session, _)| session.wants_write())
        {
            self.books.drain(id, connection);
        }
    }

    fn flush_one(&mut self, staging: &Staging, place: u32, touched: Touched) {
        let id = touched.id;
        let Some(connection) = self.slab.live_mut(id) else { return };
        // Another index means that what was staged here was dropped since, by `close_with`.
        if connection.staged != place {
            return;
        }
        connection.staged = UNTOUCHED;
        if connection.flags.any(Flags::DOOMED) {
            return;
        }
        if connection.flags.any(Flags::QUEUED | Flags::TLS) {
            let must_wait = connection.flags.any(Flags::QUEUED);
            for piece in staging.pieces(touched) {
                self.books.enqueue(connection, piece.keep_from(0));
            }
            if !must_wait {
                self.books.drain(id, connection);
            }
        } else {
            self.books.write_staged(id, connection, staging, touched);
        }
        self.books.check_outbox(id, connection);
        self.books.finish_closing(id, connection);
    }
}
