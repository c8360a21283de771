//! The queue of webhooks: in memory, with a copy in the store of what would be lost with it.
//!
//! Memory decides: it has the limits and the order. What it accepted is written to the store, which runs one
//! community's requests in order, so that a delivered webhook is never written after it was removed. A server that
//! starts reads what it had, and continues: a webhook that was being sent when it was killed is sent again. Deliveries
//! that the store could not record are recorded later.

use super::announcements::{About, Erased};
use crate::keyring;
use chat::verbs::{EndDelivery, GiveUp, KeepDelivery, NoteAttempt};
use chat::{By, CommunityId, Delivery, DeliveryId, Failure, KeyId, Moment, StoreErrorKind, Ulid};
use identity::{
    Community, Endpoint, EndpointId, Head, MemoryLimits, MemoryQueue, Message, MessageId, MessageSubject,
    Queue, QueueError, QueueFull, UnixMillis, Waiting, WhyDead,
};
use messenger::{News, WeakMessenger};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prefix of delivery ids, as sites get them.
const PREFIX: &str = "evt_";

/// Deliveries that the store has yet to record. Beyond it, an endpoint's queue pauses after each delivery, and the
/// server that starts next sends what was delivered then once more.
const UNENDED_MAX: usize = 10_000;

/// See the module.
pub(super) struct KeptQueue {
    memory: MemoryQueue,
    messenger: WeakMessenger,
    /// The name of this server among several over one store.
    holder: String,
    /// The queue in memory identifies endpoints by numbers of this process: hashes of community and id.
    numbers: RandomState,
    places: Mutex<HashMap<EndpointId, Place>>,
    /// What was delivered while the store could not record it.
    unended: Mutex<HashSet<(EndpointId, DeliveryId)>>,
    unkept: AtomicU64,
}

/// An endpoint's key in the store.
#[derive(Clone)]
struct Place {
    community: CommunityId,
    key: KeyId,
}

impl KeptQueue {
    pub(super) fn new(messenger: WeakMessenger, holder: String, limits: MemoryLimits) -> Self {
        // Dead letters are read from the store.
        let memory = MemoryQueue::new(MemoryLimits { dead_per_endpoint_max: 0, ..limits });
        let (numbers, places, unended) = (RandomState::new(), Mutex::default(), Mutex::default());
        Self { memory, messenger, holder, numbers, places, unended, unkept: AtomicU64::new(0) }
    }

    /// Returns an endpoint's number. Ids are unique within a community only: what was exported may be imported into
    /// another one.
    pub(super) fn number(&self, of: &CommunityId, endpoint: KeyId) -> EndpointId {
        EndpointId(self.numbers.hash_one((of, endpoint)))
    }

    /// Returns the name of this server.
    pub(super) fn holder(&self) -> &str {
        &self.holder
    }

    /// Returns how often the store did not accept a change of a delivery.
    pub(super) fn unkept(&self) -> u64 {
        self.unkept.load(Ordering::Relaxed)
    }

    /// Adds an endpoint.
    pub(super) fn configure(&self, of: &CommunityId, endpoint: &keyring::Endpoint) {
        let id = self.number(of, endpoint.id);
        self.places().insert(id, Place { community: of.clone(), key: endpoint.id });
        let (target, secrets) = (endpoint.target.clone(), endpoint.secret.clone().into());
        self.memory.configure(Endpoint { id, community: Community::new(of.as_str()), target, secrets });
    }

    /// Removes a revoked endpoint. The store dropped its deliveries with the revocation.
    pub(super) fn remove(&self, endpoint: EndpointId) {
        self.places().remove(&endpoint);
        self.memory.remove(endpoint);
    }

    /// Drops pending webhooks about an erased person or conversation. The store drops its copies with the erasure.
    pub(super) fn forget(&self, of: &CommunityId, erased: &Erased<'_>) {
        let community = Community::new(of.as_str());
        match erased {
            Erased::Person(person) => self.memory.forget(&community, MessageSubject::Person(person.as_str())),
            Erased::Conversation(id) => {
                self.memory.forget(&community, MessageSubject::Conversation(&id.to_string()));
            }
        }
    }

