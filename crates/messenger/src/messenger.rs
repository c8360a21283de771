//! The one entry point through which every surface acts.

use crate::audience::Audience;
use crate::cache::Cache;
use crate::clock::now;
use crate::counters::{CommunityCounts, Counts};
use crate::entrance::{Entrance, InstallationSecret};
use crate::erasures::DoubtedErasures;
use crate::joins_at_once::JoinsAtOnce;
use crate::last_seen::LastSeenQueue;
use crate::limited::{AddressLimits, Limited};
use crate::message_permit::MessagePermit;
use crate::news::News;
use crate::nodes::Nodes;
use crate::notice_applier::NoticeApplier;
use crate::notice_batch::NoticeBatch;
use crate::outlet::{Outlet, Outlets};
use chat::{Ask, By, Call, CommunityId, Entropy, Failure, Store, StoreError, StoreErrorKind, Verb};
use gateway::Together;
use identity::Outbound;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Memory of one connected person who has joined their own topic and a room: identity, sessions, presence, what they
/// follow, and their share of the tables' spare capacity. Measured. The state of their channels is counted by the hub.
const SESSION_BYTES: u64 = 347;

/// A messenger's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Upper bound of the read cache, in bytes.
    pub cache_bytes_max: u64,
    /// The secret from which the guests' and the communities' keys are derived. By default random, and lost with the
    /// process.
    pub secret: InstallationSecret,
    /// Outbound HTTP to host sites; without it, published keys are not fetched and no site is asked.
    pub outbound: Option<Outbound>,
    /// Limits of one address over channels.
    pub address_limits: AddressLimits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cache_bytes_max: 64 << 20,
            secret: InstallationSecret::fleeting(),
            outbound: None,
            address_limits: AddressLimits::default(),
        }
    }
}

/// The messenger: a store, presence, and delivery of news. Cloning is cheap; all clones share the same state.
#[derive(Clone)]
pub struct Messenger {
    pub(crate) inner: Arc<Inner>,
}

/// A weak reference to a messenger, for what the messenger itself owns, such as its witness.
#[derive(Clone)]
pub struct WeakMessenger(Weak<Inner>);

impl WeakMessenger {
    /// Returns the messenger if it still exists.
    ///
    /// # Errors
    /// Returns a failure of kind [`StoreErrorKind::Closed`] if the messenger has been dropped.
    pub fn upgrade(&self) -> Result<Messenger, Failure> {
        self.0.upgrade().map(|inner| Messenger { inner }).ok_or_else(ended)
    }
}

pub(crate) struct Inner {
    store: Arc<dyn Store>,
    pub(crate) audience: Audience,
    pub(crate) limited: Limited,
    pub(crate) cache: Cache,
    pub(crate) entrance: Entrance,
    pub(crate) joins: Arc<JoinsAtOnce>,
    pub(crate) erasures: DoubtedErasures,
    pub(crate) out: Outlets,
    pub(crate) nodes: Nodes,
    pub(crate) sightings: LastSeenQueue,
    asked: AtomicU64,
    unavailable: AtomicU64,
}

impl Messenger {
    /// Creates a messenger over a store.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        let inner = Inner {
            audience: Audience::new(),
            limited: Limited::new(settings.address_limits),
            cache: Cache::new(settings.cache_bytes_max, settings.secret.hashing()),
            entrance: Entrance::new(settings.secret, settings.outbound),
            joins: Arc::default(),
            erasures: DoubtedErasures::default(),
            out: Outlets::default(),
            nodes: Nodes::new(store.epoch()),
            store,
            sightings: LastSeenQueue::default(),
            asked: AtomicU64::new(0),
            unavailable: AtomicU64::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns a weak reference.
    pub fn downgrade(&self) -> WeakMessenger {
        WeakMessenger(Arc::downgrade(&self.inner))
    }

    /// Sets the outlet for news. Channels need the messenger before there is a gateway; until then news goes nowhere.
    pub fn tell_through(&self, outlet: impl Outlet) {
        self.inner.out.open(outlet);
    }

    /// Submits a verb to the store at once. Verbs run in the order in which they were submitted, whether or not their
    /// answers are awaited. When the result is durable, everybody whom it concerns is notified; then the answer
    /// resolves.
    ///
    /// Never blocks and needs no runtime, so a shard may call it. The answer must be awaited elsewhere.
    ///
    /// # Errors
    /// The answer resolves to a [`Failure`] as documented for the verb.
    pub fn perform<V: News>(&self, verb: V) -> Answer<V::Answer> {
        self.perform_then(verb, |_| {})
    }

    /// Like [`Messenger::perform`], for a message [taken](Messenger::spend_message) from the per-minute limit, which is
    /// given back if the verb is refused.
    ///
    /// # Errors
    /// As [`Messenger::perform`].
    pub fn perform_spending<V: News>(&self, verb: V, spent: MessagePermit) -> Answer<V::Answer> {
        self.perform_then(verb, move |outcome| spent.settle(outcome))
    }

    fn perform_then<V: News>(
        &self,
        verb: V,
        then: impl FnOnce(&Result<V::Answer, Failure>) + Send + 'static,
    ) -> Answer<V::Answer> {
        let (sender, receiver) = oneshot::channel();
        self.perform_calling(verb, move |outcome| {
            then(&outcome);
            // The caller may be gone; the verb has run all the same.
            let _ = sender.send(outcome);
        });
        Answer(receiver)
    }

