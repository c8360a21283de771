//! A messenger for tests: over a store in memory, with communities that contain the same names, recording what is sent.

use crate::entrance::InstallationSecret;
use crate::messenger::{Messenger, Settings};
use crate::outlet::Outlet;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::verbs::{CreateCommunity, CreateKey, CreateRoom, Join, Meet};
use chat::{
    Ask as _, By, Call, CommunityId, Conversation, KeyId, MemoryStore, Moment, Person, PersonId, Profile,
    Request, RoomName, Rows, Store, StoreError, StoreErrorKind, Work,
};
use identity::Token;
use ring::hmac;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was sent: topic, event, payload.
#[derive(Clone, Default)]
pub(crate) struct RecordingOutlet(Arc<Mutex<Vec<(String, String, String)>>>);

impl RecordingOutlet {
    /// Takes everything recorded so far.
    pub(crate) fn take(&self) -> Vec<(String, String, String)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes everything recorded so far, as topics with events.
    pub(crate) fn events(&self) -> Vec<(String, String)> {
        self.take().into_iter().map(|(topic, event, _)| (topic, event)).collect()
    }
}

impl Outlet for RecordingOutlet {
    fn tell(&self, topic: &str, event: &str, payload: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        told.push((topic.to_owned(), event.to_owned(), payload.to_owned()));
        true
    }

    fn end_join(&self, socket_id: &str, topic: &str) {
        self.tell(topic, "end_join", socket_id);
    }

    fn close(&self, socket_id: &str, code: u16) {
        self.tell(socket_id, "close", &code.to_string());
    }
}

pub(crate) fn id(name: &str) -> CommunityId {
    CommunityId::parse(name).expect("an id")
}

pub(crate) fn somebody(name: &str) -> PersonId {
    PersonId::parse(name).expect("an id")
}

pub(crate) fn by(name: &str) -> By {
    By::Person(somebody(name))
}

/// One secret for all tests: it decides which people share a generation of the cache, and so how much is read.
fn settings() -> Settings {
    Settings { secret: InstallationSecret::new([7; 32]), ..Settings::default() }
}

/// A messenger, and what it sends.
pub(crate) fn messenger() -> (Messenger, RecordingOutlet) {
    let (messenger, told) =
        (Messenger::new(Arc::new(MemoryStore::default()), settings()), RecordingOutlet::default());
    messenger.tell_through(told.clone());
    (messenger, told)
}

/// A store whose answers the test controls.
#[derive(Default)]
pub(crate) struct Held {
    rows: MemoryStore,
    waiting: Mutex<Option<Vec<Request>>>,
    writes: AtomicUsize,
}

