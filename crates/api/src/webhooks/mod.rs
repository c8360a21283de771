//! Telling host sites what happens: which verb's answer is news for them ([`announcements`]), and the way out.
//!
//! What waits is kept in memory: it is bounded, and lost when the process ends. A site that must miss nothing asks for what
//! happened since, by places and revisions, when it starts.

mod announcements;

pub(crate) use announcements::{Announce, Announcement, AnswerTo};

use crate::keyring::{self, Ring};
use bytes::Bytes;
use chat::{Call, KeyId, Ulid};
use identity::{
    Community, DeadLetter, Deliveries, DeliveryCounts, DeliverySettings, Endpoint, EndpointId, MemoryLimits,
    MemoryQueue, Message, MessageId, Outbound, UnixMillis,
};
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Apart from the ids that verbs make of the same call.
const ANNOUNCEMENT_NTH: u32 = 1 << 16;

/// See the module.
pub(crate) struct Webhooks {
    deliveries: Arc<Deliveries<MemoryQueue>>,
    /// An endpoint is made known once, since it never changes: again would revive one that said that it is gone.
    known: Mutex<HashSet<EndpointId>>,
    refused: AtomicU64,
}

impl Webhooks {
    pub(crate) fn new(outbound: Outbound, settings: DeliverySettings, limits: MemoryLimits) -> Self {
        let deliveries = Deliveries::new(MemoryQueue::new(limits), outbound, settings);
        Self { deliveries, known: Mutex::default(), refused: AtomicU64::new(0) }
    }

    /// Puts an announcement into the line of each endpoint that wants to be told of such.
    pub(crate) fn announce(&self, ring: &Ring, call: &Call, announcement: &Announcement) {
        let mut body = None;
        for endpoint in ring.endpoints().iter().filter(|one| one.events.contains(&announcement.event)) {
            let body = body.get_or_insert_with(|| write(call, announcement)).clone();
            self.push(endpoint, call, body);
        }
    }

    fn push(&self, endpoint: &keyring::Endpoint, call: &Call, body: Bytes) {
        let (id, community) = (endpoint_id(endpoint.id), Community::new(call.community.as_str()));
        if self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
            let (target, secrets) = (endpoint.target.clone(), vec![endpoint.secret.clone()]);
            self.deliveries.queue().configure(Endpoint { id, community: community.clone(), target, secrets });
        }
        let name = Ulid::new(call.now, call.entropy, ANNOUNCEMENT_NTH);
        let queued = UnixMillis(call.now.millis());
        let message = Message { id: MessageId(format!("evt_{name}")), body, queued, attempts: 0 };
        match self.deliveries.queue().push(id, message) {
            Ok(()) => self.deliveries.wake(id, &community),
            Err(error) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(community = %call.community, %error, "a webhook was not taken");
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

    /// Delivers until `stop`.
    pub(crate) async fn deliver(&self, stop: impl Future<Output = ()> + Send) {
        if let Err(error) = self.deliveries.clone().run(stop).await {
            tracing::error!(%error, "webhooks are not sent");
        }
    }
}

fn write(call: &Call, announcement: &Announcement) -> Bytes {
    let body = json!({
        "type": announcement.event,
        "community": call.community,
        "by": call.by.name(),
        "at": call.now,
        "data": announcement.data,
    });
    Bytes::from(body.to_string())
}

/// The queue knows endpoints by numbers: 64 of the id's 80 random bits.
fn endpoint_id(key: KeyId) -> EndpointId {
    let bytes = key.0.to_bytes();
    let (_, random) = bytes.split_at(8);
    EndpointId(random.iter().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
}
