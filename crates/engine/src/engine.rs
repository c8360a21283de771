//! The handle to the running shards.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use crate::config::Tables;
use crate::control_path::{Arrival, ShardCommand};
use crate::control_queue::{ControlQueue, ControlRequest};
use crate::counters::ShardCounters;
use crate::driver::{Driver, ShardIndex};
use crate::mailbox::{Bell, Mailboxes, Queue};
use crate::transfer::PendingTransfers;

/// A connection to give to a shard: see [`Engine::adopt`].
#[derive(Debug)]
pub struct Adoption<S> {
    /// The socket; the engine makes it non-blocking.
    pub stream: TcpStream,
    /// Its TLS state after the handshake, if it uses TLS.
    pub tls: Option<Box<rustls::ServerConnection>>,
    /// The peer's address.
    pub remote: SocketAddr,
    /// What was already read from it, decrypted.
    pub unread: Vec<u8>,
    /// What the driver needs to know about it.
    pub seed: S,
}

/// The running shards. Dropping it shuts them down.
pub struct Engine<D: Driver> {
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) mailboxes: Mailboxes<D::Mail>,
    pub(crate) handles: Vec<ShardHandle<D>>,
    pub(crate) control_queue: Arc<ControlQueue>,
    pub(crate) control: Option<JoinHandle<()>>,
    pub(crate) tables: Tables,
}

/// One shard, as seen from outside.
pub(crate) struct ShardHandle<D: Driver> {
    pub(crate) thread: Option<JoinHandle<()>>,
    pub(crate) orders: Arc<Queue<ShardCommand<D::Seed>>>,
    pub(crate) bell: Arc<Bell>,
    pub(crate) counters: Arc<ShardCounters>,
    pub(crate) arrivals: Arc<PendingTransfers<Arrival<D::Seed>>>,
}

impl<D: Driver> ShardHandle<D> {
    fn order(&self, order: ShardCommand<D::Seed>) {
        if self.orders.push(order, usize::MAX).is_ok() {
            self.bell.ring();
        }
    }
}

impl<D: Driver> Engine<D> {
    /// Gives a connection to a shard. Call it from a thread that shares the process's own descriptor table. A shard
    /// without room closes the connection and counts it as refused.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn adopt(&self, shard: ShardIndex, adoption: Adoption<D::Seed>) {
        let Adoption { stream, tls, remote, unread, seed } = adoption;
        if let Err(error) = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)) {
            return tracing::debug!(%remote, %error, "adoption refused: the socket is unusable");
        }
        let arrival = Arrival { tls, remote, unread, seed };
        let handle = &self.handles[usize::from(shard.0)];
        match self.tables {
            Tables::Shared => handle.order(ShardCommand::Adopt(arrival, stream.into())),
            Tables::Private => {
                let ticket = handle.arrivals.enter(arrival);
                self.control_queue.put(ControlRequest::Carry { shard, ticket, socket: stream.into() });
            }
        }
    }

    /// Accepts what is already waiting, then closes the listeners. Existing connections stay open.
    pub fn stop_accepting(&self) {
        for handle in &self.handles {
            handle.order(ShardCommand::StopAccepting);
        }
    }

    /// Returns the counters of a shard.
    ///
    /// # Panics
    /// If there is no such shard.
    #[must_use]
    pub fn counters(&self, shard: ShardIndex) -> Arc<ShardCounters> {
        Arc::clone(&self.handles[usize::from(shard.0)].counters)
    }

    /// Returns the mailboxes of all shards.
    #[must_use]
    pub fn mailboxes(&self) -> Mailboxes<D::Mail> {
        self.mailboxes.clone()
    }

    /// Returns the addresses that the shards listen on, in the configured order.
    #[must_use]
    pub fn local_addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Ends all connections and waits for the threads to end.
    pub fn shutdown(self) {
        drop(self);
    }
}

impl<D: Driver> Drop for Engine<D> {
    fn drop(&mut self) {
        for handle in &self.handles {
            handle.order(ShardCommand::ShutDown);
        }
        for handle in &mut self.handles {
            join(handle.thread.take());
        }
        self.control_queue.put(ControlRequest::Stop);
        join(self.control.take());
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread
        && thread.join().is_err()
    {
        unreachable!("a thread of the engine that panics ends the process");
    }
}
