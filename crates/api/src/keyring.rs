//! The keys of communities, needed by every request: read from the store, cached, and invalidated by the commit that
//! creates or revokes one on this node. On other nodes a change takes effect after [`FRESH_MS`].

use crate::purpose::{self, Purpose};
use crate::shapes::{Scope, WebhookEvent};
use chat::verbs::Keys;
use chat::{By, Call, CommunityId, Entropy, Failure, KeyId, Moment, StoreErrorKind};
use identity::{Community, ServerKey, SigningSecret, StoredKey, Target, UnixSeconds};
use messenger::WeakMessenger;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long cached keys are valid.
const FRESH_MS: u64 = 5_000;
/// Communities whose keys are cached. Beyond it all are dropped and read again.
const COMMUNITIES_MAX: usize = 10_000;
/// Pauses between retries of those that wait for keys.
const PAUSES_MS: [u64; 5] = [100, 200, 400, 800, 1_600];

/// A community's keys, ready for use.
pub(crate) struct Ring {
    servers: HashMap<String, StoredKey>,
    endpoints: Vec<Endpoint>,
    read_at: Moment,
}

/// A webhook endpoint of a community.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) id: KeyId,
    pub(crate) target: Target,
    pub(crate) events: Vec<WebhookEvent>,
    pub(crate) secret: SigningSecret,
}

impl Ring {
    /// Returns the stored key that matches, if it is valid now.
    pub(crate) fn server(&self, key: &ServerKey, now: UnixSeconds) -> Option<&StoredKey> {
        self.servers.get(key.prefix()).filter(|stored| stored.is(key, now))
    }

    /// Returns the number of server keys.
    pub(crate) fn servers_count(&self) -> usize {
        self.servers.len()
    }

    /// Returns the community's webhook endpoints.
    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }
}

/// See the module.
pub(crate) struct Keyring {
    messenger: WeakMessenger,
    rings: Mutex<Rings>,
}

#[derive(Default)]
struct Rings {
    by_community: HashMap<CommunityId, Arc<Ring>>,
    /// How often keys were invalidated: what was being read at that time is not cached.
    forgotten: u64,
}

impl Rings {
    fn fresh(&self, community: &CommunityId, now: Moment) -> Option<Arc<Ring>> {
        let ring = self.by_community.get(community)?;
        (now.since_ms(ring.read_at) < FRESH_MS).then(|| ring.clone())
    }

    fn keep(&mut self, community: &CommunityId, ring: Arc<Ring>) {
        if self.by_community.len() >= COMMUNITIES_MAX && !self.by_community.contains_key(community) {
            self.by_community.clear();
        }
        self.by_community.insert(community.clone(), ring);
    }
}

impl Keyring {
    pub(crate) fn new(messenger: WeakMessenger) -> Self {
        Self { messenger, rings: Mutex::default() }
    }

    /// Returns a community's keys. One that does not exist has none.
    ///
    /// # Errors
    /// The store is unavailable.
    pub(crate) async fn of(&self, community: &CommunityId, now: Moment) -> Result<Arc<Ring>, Failure> {
        let forgotten = {
            let rings = self.rings();
            if let Some(ring) = rings.fresh(community, now) {
                return Ok(ring);
            }
            rings.forgotten
        };
        // The verb creates no id, and the server asks on its own behalf.
        let call = Call { community: community.clone(), by: By::Service, now, entropy: Entropy([0; 16]) };
        let keys = self.messenger.upgrade()?.perform(call.ask(Keys)).await?;
        let ring = Arc::new(ring(community, keys, now));
        let mut rings = self.rings();
        if rings.forgotten == forgotten {
            rings.keep(community, ring.clone());
        }
        Ok(ring)
    }

    /// Returns a community's keys, if they are cached and fresh.
    pub(crate) fn at_hand(&self, community: &CommunityId, now: Moment) -> Option<Arc<Ring>> {
        self.rings().fresh(community, now)
    }

