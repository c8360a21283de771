//! The interface of a running gateway to the rest of the program.

use crate::bus_port::BusSender;
use crate::life::{Life, Stage};
use crate::memory::{Account, MemoryBudget, MemorySnapshot};
use crate::metrics::{Metrics, Snapshot};
use crate::relay::{Relay, Reply};
use crate::shard::{Mail, Question, ShardCensus, ShardDriver, Shared, SlowReader};
use engine::{Engine, Mailboxes, ShardIndex};
use hub::{Dismissal, Micros, Outgoing, Publication, SHARDS_TOLD_AT_ONCE_MAX, ShardMessage};
use proto::ws::CloseCode;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

/// A gateway that was started. Dropping it leaves the gateway running.
pub struct Running {
    pub(crate) handle: Handle,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls_addresses: Vec<SocketAddr>,
    pub(crate) node_address: Option<SocketAddr>,
}

impl Running {
    /// Returns the addresses it listens at, with the ports that the system chose.
    pub fn local_addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Returns the addresses it listens at for TLS.
    pub fn tls_addresses(&self) -> &[SocketAddr] {
        &self.tls_addresses
    }

    /// Returns the address it listens at for other nodes.
    pub fn node_address(&self) -> Option<SocketAddr> {
        self.node_address
    }

    /// Returns the handle for the rest of the program.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits forever, or until [`Handle::stop`].
    pub fn wait(self) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.handle.life.reached(Stage::Stopped)),
            Err(error) => tracing::error!(%error, "the runtime cannot be created"),
        }
    }
}

/// Controls a running gateway from any thread.
#[derive(Clone)]
pub struct Handle {
    pub(crate) mailboxes: Mailboxes<Mail>,
    pub(crate) relay: Relay,
    pub(crate) shared: Arc<Shared>,
    pub(crate) engine: Arc<OnceLock<Engine<ShardDriver>>>,
    pub(crate) metrics: Metrics,
    pub(crate) account: Account,
    /// The memory budget in bytes, and the number of idle connections that it has room for.
    pub(crate) budget: Option<(u64, u64)>,
    pub(crate) life: Arc<Life>,
    /// Sends to the other nodes, if there is a bus.
    pub(crate) words: Option<BusSender>,
}

/// The largest topics and the slowest readers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Census {
    /// The largest topics with their number of members, largest first.
    pub topics: Vec<(Arc<str>, usize)>,
    /// Clients that read more slowly than the server sends, slowest first.
    pub slow_readers: Vec<SlowReader>,
}

/// Why a broadcast was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Too many messages are waiting for the topic's home shard (see
    /// [`Limits::mailbox_len_max`](crate::Limits::mailbox_len_max)). The broadcast was dropped and counted. Try again
    /// later.
    Full,
    /// The topic is recoverable, and the payload is not a JSON object, so it cannot carry its offset.
    NotAnObject,
}

impl fmt::Display for BroadcastError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BroadcastError::Full => "too many messages are waiting for the topic's shard",
            BroadcastError::NotAnObject => {
                "the payload of a message on a recoverable topic must be a JSON object"
            }
        })
    }
}

impl std::error::Error for BroadcastError {}

