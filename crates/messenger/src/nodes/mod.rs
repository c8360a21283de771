//! Several nodes over one store: each tells the others what it did, and applies what they did.
//!
//! It owns the messages between nodes ([`Envelope`]), the numbers that reveal a loss, and what has arrived from each
//! node. Notices that arrive are applied by [`NoticeApplier`](crate::notice_applier), as if this node had done it. Nothing is sent again:
//! the store has everything, and a node that has missed something reads again what it keeps
//! ([`reconciling`](crate::reconciling)). It must hold no rule of the messenger, and know nothing of the bus behind it.

mod people;
mod received;
mod sender;

pub(crate) use sender::NodeSender;

use crate::audience::PersonReport;
use crate::messenger::{Inner, Messenger};
use crate::notice::Notice;
use crate::notice_applier::NoticeApplier;
use chat::CommunityId;
use gateway::{FromNodes, NodeId};
use people::Roster;
use received::ReceivedNumbers;
use serde::Deserialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A message of one node to the others: the notices of one answer or of a part of it, people who are online, or only
/// that the node is alive. Unknown fields are ignored; a field whose meaning changes must get another name.
#[derive(Deserialize)]
struct Envelope {
    /// The sequence number of this message, counted from 1.
    number: u64,
    /// The store's epoch: messages of nodes over another store are ignored.
    epoch: String,
    community: Option<CommunityId>,
    notices: Vec<Notice<'static>>,
    /// Some of the node's people.
    #[serde(default)]
    people: Vec<PersonReport>,
    /// The node has reported all of its people since the message with this number.
    #[serde(default)]
    all_told_since: Option<u64>,
    /// The node asks the others to report their people.
    #[serde(default)]
    asks: bool,
}

/// With other nodes, nothing stays in the cache longer than this: the bound for losses that no node noticed.
const CACHE_AGE_MAX: Duration = Duration::from_secs(60);
/// The same while the bus is down.
const CACHE_AGE_AWAY_MAX: Duration = Duration::from_secs(1);

/// What this node knows of the others.
pub(crate) struct Nodes {
    pub(crate) sender: NodeSender,
    received: Mutex<ReceivedNumbers>,
    roster: Roster,
    /// Whether something may have happened that this node did not receive.
    missed: AtomicBool,
    heard_total: AtomicU64,
    missed_total: AtomicU64,
    /// When the cache was last emptied.
    emptied: Mutex<Instant>,
}

impl Nodes {
    pub(crate) fn new(epoch: &str) -> Self {
        Self {
            sender: NodeSender::new(epoch),
            received: Mutex::default(),
            roster: Roster::default(),
            missed: AtomicBool::new(false),
            heard_total: AtomicU64::new(0),
            missed_total: AtomicU64::new(0),
            emptied: Mutex::new(Instant::now()),
        }
    }

    /// Returns how many messages of other nodes arrived, and how often something was missed.
    pub(crate) fn counts(&self) -> (u64, u64) {
        (self.heard_total.load(Relaxed), self.missed_total.load(Relaxed))
    }

    /// Returns whether something was missed since the last call.
    pub(crate) fn take_missed(&self) -> bool {
        self.missed.swap(false, Relaxed)
    }

    /// Records that something was missed, or that what was missed could not be read.
    pub(crate) fn miss(&self) {
        self.missed.store(true, Relaxed);
    }

    /// Returns whether the cache was last emptied too long ago; if so, records that it is emptied now.
    fn is_cache_too_old(&self, now: Instant) -> bool {
        let age_max = if self.received().is_away() { CACHE_AGE_AWAY_MAX } else { CACHE_AGE_MAX };
        let mut emptied = self.emptied.lock().unwrap_or_else(PoisonError::into_inner);
        let is_too_old = now.saturating_duration_since(*emptied) >= age_max;
        if is_too_old {
            *emptied = now;
        }
        is_too_old
    }

    fn received(&self) -> MutexGuard<'_, ReceivedNumbers> {
        self.received.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messenger {
    /// Handles a message of another node over the same store, or a change of the nodes or the bus. Does not block:
    /// people who are gone as a result are only marked, and removed by one of the messenger's own threads
    /// ([`Messenger::start_housekeeping`]).
    pub fn hear(&self, said: FromNodes<'_>) {
        let inner = &self.inner;
        match said {
            FromNodes::Up => {
                inner.nodes.received().up();
                inner.nodes.roster.up(&inner.audience);
                inner.miss_something("the bus was unavailable");
                inner.nodes.sender.say_hello(&inner.out);
            }
            FromNodes::Down => {
                inner.nodes.received().down();
                inner.nodes.roster.down(Instant::now());
            }
            FromNodes::Nodes(nodes) => {
                for gone in inner.nodes.roster.live(&inner.audience, nodes) {
                    inner.audience.begin_to_lose(gone, true);
                }
                if inner.nodes.received().live(nodes) {
                    inner.miss_something("a node is gone");
                }
            }
            FromNodes::Told { node, words } => inner.take(node, words),
        }
    }

    /// Empties the cache regularly while there are other nodes.
    pub(crate) fn age_cache(&self, now: Instant) {
        let inner = &self.inner;
        if inner.out.has_nodes() && inner.nodes.is_cache_too_old(now) {
            inner.cache.forget_everything();
        }
    }
}

impl Inner {
    fn take(&self, node: NodeId, words: &[u8]) {
        let envelope: Envelope = match serde_json::from_slice(words) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::warn!(%error, "a message from another node cannot be parsed: check that all nodes run the \
                     same version");
                return self.miss_something("a message could not be parsed");
            }
        };
        let Envelope { number, epoch, community, notices, people, all_told_since, asks } = envelope;
        if epoch != self.nodes.sender.epoch() {
            return;
        }
        self.nodes.heard_total.fetch_add(1, Relaxed);
        if !self.nodes.received().is_next(node, number) {
            self.miss_something("messages from another node are missing");
            self.nodes.doubt_people_of(&self.audience, node);
        }
        if asks {
            self.nodes.roster.is_asked.store(true, Relaxed);
        }
        if all_told_since.is_some_and(|since| self.nodes.received().has_all_since(node, since)) {
            self.audience.begin_to_lose(node, false);
        }
        let Some(community) = community else { return };
        let mut here: NoticeApplier<'_> = self.here();
        for notice in &notices {
            here.apply(&community, notice);
        }
        self.hear_people(&community, node, people);
    }

    /// The cache may be stale from now on, and is emptied; everything else is read again in later rounds.
    fn miss_something(&self, why: &str) {
        tracing::info!("this node may have missed changes and reloads its state: {why}");
        self.nodes.missed_total.fetch_add(1, Relaxed);
        self.cache.forget_everything();
        self.nodes.miss();
    }
}

#[cfg(test)]
mod tests;