    /// Like [`of`](Self::of), for callers that cannot pass a retry on to a client: while the store is busy or away, it
    /// is retried a few times.
    ///
    /// # Errors
    /// The store is unavailable, after all of [`PAUSES_MS`].
    pub(crate) async fn of_in_time(
        &self,
        community: &CommunityId,
        now: Moment,
    ) -> Result<Arc<Ring>, Failure> {
        for pause_ms in PAUSES_MS {
            match self.of(community, now).await {
                Err(Failure::Unavailable(trouble)) if !is_lasting(trouble.kind) => {
                    tokio::time::sleep(Duration::from_millis(pause_ms)).await;
                }
                known => return known,
            }
        }
        self.of(community, now).await
    }

    /// Invalidates a community's keys after a change: later calls read them again.
    pub(crate) fn forget(&self, community: &CommunityId) {
        let mut rings = self.rings();
        rings.forgotten += 1;
        rings.by_community.remove(community);
    }

    fn rings(&self) -> MutexGuard<'_, Rings> {
        self.rings.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ring(community: &CommunityId, keys: Vec<chat::Key>, now: Moment) -> Ring {
    let name = Community::new(community.as_str());
    let mut ring = Ring { servers: HashMap::new(), endpoints: Vec::new(), read_at: now };
    for key in keys.into_iter().filter(|key| key.revoked.is_none()) {
        match Purpose::of(&key) {
            Some(Purpose::Server { prefix, scopes, not_after_s }) => {
                if let Some(stored) = stored(&name, &key, &prefix, &scopes, not_after_s) {
                    ring.servers.insert(prefix, stored);
                }
            }
            Some(Purpose::Webhook { url, events, secret }) => {
                ring.endpoints.extend(endpoint(key.id, &url, events, &secret));
            }
            // Keys that verify tokens, and the site to ask, are used by the messenger.
            Some(Purpose::Token(_) | Purpose::Jwks(_) | Purpose::Authorizer(_)) | None => {}
        }
    }
    ring
}

fn stored(
    community: &Community,
    key: &chat::Key,
    prefix: &str,
    scopes: &[Scope],
    not_after_s: Option<u64>,
) -> Option<StoredKey> {
    Some(StoredKey {
        prefix: prefix.to_owned(),
        hash: key.hash.as_slice().try_into().ok()?,
        community: Some(community.clone()),
        scopes: scopes.iter().map(|scope| scope.meant()).collect(),
        not_after: not_after_s.map(UnixSeconds),
    })
}

fn endpoint(id: KeyId, url: &str, events: Vec<WebhookEvent>, secret: &str) -> Option<Endpoint> {
    let (target, secret) = (purpose::target(url).ok()?, SigningSecret::parse(secret).ok()?);
    Some(Endpoint { id, target, events, secret })
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keyring").finish_non_exhaustive()
    }
}

