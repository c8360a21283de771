//! The connections of a shard and what is staged for them: what a driver can see and change through [`Io`](crate::Io).

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{Connection as TlsSession, ServerConnection};

use crate::accept::Capacity;
use crate::books::{Books, Fate};
use crate::config::EngineLimits;
use crate::connection::{Connection, Extra, Flags, UNTOUCHED};
use crate::counters::{ShardCounters, add, set, subtract};
use crate::disconnects::Disconnects;
use crate::driver::{ConnectionId, EndCause, ListenerIndex, ShardIndex};
use crate::slab::Slab;
use crate::staging::Staging;

/// The listener index of connections that came in by no listener: see [`Engine::adopt`](crate::Engine::adopt) and
/// [`Io::connect`](crate::Io::connect).
const NO_LISTENER: ListenerIndex = ListenerIndex(u16::MAX);

pub(crate) struct Sockets<P> {
    pub(crate) shard: ShardIndex,
    /// Read once per tick.
    pub(crate) now: Instant,
    /// The coarse clock that measures the connections' silence, in milliseconds. It wraps around after seven weeks.
    now_ms: u32,
    pub(crate) slab: Slab<P>,
    pub(crate) staging: Staging,
    pub(crate) books: Books,
    /// Closing connections and when each is cut, soonest first: they all get the same time.
    pub(crate) lingering: VecDeque<(Instant, ConnectionId)>,
    /// Connections with more to read than their turn allowed.
    pub(crate) ready: Vec<ConnectionId>,
    /// Connections whose peers are gone.
    pub(crate) partings: Disconnects,
    /// Outgoing connections that are not yet registered with the readiness loop.
    pub(crate) dialed: Vec<ConnectionId>,
    pub(crate) capacity: Capacity,
    /// Why TLS failed, while the driver is told of that end.
    pub(crate) tls_error: Option<Box<rustls::Error>>,
    started: Instant,
    linger: Duration,
}

impl<P> Sockets<P> {
    pub(crate) fn new(
        shard: ShardIndex,
        limits: &EngineLimits,
        counters: Arc<ShardCounters>,
        capacity: Capacity,
    ) -> Self {
        let now = Instant::now();
        Self {
            shard,
            now,
            now_ms: 0,
            slab: Slab::new(),
            staging: Staging::default(),
            books: Books::new(counters, limits, now),
            lingering: VecDeque::new(),
            ready: Vec::new(),
            partings: Disconnects::default(),
            dialed: Vec::new(),
            capacity,
            tls_error: None,
            started: now,
            linger: limits.linger,
        }
    }

    pub(crate) fn set_now(&mut self, now: Instant) {
        self.now = now;
        self.now_ms = now.duration_since(self.started).as_millis() as u32;
    }

    /// Notes that a live connection has received something.
    pub(crate) fn heard(&mut self, slot: u32) {
        self.slab.heard(slot, self.now_ms);
    }

    /// Returns for how many milliseconds the connection in `slot`, if there is one, has been silent.
    pub(crate) fn silence_ms(&self, slot: u32) -> u32 {
        self.slab.silence_ms(slot, self.now_ms)
    }

    /// Adds a connection to the list of those with more to read.
    pub(crate) fn read_again(&mut self, id: ConnectionId) {
        if let Some(connection) = self.slab.live_mut(id)
            && !connection.flags.any(Flags::READY | Flags::DOOMED)
        {
            connection.flags |= Flags::READY;
            self.ready.push(id);
        }
    }

    /// Puts a connection from the control plane into the slab.
    pub(crate) fn insert_adopted(
        &mut self,
        socket: OwnedFd,
        peer: P,
        tls: Option<Box<ServerConnection>>,
    ) -> ConnectionId {
        let id = self.insert(socket, NO_LISTENER, peer);
        if let Some(session) = tls {
            self.give_session(id, Box::new(TlsSession::Server(*session)));
        }
        id
    }

    /// Puts an outgoing connection into the slab.
    pub(crate) fn insert_dialed(
        &mut self,
        socket: OwnedFd,
        peer: P,
        tls: Option<Box<TlsSession>>,
    ) -> ConnectionId {
        let id = self.place(socket, NO_LISTENER, peer);
        add(&self.books.counters.connecting, 1);
        if let Some(connection) = self.slab.live_mut(id) {
            connection.flags |= Flags::CONNECTING | Flags::OPENING | Flags::QUEUED;
        }
        if let Some(session) = tls {
            self.give_session(id, session);
        }
        id
    }

    fn give_session(&mut self, id: ConnectionId, session: Box<TlsSession>) {
        if let Some(connection) = self.slab.live_mut(id) {
            connection.flags |= Flags::TLS;
            add(&self.books.counters.tls_sessions, 1);
            self.books.extra_mut(connection).tls = Some(session);
        }
    }

    pub(crate) fn speaks_tls(&self, id: ConnectionId) -> bool {
        self.slab.live(id).is_some_and(|connection| connection.flags.any(Flags::TLS))
    }

