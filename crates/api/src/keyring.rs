//! The keys of communities, as they are needed with every request: read from the store, kept for a while, forgotten when
//! one is made or revoked here. On other nodes a change counts after [`FRESH_MS`].

use crate::purpose::{self, Purpose};
use crate::shapes::{Scope, WebhookEvent};
use chat::verbs::Keys;
use chat::{By, Call, CommunityId, Entropy, Failure, KeyId, Moment};
use identity::{Community, ServerKey, SigningSecret, StoredKey, Target, UnixSeconds};
use messenger::Messenger;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How long what was read is believed.
const FRESH_MS: u64 = 5_000;
/// Communities whose keys are kept. Past it all are forgotten and read again.
const COMMUNITIES_MAX: usize = 10_000;

/// What a community's keys are, ready for use.
pub(crate) struct Ring {
    servers: HashMap<String, StoredKey>,
    endpoints: Vec<Endpoint>,
    read_at: Moment,
}

/// Where a community is told what happens.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) id: KeyId,
    pub(crate) target: Target,
    pub(crate) events: Vec<WebhookEvent>,
    pub(crate) secret: SigningSecret,
}

impl Ring {
    /// The key of the community that this is, if it counts now.
    pub(crate) fn server(&self, key: &ServerKey, now: UnixSeconds) -> Option<&StoredKey> {
        self.servers.get(key.prefix()).filter(|stored| stored.is(key, now))
    }

    /// How many server keys there are.
    pub(crate) fn servers_count(&self) -> usize {
        self.servers.len()
    }

    /// Where the community is told what happens.
    pub(crate) fn endpoints(&self) -> &[Endpoint] {
        &self.endpoints
    }
}

/// See the module.
pub(crate) struct Keyring {
    messenger: Messenger,
    rings: Mutex<HashMap<CommunityId, Arc<Ring>>>,
}

impl Keyring {
    pub(crate) fn new(messenger: Messenger) -> Self {
        Self { messenger, rings: Mutex::default() }
    }

    /// A community's keys. One that does not exist has none.
    ///
    /// # Errors
    /// The store could not be asked.
    pub(crate) async fn of(&self, community: &CommunityId, now: Moment) -> Result<Arc<Ring>, Failure> {
        let known = self.rings().get(community).cloned();
        if let Some(ring) = known.as_ref().filter(|ring| now.since_ms(ring.read_at) < FRESH_MS) {
            return Ok(ring.clone());
        }
        // Neither does the verb make an id, nor is it anybody's but the server's own question.
        let call = Call { community: community.clone(), by: By::Service, now, entropy: Entropy([0; 16]) };
        let keys = self.messenger.perform(call.ask(Keys)).await?;
        let ring = Arc::new(ring(community, keys, now));
        let mut rings = self.rings();
        if rings.len() >= COMMUNITIES_MAX && !rings.contains_key(community) {
            rings.clear();
        }
        rings.insert(community.clone(), ring.clone());
        Ok(ring)
    }

    /// A community's keys were changed.
    pub(crate) fn forget(&self, community: &CommunityId) {
        self.rings().remove(community);
    }

    fn rings(&self) -> MutexGuard<'_, HashMap<CommunityId, Arc<Ring>>> {
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
            // What tokens are believed by, and who is asked, is the messenger's.
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