/// Returns whether retrying is pointless.
fn is_lasting(kind: StoreErrorKind) -> bool {
    matches!(kind, StoreErrorKind::Corrupt | StoreErrorKind::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::rows::Rows;
    use chat::verbs::{CreateCommunity, CreateKey, RevokeKey};
    use chat::{MemoryStore, Request, Settings, Store, StoreError, Work};
    use messenger::Messenger;
    use std::future::poll_fn;
    use std::pin::pin;
    use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
    use std::task::Poll;

    /// A store whose answers can be delayed: they hold the state at the time of the request.
    #[derive(Default)]
    struct Late {
        inner: MemoryStore,
        /// The answers that are held back, if any.
        held: Arc<Mutex<Option<Vec<Answer>>>>,
    }

    type Answer = Box<dyn FnOnce() + Send>;

    impl Late {
        fn hold_back(&self) {
            *self.held.lock().expect("not poisoned") = Some(Vec::new());
        }

        fn answer_at_once(&self) -> Vec<Answer> {
            self.held.lock().expect("not poisoned").take().unwrap_or_default()
        }
    }

    impl Store for Late {
        fn epoch(&self) -> &str {
            self.inner.epoch()
        }

        fn submit(&self, request: Request) {
            self.inner.submit(match request {
                Request::Read(work) => Request::Read(Box::new(Holding { work, held: self.held.clone() })),
                other @ (Request::Append(_) | Request::Write(_)) => other,
            });
        }
    }

    struct Holding {
        work: Box<dyn Work>,
        held: Arc<Mutex<Option<Vec<Answer>>>>,
    }

    impl Work for Holding {
        fn community(&self) -> Option<&CommunityId> {
            self.work.community()
        }

        fn weight(&self) -> u32 {
            self.work.weight()
        }

        fn run(&mut self, rows: &mut dyn Rows) -> Result<(), StoreError> {
            self.work.run(rows)
        }

        fn settle(self: Box<Self>, outcome: Result<(), StoreError>) {
            let Self { work, held } = *self;
            let mut held = held.lock().expect("not poisoned");
            match held.as_mut() {
                Some(held) => held.push(Box::new(move || work.settle(outcome))),
                None => work.settle(outcome),
            }
        }
    }

    #[tokio::test]
    async fn a_key_that_is_revoked_while_keys_are_read_does_not_count_from_then_on() {
        let store = Arc::new(Late::default());
        let messenger = Messenger::new(store.clone(), messenger::Settings::default());
        let (acme, now) = (CommunityId::parse("acme").expect("an id"), Moment::from_millis(1_000));
        let settings = Settings::named("Acme");
        messenger.ask(&acme, By::Service, CreateCommunity { settings }).await.expect("a community");
        let purpose =
            Purpose::Server { prefix: "p".repeat(16), scopes: vec![Scope::List], not_after_s: None };
        let key = CreateKey { name: "key".to_owned(), purpose: purpose.to_json(), hash: vec![7; 32] };
        let key = messenger.ask(&acme, By::Service, key).await.expect("a key").id;
        let keyring = Keyring::new(messenger.downgrade());

        store.hold_back();
        let mut reading = pin!(keyring.of(&acme, now));
        assert!(poll_fn(|context| Poll::Ready(reading.as_mut().poll(context).is_pending())).await);
        let late = store.answer_at_once();
        messenger.ask(&acme, By::Service, RevokeKey { key }).await.expect("revoked");
        keyring.forget(&acme);
        late.into_iter().for_each(|answer| answer());

        assert_eq!(reading.await.expect("keys").servers_count(), 1, "it was asked before");
        assert_eq!(keyring.of(&acme, now).await.expect("keys").servers_count(), 0);
    }

    /// A store that refuses a number of requests.
    struct Failing {
        inner: MemoryStore,
        kind: StoreErrorKind,
        refusals: AtomicU8,
    }

    impl Store for Failing {
        fn epoch(&self) -> &str {
            self.inner.epoch()
        }

        fn submit(&self, request: Request) {
            match self.refusals.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
                Ok(_) => request.refuse(StoreError::new(self.kind, "planned")),
                Err(_) => self.inner.submit(request),
            }
        }
    }

    #[tokio::test]
    async fn who_waits_for_keys_has_them_when_the_store_comes_back_and_not_from_one_that_cannot_be_read() {
        for (kind, refusals, is_read) in
            [(StoreErrorKind::Busy, 2, true), (StoreErrorKind::Corrupt, 1, false)]
        {
            let store = Arc::new(Failing { inner: MemoryStore::default(), kind, refusals: AtomicU8::new(0) });
            let messenger = Messenger::new(store.clone(), messenger::Settings::default());
            let acme = CommunityId::parse("acme").expect("an id");
            let settings = Settings::named("Acme");
            messenger.ask(&acme, By::Service, CreateCommunity { settings }).await.expect("a community");
            let keyring = Keyring::new(messenger.downgrade());
            store.refusals.store(refusals, Relaxed);
            let read = keyring.of_in_time(&acme, Moment::from_millis(1_000)).await;
            assert_eq!(read.is_ok(), is_read, "{kind:?}");
        }
    }
}
