//! A running gateway, seen from the rest of the program.

use crate::bus_port::BusWishes;
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

/// A gateway that was started. Dropping it leaves it running.
pub struct Running {
    pub(crate) handle: Handle,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) tls_addresses: Vec<SocketAddr>,
    pub(crate) node_address: Option<SocketAddr>,
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

    /// Where it listens for other nodes.
    pub fn node_address(&self) -> Option<SocketAddr> {
        self.node_address
    }

    /// What the rest of the program talks to it through.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits for ever, or until [`Handle::stop`].
    pub fn wait(self) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.handle.life.reached(Stage::Stopped)),
            Err(error) => tracing::error!(%error, "the runtime cannot be created"),
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
    pub(crate) account: Account,
    /// The memory budget in bytes, and the idle connections that it has room for.
    pub(crate) budget: Option<(u64, u64)>,
    pub(crate) life: Arc<Life>,
    /// To the other nodes, where there is a bus.
    pub(crate) words: Option<BusWishes>,
}

/// What is large, and who is slow.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Census {
    /// The largest topics with their members, the largest first.
    pub topics: Vec<(Arc<str>, usize)>,
    /// Clients that do not read as fast as they are sent to, the slowest first.
    pub slow_readers: Vec<SlowReader>,
}

/// Why a broadcast was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum BroadcastError {
    /// Too much waits for the shard that it goes through (see
    /// [`Limits::mailbox_len_max`](crate::Limits::mailbox_len_max)); it was dropped and counted. Try again later.
    Full,
    /// The topic is recoverable, and the payload is no JSON object that could be given its offset.
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
    /// Tells every member of a topic something. Returns before anyone got it; without members it does nothing. With
    /// the event `disconnect` on a socket id, does as [`Handle::disconnect`].
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

    /// As [`Handle::broadcast`], but for the members on this node alone, for who tells the other nodes in another way. On a
    /// recoverable topic it has no place in the order; the event `disconnect` means nothing.
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

    /// As [`Handle::broadcast_here`], for topics that have members on most shards: where there are two at the most, each is told
    /// at once, and not by way of the topic's home. What is published on a topic in this way comes in the order of the calls;
    /// how it stands to what is published in others nobody says.
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
        // On each shard in the same order, whichever threads publish.
        let _order = self.shared.telling.lock().unwrap_or_else(PoisonError::into_inner);
        for shard in (0..shards).map(|shard| ShardIndex(shard as u16)) {
            let mail = Mail::Shard(ShardMessage::Deliver(publication.clone()));
            outcome = outcome.and(self.mailboxes.offer(shard, mail).map_err(|_| BroadcastError::Full));
        }
        outcome
    }

    /// Whether there is a bus to other nodes, be it away or not.
    pub fn has_nodes(&self) -> bool {
        self.words.is_some()
    }

    /// Says something to the programs of all other nodes ([`GatewayBuilder::hear_nodes`](crate::GatewayBuilder::hear_nodes)), in
    /// the order of the calls. Returns before anybody heard it; while the bus is away, or where it has no room, nobody does.
    pub fn tell_nodes(&self, words: Vec<u8>) {
        if let Some(bus) = &self.words {
            bus.tell_nodes(words.into());
        }
    }

    /// Closes every socket with this id, with 1001; phoenix.js comes back. With a bus those on other nodes, too; while it is
    /// away nobody tells them.
    pub fn disconnect(&self, socket_id: &str) {
        self.dismiss(&Dismissal::Sockets { id: socket_id.into(), code: CloseCode::GOING_AWAY });
    }

    /// As [`Handle::disconnect`], with a close code of the application's own, from 4000 to 4999; long-poll sessions end
    /// without one.
    pub fn disconnect_with(&self, socket_id: &str, code: u16) {
        debug_assert!((4000..5000).contains(&code), "other codes are the protocol's (RFC 6455, section 7.4)");
        self.dismiss(&Dismissal::Sockets { id: socket_id.into(), code });
    }

    /// Ends the joins of the sockets with this id to a topic, with `phx_close`: phoenix.js does not join again by itself. A
    /// join that is still being decided is not ended; its channel may look again in [`Channel::joined`]. With a bus as
    /// [`Handle::disconnect`].
    ///
    /// [`Channel::joined`]: crate::Channel::joined
    pub fn end_join(&self, socket_id: &str, topic: &str) {
        self.dismiss(&Dismissal::Joins { id: socket_id.into(), topic: topic.into() });
    }

    fn dismiss(&self, dismissal: &Dismissal) {
        self.mailboxes.post_to_all(|| Mail::Shard(ShardMessage::Dismiss(dismissal.clone())));
    }

    /// Topics with their members, the largest first, at most `count_max`; see [`Handle::census`].
    pub async fn topics(&self, count_max: usize) -> Vec<(Arc<str>, usize)> {
        self.census(count_max, 0).await.topics
    }

    /// The largest topics and the slowest readers, at most so many of each. Shards look for them a little in each turn.
    /// The members of each listed topic are all counted; a topic that is spread so thin that no shard has it among its
    /// largest may be missing.
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

    /// The largest of those that some shard has among its largest, with all their members.
    async fn sized(&self, seen: HashMap<Arc<str>, usize>, count_max: usize) -> Vec<(Arc<str>, usize)> {
        let mut topics: Vec<_> = seen.into_iter().collect();
        let by_size = |(a, a_size): &(Arc<str>, usize), (b, b_size): &(Arc<str>, usize)| {
            b_size.cmp(a_size).then_with(|| a.cmp(b))
        };
        topics.sort_unstable_by(by_size);
        // A topic that is large on one shard only may be overtaken by some that are middling on all.
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

    /// Asks every shard the same, all at once. Who has no answer to give is left out.
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

    /// The numbers of this moment, without asking the shards.
    pub fn metrics(&self) -> Snapshot {
        self.metrics.snapshot()
    }

    /// Whether [`Handle::drain`] or [`Handle::stop`] was called.
    pub fn is_draining(&self) -> bool {
        self.life.has_reached(Stage::Draining)
    }

    /// What the memory of this moment is made of. Reads some small files of the kernel's, and does not ask the shards.
    pub fn memory(&self) -> MemorySnapshot {
        self.account.snapshot()
    }

    /// The memory budget, if there is one, and how many connections it allows now.
    pub fn memory_budget(&self) -> Option<MemoryBudget> {
        let (bytes, capacity) = self.budget?;
        Some(MemoryBudget { bytes, capacity, allowed: self.shared.allowance.allowed()? })
    }

    /// Closes every connection with 1012 and ends every long-poll session, each at a random moment within `spread`, and
    /// returns when none is left: at the latest some seconds after `spread`, when those that do not go are cut. Until its
    /// moment a session goes on. Meanwhile new connections are answered 503 with `Retry-After`, and those by TLS find nobody
    /// who listens. A second drain joins the first.
    pub async fn drain(&self, spread: Duration) {
        self.life.advance(Stage::Draining);
        // Of whom there is no answer, that shard is gone, and its connections with it.
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
