//! The one place through which everything acts.

use crate::audience::Audience;
use crate::bulletin::Bulletin;
use crate::cache::Cache;
use crate::clock::now;
use crate::counters::{CommunityCounts, Counts};
use crate::entrance::{Entrance, InstallationSecret};
use crate::erasures::DoubtedErasures;
use crate::here::Here;
use crate::limited::{AddressLimits, Limited};
use crate::news::News;
use crate::nodes::Nodes;
use crate::outlet::{Outlet, WayOut};
use crate::sightings::Sightings;
use crate::spent::Spent;
use chat::{Ask, By, Call, CommunityId, Entropy, Failure, Store, Trouble, TroubleKind, Verb};
use identity::Outbound;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// What somebody takes who is connected, in their own topic and in a room: who they are, sessions, presence, what they follow, with
/// the tables' room. Measured. The states of their channels are among the hub's.
const SESSION_BYTES: u64 = 500;

/// What a messenger may use.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The read cache, in bytes.
    pub cache_bytes_max: u64,
    /// From which the keys of guests and of communities are derived. By default one that ends with the process.
    pub secret: InstallationSecret,
    /// The way to host sites; without one published keys are not fetched, and no site is asked.
    pub outbound: Option<Outbound>,
    /// What one address may do by channels.
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

/// The messenger: a store, who is here, and who is told. Copies are cheap and the same.
#[derive(Clone)]
pub struct Messenger {
    pub(crate) inner: Arc<Inner>,
}

/// A messenger that may have ended: for what the messenger itself holds, such as its witness.
#[derive(Clone)]
pub struct WeakMessenger(Weak<Inner>);

impl WeakMessenger {
    /// The messenger.
    ///
    /// # Errors
    /// It has ended.
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
    pub(crate) erasures: DoubtedErasures,
    pub(crate) out: WayOut,
    pub(crate) nodes: Nodes,
    pub(crate) sightings: Sightings,
    asked: AtomicU64,
    unavailable: AtomicU64,
}

impl Messenger {
    /// A messenger on that store.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        let inner = Inner {
            audience: Audience::new(),
            limited: Limited::new(settings.address_limits),
            cache: Cache::new(settings.cache_bytes_max, settings.secret.hashing()),
            entrance: Entrance::new(settings.secret, settings.outbound),
            erasures: DoubtedErasures::default(),
            out: WayOut::default(),
            nodes: Nodes::new(store.epoch()),
            store,
            sightings: Sightings::default(),
            asked: AtomicU64::new(0),
            unavailable: AtomicU64::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The same, without keeping it from ending.
    pub fn downgrade(&self) -> WeakMessenger {
        WeakMessenger(Arc::downgrade(&self.inner))
    }

    /// Says where news go. Channels need the messenger before there is a gateway: until then nobody is told.
    pub fn tell_through(&self, outlet: impl Outlet) {
        self.inner.out.open(outlet);
    }

    /// Asks something of the store, now: what is asked one after the other is done in that order, whether or not the
    /// answers are waited for. When it is durable those whom it concerns are told, then the answer is there.
    ///
    /// It never blocks, and needs no runtime; a shard may call it. The answer must be awaited elsewhere.
    ///
    /// # Errors
    /// The answer is [`Failure`] as the verb's documentation says.
    pub fn perform<V: News>(&self, verb: V) -> Answer<V::Answer> {
        self.perform_then(verb, |_| {})
    }

    /// The same for what was [taken](Messenger::spend_message) of a minute's messages: that is given back if it is refused.
    ///
    /// # Errors
    /// As [`Messenger::perform`].
    pub fn perform_spending<V: News>(&self, verb: V, spent: Spent) -> Answer<V::Answer> {
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
            // Whoever asked may be gone; what they asked is done.
            let _ = sender.send(outcome);
        });
        Answer(receiver)
    }

    /// As [`Messenger::perform`], for who is called with the answer: on the store's thread, or on this one if the store takes no
    /// more. `done` must neither block nor panic.
    pub(crate) fn perform_calling<V: News>(
        &self,
        verb: V,
        done: impl FnOnce(Result<V::Answer, Failure>) + Send + 'static,
    ) {
        let (inner, kept) = (self.inner.clone(), verb.keep());
        self.inner.asked.fetch_add(1, Relaxed);
        self.inner.store.submit_verb(verb, move |outcome| {
            match &outcome {
                Ok(answer) => V::tell(kept, answer, &mut inner.bulletin()),
                Err(Failure::Unavailable(trouble)) => {
                    inner.unavailable.fetch_add(1, Relaxed);
                    if trouble.kind.leaves_doubt() {
                        V::doubt(kept, &mut inner.bulletin());
                    }
                }
                Err(_) => {}
            }
            done(outcome);
        });
    }

    /// As [`Messenger::perform`], for a command in a community.
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

    /// The store, for another messenger on it.
    #[cfg(test)]
    pub(crate) fn store(&self) -> Arc<dyn Store> {
        self.inner.store.clone()
    }

    /// A call of this moment.
    pub fn call(&self, community: &CommunityId, by: By) -> Call {
        let mut entropy = [0; 16];
        // Without random numbers of the system there would be no connection, either: the gateway's sockets need them.
        getrandom::fill(&mut entropy).expect("the system has random numbers");
        Call { community: community.clone(), by, now: now(), entropy: Entropy(entropy) }
    }

    /// The epoch of the store's places; see [`Store::epoch`].
    pub fn epoch(&self) -> &str {
        self.inner.store.epoch()
    }

    /// Memory of the read cache, in bytes.
    pub fn cache_bytes(&self) -> u64 {
        self.inner.cache.bytes().0
    }

    /// Memory of what is kept of those who are here, in bytes: their number, times what one was measured to take.
    pub fn people_bytes(&self) -> u64 {
        self.inner.entrance.sessions() as u64 * SESSION_BYTES
    }

    /// The numbers of a community at this moment.
    pub fn counts_in(&self, community: &CommunityId) -> CommunityCounts {
        let [_, devices, rooms_open] = self.inner.audience.counts_in(community);
        CommunityCounts { people: self.inner.entrance.people_in(community), devices, rooms_open }
    }

    /// The numbers of this moment.
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
    pub(crate) fn bulletin(&self) -> Bulletin<'_> {
        Bulletin::new(self.here(), &self.nodes.voice)
    }

    pub(crate) fn here(&self) -> Here<'_> {
        let Self { audience, cache, entrance, erasures, out, .. } = self;
        Here { audience, cache, entrance, erasures, out }
    }
}

/// What a store will answer. Dropping it takes nothing back.
pub struct Answer<T>(oneshot::Receiver<Result<T, Failure>>);

fn ended() -> Failure {
    Trouble::new(TroubleKind::Closed, "the store ended before it answered").into()
}

impl<T> Answer<T> {
    /// Waits for it. Not on a thread of an async runtime, and not on a shard.
    ///
    /// # Errors
    /// As the verb's documentation says.
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