    /// Appends a webhook to an endpoint's queue, and returns what the store has to keep.
    ///
    /// # Errors
    /// The queue is full.
    pub(super) fn push(
        &self,
        (of, endpoint): (&CommunityId, KeyId),
        id: DeliveryId,
        (About { person, conversation }, body): (About, String),
        at: Moment,
    ) -> Result<Delivery, QueueFull> {
        let (holder, queued) = (self.holder.clone(), at);
        let delivery = Delivery {
            endpoint,
            id,
            person,
            conversation,
            holder,
            body,
            queued,
            attempts: 0,
            given_up: None,
        };
        self.put_back(of, &delivery)?;
        Ok(delivery)
    }

    /// Puts a webhook that is already in the store into an endpoint's queue.
    ///
    /// # Errors
    /// The queue is full.
    pub(super) fn put_back(&self, of: &CommunityId, delivery: &Delivery) -> Result<(), QueueFull> {
        let message = Message {
            id: MessageId(format!("{PREFIX}{}", delivery.id)),
            person: delivery.person.to_string(),
            conversation: delivery.conversation.map(|conversation| conversation.to_string()),
            body: delivery.body.clone().into(),
            queued: UnixMillis(delivery.queued.millis()),
            attempts: delivery.attempts,
        };
        self.memory.push(self.number(of, delivery.endpoint), message)
    }

    /// Has the store keep a delivery: submitted at once, the outcome comes with the answer.
    pub(super) fn keep(
        &self,
        of: &CommunityId,
        delivery: Delivery,
    ) -> impl Future<Output = Result<(), Failure>> + Send + use<> {
        let messenger = self.messenger.upgrade();
        let asked = messenger.map(|messenger| messenger.ask(of, By::Service, KeepDelivery { delivery }));
        async move { asked?.await }
    }

    /// Counts a delivery that the store did not keep: it is sent all the same, unless this server ends before.
    pub(super) fn was_not_kept(&self, of: &CommunityId, endpoint: KeyId, failure: &Failure) {
        self.unkept.fetch_add(1, Ordering::Relaxed);
        tracing::warn!(community = %of, %endpoint, %failure, "a waiting webhook could not be stored; it would not \
             survive a restart");
    }

    /// Retries to record deliveries that the store could not record. Returns whether none is left. It can be cancelled
    /// at any time, because recording one twice has no effect.
    pub(super) async fn end_again(&self) -> bool {
        let left: Vec<_> = self.unended().iter().copied().collect();
        for (endpoint, id) in left {
            match self.end(endpoint, id).await {
                // There may be room in the store's queues of other communities.
                Err(failure) if is_of(&failure, StoreErrorKind::Busy) => {}
                Err(Failure::Unavailable(_)) => return false,
                // A refusal means that the community no longer exists.
                Ok(()) | Err(_) => drop(self.unended().remove(&(endpoint, id))),
            }
        }
        self.unended().is_empty()
    }

    async fn end(&self, endpoint: EndpointId, id: DeliveryId) -> Result<(), Failure> {
        self.ask(endpoint, |key| EndDelivery { endpoint: key, id }).await.map(drop)
    }

    /// Sends the store a command, unless the endpoint was removed meanwhile.
    async fn ask<C>(
        &self,
        endpoint: EndpointId,
        command: impl FnOnce(KeyId) -> C,
    ) -> Result<Option<<chat::Asked<C> as chat::Verb>::Answer>, Failure>
    where
        chat::Asked<C>: News,
    {
        let place = self.places().get(&endpoint).cloned();
        let Some(Place { community, key }) = place else { return Ok(None) };
        let asked = self.messenger.upgrade()?.ask(&community, By::Service, command(key));
        asked.await.map(Some)
    }