    /// Like [`Messenger::perform`], but passes the outcome to a callback: on the store's thread, or on the calling
    /// thread if the store accepts no more requests. `done` must neither block nor panic.
    pub(crate) fn perform_calling<V: News>(
        &self,
        verb: V,
        done: impl FnOnce(Result<V::Answer, Failure>) + Send + 'static,
    ) {
        let (inner, kept) = (self.inner.clone(), verb.keep());
        self.inner.asked.fetch_add(1, Relaxed);
        self.inner.store.submit_verb(verb, move |outcome| {
            // Whoever asked is often one of those who are told, and has both in one write.
            let _together = Together::begin();
            match &outcome {
                Ok(answer) => V::tell(kept, answer, &mut inner.notices()),
                Err(Failure::Unavailable(trouble)) => {
                    inner.unavailable.fetch_add(1, Relaxed);
                    if trouble.kind.leaves_doubt() {
                        V::doubt(kept, &mut inner.notices());
                    }
                }
                Err(_) => {}
            }
            done(outcome);
        });
    }

    /// Like [`Messenger::perform`], for a command in a community.
    pub fn ask<C>(
        &self,
        community: &CommunityId,
        by: By,
        command: C,
    ) -> Answer<<chat::Asked<C> as Verb>::Answer>
    where
        chat::Asked<C>: News,
    {
        self.perform(self.call(community, by).ask(command))
    }

    /// Returns the store, so that a test can run a second messenger over it.
    #[cfg(test)]
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.inner.store.clone()
    }

    /// Creates a call with the current time and fresh entropy.
    pub fn call(&self, community: &CommunityId, by: By) -> Call {
        let mut entropy = [0; 16];
        // If the system had no random numbers, the gateway could not have opened a connection either.
        getrandom::fill(&mut entropy).expect("the system has random numbers");
        Call { community: community.clone(), by, now: now(), entropy: Entropy(entropy) }
    }

    /// Returns the epoch of the store's sequence numbers; see [`Store::epoch`].
    pub fn epoch(&self) -> &str {
        self.inner.store.epoch()
    }

    /// Returns the memory of the read cache, in bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.inner.cache.bytes().0
    }

    /// Returns the memory of the store's page caches, in bytes; see [`Store::page_bytes`].
    pub fn store_page_bytes(&self) -> u64 {
        self.inner.store.page_bytes()
    }

    /// Returns how many joins wait because many of their community are under way.
    pub fn joins_waiting(&self) -> u64 {
        self.inner.joins.waiting() as u64
    }

    /// Returns an estimate of the memory per connected person, in bytes: the number of sessions times the measured size
    /// of one.
    pub fn people_bytes(&self) -> u64 {
        self.inner.entrance.sessions() as u64 * SESSION_BYTES
    }

    /// Returns a community's current counters.
    pub fn counts_in(&self, community: &CommunityId) -> CommunityCounts {
        let [_, devices, rooms_open] = self.inner.audience.counts_in(community);
        CommunityCounts { people: self.inner.entrance.people_in(community), devices, rooms_open }
    }

    /// Returns the current counters.
    pub fn counts(&self) -> Counts {
        let inner = &self.inner;
        let [communities, people, devices, rooms_open] = inner.audience.counts();
        let (heard_total, missed_total) = inner.nodes.counts();
        let (cache_bytes, cache_bytes_max) = inner.cache.bytes();
        Counts {
            communities,
            people,
            devices,
            rooms_open,
            sessions: inner.entrance.sessions() as u64,
            joins_waiting: self.joins_waiting(),
            joins_refused_total: inner.joins.refused(),
            asked_total: inner.asked.load(Relaxed),
            unavailable_total: inner.unavailable.load(Relaxed),
            untold_total: inner.out.untold(),
            heard_total,
            missed_total,
            sightings_dropped_total: inner.sightings.dropped(),
            limited: inner.limited.counts().collect(),
            cache: inner.cache.counts().collect(),
            cache_bytes,
            cache_bytes_max,
        }
    }
}

impl Inner {
    pub(crate) fn notices(&self) -> NoticeBatch<'_> {
        NoticeBatch::new(self.here(), &self.nodes.sender)
    }

    pub(crate) fn here(&self) -> NoticeApplier<'_> {
        let Self { audience, cache, entrance, erasures, out, .. } = self;
        NoticeApplier { audience, cache, entrance, erasures, out }
    }
}

/// A pending answer of the store. Dropping it does not cancel the request.
pub struct Answer<T>(oneshot::Receiver<Result<T, Failure>>);

fn ended() -> Failure {
    StoreError::new(StoreErrorKind::Closed, "the store stopped before it answered").into()
}

impl<T> Answer<T> {
    /// Blocks until the answer is there. Must not be called on a thread of an async runtime or on a shard.
    ///
    /// # Errors
    /// As documented for the verb.
    pub fn wait(self) -> Result<T, Failure> {
        self.0.blocking_recv().unwrap_or_else(|_| Err(ended()))
    }
}

impl<T> Future for Answer<T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|answered| answered.unwrap_or_else(|_| Err(ended())))
    }
}
