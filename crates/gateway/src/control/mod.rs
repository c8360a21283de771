//! The control plane: plain HTTP, TLS handshakes, long-polling and tasks, on a thread and a runtime of its own, in the
//! main descriptor table.

mod http;
mod stream;
mod tasks;
mod tls;
mod upgrade;

pub(crate) use http::OwnedHead;

use crate::admission::Visit;
use crate::life::{Life, Stage};
use crate::memory::Watch;
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

/// The client's address, as an extension of requests that reach the application's router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemotePeer {
    /// Where it comes from.
    pub address: SocketAddr,
    /// Whether by TLS.
    pub secure: bool,
}

/// What the shards have for the control plane.
pub(crate) enum ControlMail {
    /// Run this and bring the answer back.
    Task { shard: ShardIndex, owner: TaskOwner, task: Task },
    /// Plain HTTP.
    HandedOff(HandedOff),
}

/// What the control plane knows.
pub(crate) struct Control {
    pub(crate) shared: Arc<Shared>,
    pub(crate) mailboxes: Mailboxes<Mail>,
    pub(crate) relay: Relay,
    pub(crate) router: axum::Router,
    pub(crate) engine: Arc<OnceLock<Engine<ShardDriver>>>,
    pub(crate) life: Arc<Life>,
    pub(crate) places: Arc<Semaphore>,
    /// Places for long-poll sessions. Nobody waits for one, so that shards may give them back.
    pub(crate) sessions: Arc<Semaphore>,
    /// KiB of posted bodies that are held in memory.
    pub(crate) bodies: Semaphore,
    pub(crate) next_shard: AtomicUsize,
}

/// A listener for TLS with what its handshakes need.
pub(crate) type TlsListener = (TcpListener, Arc<rustls::ServerConfig>);

impl Control {
    /// Shards take new connections in turn.
    pub(crate) fn pick_shard(&self) -> ShardIndex {
        ShardIndex((self.next_shard.fetch_add(1, Relaxed) % self.mailboxes.len()) as u16)
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.life.has_reached(Stage::Draining)
    }

    /// Counts somebody who was refused.
    pub(crate) fn reject(&self, reason: &'static str) {
        self.shared.metrics[0].reject(reason);
    }

    /// Starts the control plane's thread; it ends when the gateway is stopped.
    pub(crate) fn start(
        self,
        inbox: UnboundedReceiver<ControlMail>,
        tls: Vec<TlsListener>,
        watch: Option<Watch>,
    ) -> io::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let control = Arc::new(self);
        thread::Builder::new().name("control".to_owned()).spawn(move || {
            runtime.block_on(async {
                if let Some(watch) = watch {
                    tokio::spawn(watch.go_on(control.life.clone()));
                }
                control.run(inbox, tls).await;
            });
            runtime.shutdown_background();
        })?;
        Ok(())
    }

    async fn run(self: Arc<Self>, mut inbox: UnboundedReceiver<ControlMail>, tls: Vec<TlsListener>) {
        for (listener, config) in tls {
            tokio::spawn(tls::accept(self.clone(), listener, config));
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

    /// Serves a connection that a shard read the first request of.
    fn take_over(self: Arc<Self>, connection: HandedOff) {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            return self.reject("http_connections");
        };
        let HandedOff { stream, remote, unread, .. } = connection;
        match tokio::net::TcpStream::from_std(stream) {
            Ok(stream) => {
                let peer = RemotePeer { address: remote, secure: false };
                let stream = stream::ControlStream::plain(stream, unread);
                let admission = &self.shared.admission;
                let visit = Visit::new(admission.clone(), admission.enter_again(remote));
                tokio::spawn(async move {
                    http::serve(self, stream, peer, visit).await;
                    drop(place);
                });
            }
            Err(error) => tracing::warn!(%error, "a connection could not be handed to the HTTP server"),
        }
    }
}
