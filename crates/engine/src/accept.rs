//! Accepting connections: a shard's listeners, and the limits on the number of connections.

use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use std::{io, mem};

use bytes::Bytes;
use mio::unix::SourceFd;
use mio::{Interest, Registry};
use rustix::io::Errno;
use rustix::net::SocketFlags;

use crate::config::{ACCEPT_RETRY, ACCEPTS_PER_TICK_MAX, BACKLOG};
use crate::counters::add;
use crate::driver::{Admission, Driver, ListenerIndex};
use crate::shard::Shard;
use crate::source::Source;
use crate::steering::Steering;

/// A shard's listening sockets, one per address.
pub(crate) struct Listeners {
    sockets: Vec<Listener>,
    /// Set while no descriptor is free for another connection.
    retry_at: Option<Instant>,
    /// Whether running out of descriptors has been logged; once is enough until accepting works again.
    told: bool,
    refusal: Bytes,
}

struct Listener {
    socket: OwnedFd,
    /// Shared with the other shards' listeners of the address.
    steering: Option<Arc<Steering>>,
    /// Connections may be waiting for which no further edge will arrive.
    ready: bool,
}

impl Listeners {
    /// Registers the listening sockets, one per address, in the configured order, with the steering of each.
    pub(crate) fn new(
        sockets: Vec<OwnedFd>,
        steering: &[Option<Arc<Steering>>],
        registry: &Registry,
        refusal: Bytes,
    ) -> io::Result<Self> {
        for (index, socket) in (0..).zip(&sockets) {
            let token = Source::Listener(ListenerIndex(index)).token();
            registry.register(&mut SourceFd(&socket.as_raw_fd()), token, Interest::READABLE)?;
        }
        let sockets = sockets
            .into_iter()
            .zip(steering)
            .map(|(socket, steering)| Listener { socket, steering: steering.clone(), ready: false })
            .collect();
        Ok(Self { sockets, retry_at: None, told: false, refusal })
    }

    pub(crate) fn mark_ready(&mut self, listener: ListenerIndex) {
        if let Some(listener) = self.sockets.get_mut(usize::from(listener.0)) {
            listener.ready = true;
        }
    }

    /// Returns whether a connection may be waiting that could be accepted now.
    pub(crate) fn has_ready(&self) -> bool {
        self.retry_at.is_none() && self.sockets.iter().any(|listener| listener.ready)
    }

    /// Returns when to try again if no descriptor becomes free on this shard before then.
    pub(crate) fn retry_at(&self) -> Option<Instant> {
        self.retry_at
    }

    /// Resumes accepting: a descriptor has become free.
    pub(crate) fn resume(&mut self) {
        self.retry_at = None;
    }
}

/// The limits on the number of connections, and the count that all shards share.
pub(crate) struct Capacity {
    /// Connections of all shards.
    population: Arc<AtomicUsize>,
    population_max: usize,
    /// Maximum number of connections of this shard.
    shard_max: usize,
}

impl Capacity {
    pub(crate) fn new(population: Arc<AtomicUsize>, population_max: usize, shard_max: usize) -> Self {
        Self { population, population_max, shard_max }
    }

    /// Reserves room for one more connection in addition to the `shard_len` of this shard. Returns whether there was
    /// any.
    pub(crate) fn enter(&self, shard_len: usize) -> bool {
        if shard_len >= self.shard_max {
            return false;
        }
        let has_room = self.population.fetch_add(1, Ordering::Relaxed) < self.population_max;
        if !has_room {
            self.leave();
        }
        has_room
    }

    /// Admits no more connections.
    pub(crate) fn shut(&mut self) {
        self.shard_max = 0;
    }

