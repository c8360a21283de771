//! Telling host sites what happens ([`announcements`]), whatever surface it came by.
//!
//! The messenger tells its witness on the store's thread, after the commit. There it is only looked whether the community
//! has endpoints at all; the rest happens where webhooks are sent. What waits is kept in memory: it is bounded, and lost
//! when the process ends. A site that must miss nothing asks for what happened since, by places and revisions.

mod announcements;

use crate::keyring::{self, Keyring};
use crate::shapes::WebhookEvent;
use bytes::Bytes;
use chat::{CommunityId, Entropy, KeyId, Moment, PersonId, Ulid};
use identity::{
    Community, DeadLetter, Deliveries, DeliveryCounts, DeliverySettings, Endpoint, EndpointId, MemoryLimits,
    MemoryQueue, Message, MessageId, Outbound, UnixMillis,
};
use messenger::{Happening, Witness};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;

/// What happened and was not looked at yet. Past it, it is not told, and counted.
const UNREAD_MAX: usize = 10_000;
/// How long a community is believed to have no endpoint, where another node may have made one.
const WITHOUT_MS: u64 = 5_000;
/// Communities that are known to have no endpoint. Past it all are looked up again.
const WITHOUT_MAX: usize = 100_000;

/// See the module.
pub(crate) struct Webhooks {
    deliveries: Arc<Deliveries<MemoryQueue>>,
    unread: mpsc::Sender<Happened>,
    /// Taken by who delivers.
    to_read: Mutex<Option<mpsc::Receiver<Happened>>>,
    without: RwLock<HashMap<CommunityId, Moment>>,
    /// An endpoint is made known once, since it never changes: again would revive one that said that it is gone.
    known: Mutex<HashSet<EndpointId>>,
    refused: AtomicU64,
}

/// Something that happened where there may be somebody to tell.
struct Happened {
    community: CommunityId,
    event: WebhookEvent,
    at: Moment,
    body: Bytes,
}

impl Witness for Webhooks {
    fn witness(&self, community: &CommunityId, by: &PersonId, happening: &Happening<'_>) {
        let at = now();
        if self.is_without(community, at) {
            return;
        }
        let event = announcements::event(happening);
        let data = announcements::data(happening);
        let body = json!({ "type": event, "community": community, "by": by, "at": at, "data": data });
        let body = Bytes::from(body.to_string());
        if self.unread.try_send(Happened { community: community.clone(), event, at, body }).is_err() {
            self.refused.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Webhooks {
    pub(crate) fn new(outbound: Outbound, settings: DeliverySettings, limits: MemoryLimits) -> Self {
        let (unread, to_read) = mpsc::channel(UNREAD_MAX);
        Self {
            deliveries: Deliveries::new(MemoryQueue::new(limits), outbound, settings),
            unread,
            to_read: Mutex::new(Some(to_read)),
            without: RwLock::default(),
            known: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// A community's endpoints were changed.
    pub(crate) fn look_again(&self, community: &CommunityId) {
        self.without.write().unwrap_or_else(PoisonError::into_inner).remove(community);
    }

    fn is_without(&self, community: &CommunityId, now: Moment) -> bool {
        let without = self.without.read().unwrap_or_else(PoisonError::into_inner);
        without.get(community).is_some_and(|until| now < *until)
    }

    /// Puts what happened into the line of each endpoint that wants to be told of such.
    async fn announce(&self, keyring: &Keyring, happened: Happened) {
        let ring = match keyring.of(&happened.community, happened.at).await {
            Ok(ring) => ring,
            Err(error) => {
                return tracing::warn!(%error, "nobody was told what happened, as the keys cannot be read");
            }
        };
        if ring.endpoints().is_empty() {
            let mut without = self.without.write().unwrap_or_else(PoisonError::into_inner);
            if without.len() >= WITHOUT_MAX {
                without.clear();
            }
            without.insert(happened.community, happened.at.after_ms(WITHOUT_MS));
            return;
        }
        for endpoint in ring.endpoints().iter().filter(|one| one.events.contains(&happened.event)) {
            self.push(endpoint, &happened);
        }
    }

    fn push(&self, endpoint: &keyring::Endpoint, happened: &Happened) {
        let (id, community) = (endpoint_id(endpoint.id), Community::new(happened.community.as_str()));
        if self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            let (target, secrets) = (endpoint.target.clone(), endpoint.secret.clone().into());
            self.deliveries.queue().configure(Endpoint { id, community: community.clone(), target, secrets });
        }
        let mut entropy = [0; 16];
        if getrandom::fill(&mut entropy).is_err() {
            // Without random numbers two messages might pass for one.
            self.refused.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let name = MessageId(format!("evt_{}", Ulid::new(happened.at, Entropy(entropy), 0)));
        let queued = UnixMillis(happened.at.millis());
        let message = Message { id: name, body: happened.body.clone(), queued, attempts: 0 };
        match self.deliveries.queue().push(id, message) {
            Ok(()) => self.deliveries.wake(id, &community),
            Err(error) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(community = %happened.community, %error, "a webhook was not taken");
            }
        }
    }

    /// What was given up of an endpoint.
    pub(crate) fn dead_letters(&self, endpoint: KeyId) -> Vec<DeadLetter> {
        self.deliveries.queue().dead_letters(endpoint_id(endpoint))
    }

    /// What became of all of them.
    pub(crate) fn counts(&self) -> DeliveryCounts {
        self.deliveries.counts()
    }

    /// Those that were not taken, because too many waited.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// Delivers until `stop`. To be called once.
    pub(crate) async fn deliver(&self, keyring: &Keyring, stop: impl Future<Output = ()> + Send) {
        let to_read = self.to_read.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut to_read) = to_read else {
            return tracing::error!("webhooks are delivered already");
        };
        let read = async {
            while let Some(happened) = to_read.recv().await {
                self.announce(keyring, happened).await;
            }
        };
        tokio::select! {
            ended = self.deliveries.clone().run(stop) => {
                if let Err(error) = ended {
                    tracing::error!(%error, "webhooks are not sent");
                }
            }
            () = read => {}
        }
    }
}

/// The queue knows endpoints by numbers: 64 of the id's 80 random bits.
fn endpoint_id(key: KeyId) -> EndpointId {
    let bytes = key.0.to_bytes();
    let (_, random) = bytes.split_at(8);
    EndpointId(random.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}

/// A clock before 1970 is one at 1970.
fn now() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