impl Held {
    /// Returns how many writing requests there were.
    pub(crate) fn writes(&self) -> usize {
        self.writes.load(Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Vec<Request>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds all requests from now on.
    pub(crate) fn hold(&self) {
        self.waiting().get_or_insert_default();
    }

    /// Returns how many requests are held.
    pub(crate) fn count(&self) -> usize {
        self.waiting().as_ref().map_or(0, Vec::len)
    }

    /// Answers everything held, and stops holding.
    pub(crate) fn commit(&self) {
        let waiting = self.waiting().take();
        waiting.into_iter().flatten().for_each(|request| self.rows.submit(request));
    }

    /// Runs what is held, but tells the requesters that it failed, as when a connection breaks at the commit.
    pub(crate) fn lose(&self) {
        let waiting = self.waiting().take();
        let trouble = || StoreError::new(StoreErrorKind::Away, "the connection broke");
        for request in waiting.into_iter().flatten() {
            match request {
                Request::Append(append) => {
                    self.rows.submit_verb(append.asked.clone(), drop);
                    append.settle(Err(trouble().into()));
                }
                Request::Write(work) => self.rows.submit(Request::Write(Box::new(Lost(work, trouble())))),
                Request::Read(_) => request.refuse(trouble()),
            }
        }
    }

    /// Drops what is held, with an unknown outcome, as when a connection breaks before the commit.
    pub(crate) fn cut(&self) {
        let waiting = self.waiting().take();
        let trouble = || StoreError::new(StoreErrorKind::Away, "the connection broke");
        waiting.into_iter().flatten().for_each(|request| request.refuse(trouble()));
    }

    /// Fails what is held with a known outcome, and keeps holding.
    pub(crate) fn fail(&self) {
        let waiting = self.waiting().replace(Vec::new());
        let trouble = || StoreError::new(StoreErrorKind::Full, "no space left");
        waiting.into_iter().flatten().for_each(|request| request.refuse(trouble()));
    }
}

/// Work that runs, and whose requester is told of this trouble.
struct Lost(Box<dyn Work>, StoreError);

impl Work for Lost {
    fn community(&self) -> Option<&CommunityId> {
        self.0.community()
    }

    fn weight(&self) -> u32 {
        self.0.weight()
    }

    fn run(&mut self, rows: &mut dyn Rows) -> Result<(), StoreError> {
        self.0.run(rows)
    }

    fn settle(self: Box<Self>, _: Result<(), StoreError>) {
        let Self(work, trouble) = *self;
        work.settle(Err(trouble));
    }
}

impl Store for Held {
    fn epoch(&self) -> &str {
        "held"
    }

    fn submit(&self, request: Request) {
        if !matches!(request, Request::Read(_)) {
            self.writes.fetch_add(1, Relaxed);
        }
        // Answering may submit further requests, so the lock must not be held.
        let mut waiting = self.waiting();
        match &mut *waiting {
            Some(waiting) => waiting.push(request),
            None => {
                drop(waiting);
                self.rows.submit(request);
            }
        }
    }
}

/// A messenger over such a store.
pub(crate) fn holding() -> (Messenger, Arc<Held>) {
    let held = Arc::new(Held::default());
    (Messenger::new(held.clone(), settings()), held)
}

/// A community with the public room `lobby`.
pub(crate) async fn community(messenger: &Messenger, name: &str) -> Conversation {
    let settings = chat::Settings::named(name);
    messenger.ask(&id(name), By::Service, CreateCommunity { settings }).await.expect("a community");
    let room = RoomName::parse("lobby").expect("a name");
    messenger.ask(&id(name), By::Service, CreateRoom::public(room, "Lobby")).await.expect("a room")
}

/// A person with an account in it, who is in the lobby.
pub(crate) async fn person(
    messenger: &Messenger,
    community: &str,
    name: &str,
    lobby: &Conversation,
) -> Person {
    let profile = Profile { name: name.to_owned(), avatar: None, guest: false, role: None };
    let person = messenger.ask(&id(community), by(name), Meet { profile }).await.expect("somebody");
    let join = Join { conversation: lobby.id, invitation: None };
    messenger.ask(&id(community), by(name), join).await.expect("a member");
    person
}

const SITE_SECRET: &str = "a secret of at least thirty-two bytes";

/// From now on the community accepts tokens that its host site signs.
pub(crate) async fn trust_site(messenger: &Messenger, community: &str) -> KeyId {
    trust(messenger, community, None, SITE_SECRET, 0).await
}

/// Like [`trust_site`], with another secret, whose key may have an id and was created at that millisecond: of two from
/// the same millisecond neither is newer.
pub(crate) async fn trust(
    messenger: &Messenger,
    community: &str,
    kid: Option<&str>,
    secret: &str,
    made_ms: u64,
) -> KeyId {
    let mut purpose = json!({"kind": "token", "algorithm": "HS256", "material": secret});
    if let Some(kid) = kid {
        purpose["kid"] = json!(kid);
    }
    let key = CreateKey { name: "site".to_owned(), purpose, hash: Vec::new() };
    let call = Call { now: Moment::from_millis(made_ms), ..messenger.call(&id(community), By::Service) };
    messenger.perform(call.ask(key)).await.expect("a key").id
}

/// A token signed by the host site.
pub(crate) fn token(claims: &Value) -> Token {
    signed(claims, &json!({"alg": "HS256", "typ": "JWT"}), SITE_SECRET)
}

/// A token signed with another secret.
pub(crate) fn signed(claims: &Value, header: &Value, secret: &str) -> Token {
    let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let signed = format!("{}.{}", encode(header), encode(claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
    Token::new(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag.as_ref())))
}

/// A person's claims, valid for ten minutes.
pub(crate) fn claims(community: &str, person: &str) -> Value {
    let now = crate::clock::now().millis() / 1_000;
    json!({"sub": person, "aud": community, "exp": now + 600, "iat": now, "name": "Ann"})
}

pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}