    pub(crate) fn leave(&self) {
        self.population.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the result of one `accept` call says about the next call.
enum Next {
    MayWait,
    NoneWaits,
    NoDescriptor,
}

impl<D: Driver> Shard<D> {
    /// Accepts a bounded number of connections from each listener that has some waiting.
    pub(crate) fn accept_from_ready(&mut self) {
        if self.listeners.retry_at.is_some_and(|retry_at| retry_at <= self.sockets.now) {
            self.listeners.resume();
        }
        for index in 0..self.listeners.sockets.len() {
            if self.listeners.retry_at.is_none() && self.listeners.sockets[index].ready {
                self.accept_some(index);
            }
        }
    }

    /// Accepts what is already waiting, then closes the listeners.
    pub(crate) fn stop_accepting(&mut self) {
        for listener in &mut self.listeners.sockets {
            listener.ready = true;
        }
        let backlog = BACKLOG as usize;
        for _ in 0..backlog.div_ceil(ACCEPTS_PER_TICK_MAX) {
            if self.listeners.has_ready() {
                self.accept_from_ready();
            }
        }
        // Closing a listener also removes it from the readiness loop: no other descriptor refers to it.
        drop(mem::take(&mut self.listeners.sockets));
        self.listeners.resume();
    }

    fn accept_some(&mut self, index: usize) {
        let accepted = self.accept_waiting(index);
        let listener = &self.listeners.sockets[index];
        if let Some(steering) = &listener.steering {
            steering.count(&listener.socket, accepted);
        }
    }

    /// Accepts until none waits or it has been many; returns how many.
    fn accept_waiting(&mut self, index: usize) -> u64 {
        for accepted in 0..ACCEPTS_PER_TICK_MAX {
            match self.accept_one(index) {
                Next::MayWait => {}
                Next::NoneWaits => {
                    self.listeners.sockets[index].ready = false;
                    return accepted as u64;
                }
                Next::NoDescriptor => {
                    if !mem::replace(&mut self.listeners.told, true) {
                        tracing::warn!("no descriptor is free: no connections are accepted until one ends");
                    }
                    self.listeners.retry_at = Some(self.sockets.now + ACCEPT_RETRY);
                    return accepted as u64;
                }
            }
        }
        ACCEPTS_PER_TICK_MAX as u64
    }

    fn accept_one(&mut self, index: usize) -> Next {
        let listener = &self.listeners.sockets[index].socket;
        match rustix::net::acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok((socket, remote)) => {
                self.listeners.told = false;
                // A peer that is gone already has no address.
                if let Some(remote) = remote.and_then(|remote| SocketAddr::try_from(remote).ok()) {
                    self.welcome(ListenerIndex(index as u16), socket, canonical(remote));
                }
                Next::MayWait
            }
            Err(Errno::AGAIN) => Next::NoneWaits,
            Err(Errno::INTR) => Next::MayWait,
            Err(errno) => {
                add(&self.sockets.books.counters.accept_errors_total, 1);
                after_failure(errno)
            }
        }
    }

    fn welcome(&mut self, listener: ListenerIndex, socket: OwnedFd, remote: SocketAddr) {
        if !self.sockets.capacity.enter(self.sockets.slab.len()) {
            let refusal = self.listeners.refusal.clone();
            return self.turn_away(socket, refusal);
        }
        match self.driver.accepted(listener, remote) {
            Admission::Admit(peer) => {
                let id = self.sockets.insert(socket, listener, peer);
                self.begin_reading(id);
                self.after_callback();
            }
            Admission::Refuse(bytes) => {
                self.sockets.capacity.leave();
                self.turn_away(socket, bytes);
            }
        }
    }
}

/// Converts an IPv4-mapped address, which a dual-stack socket reports for an IPv4 peer (RFC 4291, section 2.5.5.2), to
/// IPv4, so that a peer has the same address whichever listener it came in by.
pub(crate) fn canonical(remote: SocketAddr) -> SocketAddr {
    SocketAddr::new(remote.ip().to_canonical(), remote.port())
}

fn after_failure(errno: Errno) -> Next {
    match errno {
        Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM => Next::NoDescriptor,
        // accept(2): errors that a connection had before it was accepted, and a firewall's refusal (EPERM). The next
        // call may succeed.
        Errno::CONNABORTED
        | Errno::PERM
        | Errno::NETDOWN
        | Errno::PROTO
        | Errno::NOPROTOOPT
        | Errno::HOSTDOWN
        | Errno::NONET
        | Errno::HOSTUNREACH
        | Errno::OPNOTSUPP
        | Errno::NETUNREACH => Next::MayWait,
        _ => {
            tracing::error!(%errno, "a listener failed");
            Next::NoDescriptor
        }
    }
}
