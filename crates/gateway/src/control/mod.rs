//! The control plane: plain HTTP, TLS handshakes, long-polling and tasks, on a thread and runtime of its own, in the
//! main descriptor table.

mod announced;
mod http;
mod owned_head;
mod refusals;
mod stream;
mod tasks;
mod timed_stream;
mod tls;
mod upgrade;

pub(crate) use owned_head::OwnedHead;
pub(crate) use refusals::Refusals;
pub(crate) use stream::ControlStream;

use crate::admission::{AddressIndex, Admission, Excess, Visit};
use crate::bus_port::{BusPort, RunBus};
use crate::handshake::parse_proxy_header;
use crate::life::{Life, Stage};
use crate::memory::Watch;
use crate::metrics::PROXY_PROTOCOL;
use crate::nodes::{self, Nodes};
use crate::relay::Relay;
use crate::shard::{Mail, ShardDriver, Shared};
use engine::{Engine, HandedOff, Mailboxes, ShardIndex};
use hub::{Task, TaskOwner};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::{io, thread};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedReceiver;

/// The client's address, as an extension of requests that reach the application's router. For a request through a
/// trusted proxy it is the address of the proxy's client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemotePeer {
    /// The address; the port is 0 if a proxy did not pass it on.
    pub address: SocketAddr,
    /// Whether the client used TLS, to us or to a trusted proxy.
    pub secure: bool,
}

/// Messages from the shards to the control plane.
pub(crate) enum ControlMail {
    /// Run this task and return the answer.
    Task { shard: ShardIndex, owner: TaskOwner, task: Task },
    /// A connection with plain HTTP.
    HandedOff(HandedOff),
}

/// The state of the control plane.
pub(crate) struct Control {
    pub(crate) shared: Arc<Shared>,
    pub(crate) mailboxes: Mailboxes<Mail>,
    pub(crate) relay: Relay,
    pub(crate) router: axum::Router,
    pub(crate) engine: Arc<OnceLock<Engine<ShardDriver>>>,
    pub(crate) life: Arc<Life>,
    pub(crate) places: Arc<Semaphore>,
    /// Permits for long-poll sessions. Nobody waits for one, so shards may release them without waking the runtime.
    pub(crate) sessions: Arc<Semaphore>,
    /// The budget for refusing new TLS connections.
    pub(crate) refusals: Arc<Refusals>,
    /// Number of connections that are served by the long-polling reader.
    pub(crate) longpolls: Arc<AtomicUsize>,
    /// Permits for posted bodies in memory, in KiB. Nobody waits for one.
    pub(crate) bodies: Semaphore,
    pub(crate) next_shard: AtomicUsize,
    /// The other nodes of the cluster.
    pub(crate) nodes: Arc<Nodes>,
}

/// The listeners that the control plane accepts connections from.
pub(crate) struct Listeners {
    pub(crate) tls: Vec<TlsListener>,
    /// For other nodes.
    pub(crate) nodes: Option<TcpListener>,
}

/// A listener for TLS and the configuration of its handshakes.
pub(crate) struct TlsListener {
    pub(crate) listener: TcpListener,
    pub(crate) config: Arc<rustls::ServerConfig>,
    /// Whether connections begin with a PROXY protocol header.
    pub(crate) announced: bool,
}

impl Control {
    /// Assigns new connections to the shards in turn.
    pub(crate) fn pick_shard(&self) -> ShardIndex {
        ShardIndex((self.next_shard.fetch_add(1, Relaxed) % self.mailboxes.len()) as u16)
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.life.has_reached(Stage::Draining)
    }

    /// Returns whether the shards have reached the connection limit.
    pub(crate) fn is_full(&self) -> bool {
        self.shared.allowance.population() >= self.shared.limits.connections_max
    }

    /// Counts a refused client.
    pub(crate) fn reject(&self, reason: &'static str) {
        self.shared.metrics[0].reject(reason);
    }

    /// Starts the control plane's thread; it ends when the gateway is stopped.
    pub(crate) fn start(
        self,
        inbox: UnboundedReceiver<ControlMail>,
        listeners: Listeners,
        watch: Option<Watch>,
        bus: Option<(RunBus, BusPort)>,
    ) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let control = Arc::new(self);
        thread::Builder::new().name("control".to_owned()).spawn(move || {
            runtime.block_on(async {
                if let Some(watch) = watch {
                    tokio::spawn(watch.go_on(control.life.clone()));
                }
                if let Some((run, port)) = bus {
                    tokio::spawn(run(port));
                }
                control.run(inbox, listeners).await;
            });
            runtime.shutdown_background();
        })?;
        Ok(())
    }

    async fn run(self: Arc<Self>, mut inbox: UnboundedReceiver<ControlMail>, listeners: Listeners) {
        for listener in listeners.tls {
            tokio::spawn(tls::accept(self.clone(), listener));
        }
        if let Some(listener) = listeners.nodes {
            tokio::spawn(nodes::accept(self.clone(), listener));
        }
        loop {
            tokio::select! {
                mail = inbox.recv() => match mail {
                    Some(ControlMail::Task { shard, owner, task }) => {
                        tasks::spawn(self.mailboxes.clone(), shard, owner, task);
                    }
                    Some(ControlMail::HandedOff(connection)) => self.clone().take_over(connection),
                    None => return,
                },
                () = self.life.reached(Stage::Stopped) => return,
            }
        }
    }

    /// Counts a connection with `enter`; a trusted proxy's own connection is not counted, but its clients are.
    fn visit(
        &self,
        remote: SocketAddr,
        enter: impl FnOnce(&Admission) -> Result<AddressIndex, Excess>,
    ) -> Result<Visit, Excess> {
        let admission = &self.shared.admission;
        if self.shared.proxies.trusts(remote.ip()) {
            return Ok(Visit::uncounted(admission.clone()));
        }
        Ok(Visit::new(admission.clone(), enter(admission)?))
    }

    /// Serves a connection whose first request a shard has read.
    fn take_over(self: Arc<Self>, connection: HandedOff) {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return self.reject("http_connections");
        };
        let HandedOff { stream, mut remote, mut unread, listener } = connection;
        if self.shared.proxies.are_announced_at(listener) {
            // The shard has parsed the header and left it in the buffer.
            let Ok(Some(header)) = parse_proxy_header(&unread) else { return self.reject(PROXY_PROTOCOL) };
            remote = header.client.unwrap_or(remote);
            unread.drain(..header.bytes);
        }
        match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => {
                let peer = RemotePeer { address: remote, secure: false };
                let stream = stream::ControlStream::plain(stream, unread);
                let visit = self.visit(remote, |admission| Ok(admission.enter_again(remote)));
                // A connection that a shard admitted is not refused.
                let Ok(visit) = visit else { return };
                tokio::spawn(async move {
                    http::serve(self, stream, peer, visit).await;
                    drop(place);
                });
            }
            Err(error) => tracing::warn!(%error, "a connection could not be handed to the HTTP server"),
        }
    }
}