impl Handle {
    /// Broadcasts an event to every member of a topic. Returns before any member got it; without members it does
    /// nothing. The event `disconnect` on a socket id works like [`Handle::disconnect`].
    pub fn broadcast<'p>(
        &self,
        topic: &str,
        event: &str,
        payload: impl Into<Outgoing<'p>>,
    ) -> Result<(), BroadcastError> {
        let payload = payload.into().into_owned();
        if self.shared.hub.histories.of(topic).is_some() && !payload.is_object() {
            return Err(BroadcastError::NotAnObject);
        }
        self.publish(topic, event, payload, false)
    }

    /// Like [`Handle::broadcast`], but only for the members on this node, for callers that inform the other nodes in
    /// another way. On a recoverable topic it has no place in the order; the event `disconnect` has no special meaning.
    pub fn broadcast_here<'p>(
        &self,
        topic: &str,
        event: &str,
        payload: impl Into<Outgoing<'p>>,
    ) -> Result<(), BroadcastError> {
        self.publish(topic, event, payload.into().into_owned(), true)
    }

    fn publish(
        &self,
        topic: &str,
        event: &str,
        payload: Outgoing<'static>,
        here: bool,
    ) -> Result<(), BroadcastError> {
        let home = ShardIndex(self.shared.hub.home_of(topic).0);
        let message = ShardMessage::PublishNow { topic: topic.into(), event: event.into(), payload, here };
        self.mailboxes.offer(home, Mail::Shard(message)).map_err(|_| BroadcastError::Full)
    }

    /// Like [`Handle::broadcast_here`], for topics that have members on most shards: if there are at most two shards,
    /// it is posted directly to each, and not through the topic's home. Publications made in this way on a topic arrive
    /// in the order of the calls; their order relative to publications made in other ways is undefined.
    pub fn broadcast_to_crowd<'p>(
        &self,
        topic: &str,
        event: &str,
        payload: impl Into<Outgoing<'p>>,
    ) -> Result<(), BroadcastError> {
        let shards = self.mailboxes.len();
        if shards > SHARDS_TOLD_AT_ONCE_MAX {
            return self.broadcast_here(topic, event, payload);
        }
        let received = Micros(self.shared.began.elapsed().as_micros() as u64);
        let (topic, event, payload) = (topic.into(), event.into(), payload.into().into_owned());
        let publication = Arc::new(Publication { topic, event, payload, received, place: None });
        let mut outcome = Ok(());
        // In the same order on each shard, whichever threads publish.
        let _order = self.shared.telling.lock().unwrap_or_else(PoisonError::into_inner);
        for shard in (0..shards).map(|shard| ShardIndex(shard as u16)) {
            let mail = Mail::Shard(ShardMessage::Deliver(publication.clone()));
            outcome = outcome.and(self.mailboxes.offer(shard, mail).map_err(|_| BroadcastError::Full));
        }
        outcome
    }

    /// Returns whether there is a bus to other nodes, even if it is away.
    pub fn has_nodes(&self) -> bool {
        self.words.is_some()
    }

    /// Sends a message to the programs of all other nodes
    /// ([`GatewayBuilder::hear_nodes`](crate::GatewayBuilder::hear_nodes)), in the order of the calls. Returns before
    /// it is delivered; if the bus is away or has no room, it is lost.
    pub fn tell_nodes(&self, words: Vec<u8>) {
        if let Some(bus) = &self.words {
            bus.tell_nodes(words.into());
        }
    }

    /// Closes every socket with this id, with 1001; phoenix.js reconnects. With a bus, sockets on other nodes are
    /// closed, too, unless the bus is away.
    pub fn disconnect(&self, socket_id: &str) {
        self.dismiss(&Dismissal::Sockets { id: socket_id.into(), code: CloseCode::GOING_AWAY });
    }

    /// Like [`Handle::disconnect`], with an application-defined close code from 4000 to 4999; long-poll sessions end
    /// without one.
    pub fn disconnect_with(&self, socket_id: &str, code: u16) {
        debug_assert!((4000..5000).contains(&code), "other codes are the protocol's (RFC 6455, section 7.4)");
        self.dismiss(&Dismissal::Sockets { id: socket_id.into(), code });
    }

    /// Ends the joins of the sockets with this id to a topic, with `phx_close`, after which phoenix.js does not rejoin
    /// by itself. A join that is still being decided is not ended; its channel can check again in [`Channel::joined`].
    /// With a bus it reaches other nodes as [`Handle::disconnect`] does.
    ///
    /// [`Channel::joined`]: crate::Channel::joined
    pub fn end_join(&self, socket_id: &str, topic: &str) {
        self.dismiss(&Dismissal::Joins { id: socket_id.into(), topic: topic.into() });
    }

    fn dismiss(&self, dismissal: &Dismissal) {
        self.mailboxes.post_to_all(|| Mail::Shard(ShardMessage::Dismiss(dismissal.clone())));
    }

    /// Returns the largest topics with their number of members, largest first, at most `count_max`; see
    /// [`Handle::census`].
    pub async fn topics(&self, count_max: usize) -> Vec<(Arc<str>, usize)> {
        self.census(count_max, 0).await.topics
    }

    /// Returns the largest topics and the slowest readers, at most the given number of each. Shards search for them in
    /// small steps, a part per turn. The member count of each listed topic is complete; a topic that is spread so
    /// thinly that no shard has it among its largest may be missing.
    pub async fn census(&self, topics_max: usize, readers_max: usize) -> Census {
        let question = Question { topics_max, readers_max };
        let found = self.ask_all(|reply| Mail::Census { question, reply }).await;
        let mut seen: HashMap<Arc<str>, usize> = HashMap::new();
        let mut slow_readers = Vec::new();
        for ShardCensus { topics, readers } in found {
            for (topic, members) in topics {
                *seen.entry(topic).or_default() += members;
            }
            slow_readers.extend(readers);
        }
        slow_readers.sort_by_key(|reader: &SlowReader| Reverse(reader.waiting_bytes));
        slow_readers.truncate(readers_max);
        Census { topics: self.sized(seen, topics_max).await, slow_readers }
    }

    /// Returns the largest of the topics that are among the largest of some shard, with their complete member counts.
    async fn sized(&self, seen: HashMap<Arc<str>, usize>, count_max: usize) -> Vec<(Arc<str>, usize)> {
        let mut topics: Vec<_> = seen.into_iter().collect();
        let by_size = |(a, a_size): &(Arc<str>, usize), (b, b_size): &(Arc<str>, usize)| {
            b_size.cmp(a_size).then_with(|| a.cmp(b))
        };
        topics.sort_unstable_by(by_size);
        // A topic that is large on only one shard may be overtaken by some that are medium-sized on all.
        topics.truncate(count_max.saturating_mul(2));
        let names: Arc<[Arc<str>]> = topics.iter().map(|(topic, _)| topic.clone()).collect();
        topics.iter_mut().for_each(|(_, members)| *members = 0);
        for on_shard in self.ask_all(|reply| Mail::Members { topics: names.clone(), reply }).await {
            topics.iter_mut().zip(on_shard).for_each(|((_, members), here)| *members += here);
        }
        topics.retain(|(_, members)| *members > 0);
        topics.sort_unstable_by(by_size);
        topics.truncate(count_max);
        topics
    }

    /// Asks every shard the same question, concurrently. Shards that do not answer are left out.
    async fn ask_all<T: Send + 'static>(&self, mail: impl Fn(Reply<T>) -> Mail) -> Vec<T> {
        let mut asked = Vec::with_capacity(self.mailboxes.len());
        self.mailboxes.post_to_all(|| {
            let (reply, answer) = self.relay.question();
            asked.push(answer);
            mail(reply)
        });
        let mut answers = Vec::with_capacity(asked.len());
        for answer in asked {
            answers.extend(answer.await.ok());
        }
        answers
    }

    /// Returns the current metrics, without asking the shards.
    pub fn metrics(&self) -> Snapshot {
        self.metrics.snapshot()
    }

    /// Returns whether [`Handle::drain`] or [`Handle::stop`] was called.
    pub fn is_draining(&self) -> bool {
        self.life.has_reached(Stage::Draining)
    }

    /// Returns the memory by component. Reads some small files of the kernel, and does not ask the shards.
    pub fn memory(&self) -> MemorySnapshot {
        self.account.snapshot()
    }

    /// Returns the memory budget, if there is one, and how many connections it allows now.
    pub fn memory_budget(&self) -> Option<MemoryBudget> {
        let (bytes, capacity) = self.budget?;
        Some(MemoryBudget { bytes, capacity, allowed: self.shared.allowance.allowed()? })
    }

    /// Closes every connection with 1012 and ends every long-poll session, each at a random time within `spread`, and
    /// returns when none is left: at the latest some seconds after `spread`, when the remaining ones are cut. Until its
    /// time a session works as usual. Meanwhile new connections are answered 503 with `Retry-After`, and TLS
    /// connections are no longer accepted. A second drain joins the first.
    pub async fn drain(&self, spread: Duration) {
        self.life.advance(Stage::Draining);
        // A shard that does not answer is gone, and its connections with it.
        self.ask_all(|reply: Reply<()>| Mail::Drain { spread, reply }).await;
        if let Some(engine) = self.engine.get() {
            engine.stop_accepting();
        }
    }

    /// Stops the control plane, and lets [`Running::wait`] return.
    pub fn stop(&self) {
        self.life.advance(Stage::Stopped);
    }
}
