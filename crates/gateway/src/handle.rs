//! A running gateway, seen from the rest of the program.

use crate::metrics::{Metrics, Snapshot};
use crate::relay::Relay;
use crate::shard::{Mail, ShardDriver, Shared};
use engine::{Engine, Mailboxes, ShardIndex};
use hub::{Outgoing, ShardMessage};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

/// A gateway that was started. Dropping it leaves it running.
pub struct Running {
    pub(crate) handle: Handle,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls_addresses: Vec<SocketAddr>,
}

impl Running {
    /// Where it listens, with the ports that the system chose.
    pub fn local_addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Where it listens for TLS.
    pub fn tls_addresses(&self) -> &[SocketAddr] {
        &self.tls_addresses
    }

    /// What the rest of the program talks to it through.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits for ever, or until [`Handle::stop`].
    pub fn wait(self) {
        let mut stopped = self.handle.stop.subscribe();
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        match runtime {
            Ok(runtime) => drop(runtime.block_on(stopped.wait_for(|stopped| *stopped))),
            Err(error) => tracing::error!(%error, "no runtime to wait on"),
        }
    }
}

/// Talks to a running gateway from any thread.
#[derive(Clone)]
pub struct Handle {
    pub(crate) mailboxes: Mailboxes<Mail>,
    pub(crate) relay: Relay,
    pub(crate) shared: Arc<Shared>,
    pub(crate) engine: Arc<OnceLock<Engine<ShardDriver>>>,
    pub(crate) metrics: Metrics,
    pub(crate) draining: Arc<AtomicBool>,
    pub(crate) stop: Arc<watch::Sender<bool>>,
}

impl Handle {
    /// Tells every member of a topic something. Returns before anyone got it; without members it does nothing. With
    /// the event `disconnect` on a socket id, closes the sockets with that id.
    pub fn broadcast<'p>(&self, topic: &str, event: &str, payload: impl Into<Outgoing<'p>>) {
        let payload = match payload.into() {
            Outgoing::Json(text) => Outgoing::Json(text.into_owned().into()),
            Outgoing::Binary(bytes) => Outgoing::Binary(bytes.into_owned().into()),
        };
        let home = ShardIndex(self.shared.hub.home_of(topic).0);
        let message = ShardMessage::PublishNow { topic: topic.into(), event: event.into(), payload };
        self.mailboxes.post(home, Mail::Shard(message));
    }

    /// Closes every socket with this id, with 1001; phoenix.js comes back.
    pub fn disconnect(&self, socket_id: &str) {
        let id: Arc<str> = socket_id.into();
        for shard in self.shards() {
            self.mailboxes.post(shard, Mail::Shard(ShardMessage::Disconnect(id.clone())));
        }
    }

    /// Topics with their members, the largest first, at most `count_max`.
    pub async fn topics(&self, count_max: usize) -> Vec<(Arc<str>, usize)> {
        let mut sizes: HashMap<Arc<str>, usize> = HashMap::new();
        for shard in self.shards() {
            let (reply, answer) = self.relay.question();
            self.mailboxes.post(shard, Mail::Topics { reply });
            for (topic, members) in answer.await.unwrap_or_default() {
                *sizes.entry(topic).or_default() += members;
            }
        }
        let mut topics: Vec<_> = sizes.into_iter().collect();
        topics.sort_unstable_by(|(a, a_size), (b, b_size)| b_size.cmp(a_size).then_with(|| a.cmp(b)));
        topics.truncate(count_max);
        topics
    }

    /// The numbers of this moment, without asking the shards.
    pub fn metrics(&self) -> Snapshot {
        self.metrics.snapshot()
    }

    /// Whether [`Handle::drain`] was called.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Relaxed)
    }

    /// Stops accepting, closes every connection with 1012, spread over `spread` in random order, and returns when
    /// none is left.
    pub async fn drain(&self, spread: Duration) {
        self.draining.store(true, Relaxed);
        if let Some(engine) = self.engine.get() {
            engine.stop_accepting();
        }
        let mut drained = Vec::new();
        for shard in self.shards() {
            let (reply, answer) = self.relay.question();
            self.mailboxes.post(shard, Mail::Drain { spread, reply });
            drained.push(answer);
        }
        for answer in drained {
            // A second drain gets no answer of its own.
            let _ = answer.await;
        }
    }

    /// Stops the control plane, and lets [`Running::wait`] return.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    fn shards(&self) -> impl Iterator<Item = ShardIndex> + use<> {
        (0..self.mailboxes.len() as u16).map(ShardIndex)
    }
}