    fn unended(&self) -> MutexGuard<'_, HashSet<(EndpointId, DeliveryId)>> {
        self.unended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<EndpointId, Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue for KeptQueue {
    async fn waiting(&self) -> Result<Vec<Waiting>, QueueError> {
        self.memory.waiting().await
    }

    async fn head(&self, endpoint: EndpointId) -> Result<Option<Head>, QueueError> {
        self.memory.head(endpoint).await
    }

    /// Once a delivery is recorded, a server that starts does not send it again; it does if this server was killed
    /// before the store could record it.
    async fn delivered(&self, endpoint: EndpointId, message: &MessageId) -> Result<(), QueueError> {
        self.memory.delivered(endpoint, message).await?;
        let id = delivery_id(message)?;
        let Err(failure) = self.end(endpoint, id).await else { return Ok(()) };
        let mut unended = self.unended();
        if unended.len() >= UNENDED_MAX {
            self.unkept.fetch_add(1, Ordering::Relaxed);
            return Err(unkept(&failure));
        }
        unended.insert((endpoint, id));
        if let Some(Place { community, key }) = self.places().get(&endpoint) {
            tracing::warn!(%community, endpoint = %key, %failure, "the delivery of a webhook could not be recorded in the \
                 store; retrying");
        }
        Ok(())
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        attempts: u32,
        failures: u32,
        not_before: UnixMillis,
    ) -> Result<(), QueueError> {
        self.memory.failed(endpoint, message, attempts, failures, not_before).await?;
        let id = delivery_id(message)?;
        let noted = self.ask(endpoint, |key| NoteAttempt { endpoint: key, id, attempts }).await;
        if let Err(failure) = noted {
            self.unkept.fetch_add(1, Ordering::Relaxed);
            if let Some(Place { community, key }) = self.places().get(&endpoint) {
                tracing::warn!(%community, endpoint = %key, %failure, "a failed attempt to deliver a webhook could not be \
                     recorded in the store; a server that starts may try more often than intended");
            }
        }
        Ok(())
    }

    async fn dead(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        why: WhyDead,
        at: UnixMillis,
    ) -> Result<(), QueueError> {
        let (all, words) = (why == WhyDead::Gone, why.to_string());
        self.memory.dead(endpoint, message, why, at).await?;
        let id = if all { None } else { Some(delivery_id(message)?) };
        loop {
            let given_up = self.ask(endpoint, |key| GiveUp { endpoint: key, id, why: words.clone() }).await;
            let more = given_up.map_err(|failure| unkept(&failure))?;
            if more != Some(true) {
                return Ok(());
            }
        }
    }
}

fn is_of(failure: &Failure, kind: StoreErrorKind) -> bool {
    matches!(failure, Failure::Unavailable(trouble) if trouble.kind == kind)
}

fn unkept(failure: &Failure) -> QueueError {
    QueueError(format!("its outcome could not be recorded in the store: {failure}"))
}

fn delivery_id(message: &MessageId) -> Result<DeliveryId, QueueError> {
    let id = message.0.strip_prefix(PREFIX).and_then(|id| DeliveryId::parse(id).ok());
    id.ok_or_else(|| QueueError(format!("`{}` is not an id of this server", message.0)))
}

/// Returns a dead letter's id, as sites got it.
pub(crate) fn told_id(id: DeliveryId) -> String {
    format!("{PREFIX}{id}")
}

/// Allocates delivery ids, each greater than those before: events of one millisecond keep their order, and clocks are
/// sometimes set back.
#[derive(Default)]
pub(super) struct Ids {
    last: Option<Ulid>,
    /// Ids that were put back, until restoring is over. Without their communities: unlike other ids, these are never
    /// imported, so no two are equal.
    restored: HashSet<DeliveryId>,
}

impl Ids {
    /// Returns the next id, based on one drawn at that moment.
    pub(super) fn next(&mut self, drawn: Ulid) -> DeliveryId {
        let id = self.last.map_or(drawn, |last| drawn.max(last.next()));
        self.last = Some(id);
        self.restored = HashSet::new();
        DeliveryId(id)
    }

    /// Records an id that is put back. Returns whether it was not yet: reading may start again after a failure.
    pub(super) fn restore(&mut self, id: DeliveryId) -> bool {
        self.last = self.last.max(Some(id.0));
        self.restored.insert(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::Entropy;

    #[test]
    fn each_id_is_greater_than_those_before_whatever_the_clock_says() {
        let drawn = |ms, random| Ulid::new(Moment::from_millis(ms), Entropy([random; 16]), 0);
        let mut ids = Ids::default();
        let before = DeliveryId(drawn(5, 1));
        assert_eq!([ids.restore(before), ids.restore(before)], [true, false]);
        let given = [(7, 9), (7, 3), (6, 200), (8, 0)].map(|(ms, random)| ids.next(drawn(ms, random)));
        assert!(given.is_sorted_by(|one, next| one < next), "{given:?}");
        assert_eq!((given[0].0, given[3].0), (drawn(7, 9), drawn(8, 0)));
    }

    #[test]
    fn an_id_is_read_as_it_was_told() {
        let id = DeliveryId(Ulid::from_bytes([7; 16]));
        assert_eq!(delivery_id(&MessageId(told_id(id))), Ok(id));
        assert!(delivery_id(&MessageId("evt_nothing".into())).is_err());
    }
}