    pub(crate) fn insert(&mut self, socket: OwnedFd, listener: ListenerIndex, peer: P) -> ConnectionId {
        add(&self.books.counters.accepted_total, 1);
        self.place(socket, listener, peer)
    }

    fn place(&mut self, socket: OwnedFd, listener: ListenerIndex, peer: P) -> ConnectionId {
        let id = self.slab.insert(socket, listener, peer, self.now_ms);
        let counters = &self.books.counters;
        add(&counters.open, 1);
        set(&counters.slab_bytes, self.slab.bytes());
        id
    }

    /// Removes the connection from the slab and from the gauges.
    pub(crate) fn remove(&mut self, id: ConnectionId) -> Option<Connection<P>> {
        let mut connection = self.slab.remove(id)?;
        let counters = &self.books.counters;
        add(&counters.ended_total, 1);
        subtract(&counters.open, 1);
        if connection.flags.any(Flags::OPENING) {
            subtract(&counters.connecting, 1);
            add(&counters.connect_errors_total, 1);
        }
        if let Some(mut extra) = connection.extra.take() {
            subtract(&counters.outbox_bytes, extra.outbox.bytes() as u64);
            subtract(&counters.tls_sessions, extra.tls.is_some().into());
            extra.outbox.clear(&mut self.books.held);
            subtract(&counters.leftover_bytes, extra.leftover.len() as u64);
            subtract(&counters.extra_bytes, size_of::<Extra>() as u64);
        }
        Some(connection)
    }

    /// Keeps the beginning of a message until the rest of it comes.
    pub(crate) fn keep_leftover(&mut self, id: ConnectionId, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(connection) = self.slab.live_mut(id) {
            add(&self.books.counters.leftover_bytes, bytes.len() as u64);
            self.books.extra_mut(connection).leftover.extend_from_slice(bytes);
        }
    }

    /// Moves what was kept to the front of `buffer` and returns its length.
    pub(crate) fn take_leftover(&mut self, id: ConnectionId, buffer: &mut [u8]) -> usize {
        let Some(connection) = self.slab.live_mut(id) else { return 0 };
        let Some(extra) = connection.extra.as_mut() else { return 0 };
        let leftover = std::mem::take(&mut extra.leftover);
        buffer[..leftover.len()].copy_from_slice(&leftover);
        subtract(&self.books.counters.leftover_bytes, leftover.len() as u64);
        self.books.release_extra(connection);
        leftover.len()
    }

    pub(crate) fn close(&mut self, id: ConnectionId) {
        let Some(connection) = self.slab.live_mut(id) else { return };
        if connection.flags.any(Flags::CLOSING | Flags::DOOMED) {
            return;
        }
        connection.flags |= Flags::CLOSING;
        let is_paused = connection.flags.any(Flags::PAUSED);
        self.staging.touch(id, &mut connection.staged);
        self.lingering.push_back((self.now + self.linger, id));
        if is_paused {
            // Nothing would notice the peer's end otherwise.
            self.resume_reading(id);
        }
    }

    pub(crate) fn close_with(&mut self, id: ConnectionId, last: &[u8]) {
        let Some(connection) = self.slab.live_mut(id) else { return };
        if connection.flags.any(Flags::CLOSING | Flags::DOOMED) {
            return;
        }
        connection.staged = UNTOUCHED;
        if let Some(extra) = connection.extra.as_mut() {
            let dropped = extra.outbox.drop_unbegun(&mut self.books.held);
            subtract(&self.books.counters.outbox_bytes, dropped as u64);
        }
        self.staging.copy(id, &mut connection.staged, last);
        self.close(id);
    }

    pub(crate) fn doom(&mut self, id: ConnectionId, cause: EndCause) {
        if let Some(connection) = self.slab.live_mut(id) {
            self.books.doom(id, connection, cause);
        }
    }

    pub(crate) fn fail_tls(&mut self, id: ConnectionId, error: rustls::Error) {
        if let Some(connection) = self.slab.live_mut(id) {
            let fate =
                Fate { id, cause: EndCause::Tls, unread: Vec::new(), tls_error: Some(Box::new(error)) };
            self.books.decide(connection, fate);
        }
    }

    pub(crate) fn hand_off(&mut self, id: ConnectionId, unread: Vec<u8>) {
        let Some(connection) = self.slab.live_mut(id) else { return };
        if connection.flags.any(Flags::MUTE) {
            return;
        }
        if connection.flags.any(Flags::TLS) {
            // The session's keys stay in the shard, so nobody could continue with the socket.
            return self.books.doom(id, connection, EndCause::Aborted);
        }
        self.flush_now(id);
        if let Some(connection) = self.slab.live_mut(id) {
            let fate = Fate { id, cause: EndCause::HandedOff, unread, tls_error: None };
            self.books.decide(connection, fate);
        }
    }
}
