//! An API over a store in memory, called without a socket.
#![allow(dead_code, reason = "each test uses a part")]

use api::{Api, Live, PageLetIn, Parts, Rate, Remote, ServerStats, TopicBusy};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use axum::{Extension, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chat::verbs::{Export, Import};
use chat::{Ask as _, By, Call, CommunityId, Entropy, MemoryStore, Moment, Store, rows::Record};
use identity::{AddressPolicy, DeliverySettings, MemoryLimits, Outbound, Retries};
use messenger::{Messenger, Settings};
use ring::hmac;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tower_service::Service as _;

/// The secret with which the tests' host sites sign.
pub(crate) const SITE_SECRET: &str = "a secret that only site and server know";
/// An absent body.
pub(crate) const NOTHING: Option<Value> = None;

/// A server for tests.
pub(crate) struct House {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) api: Api,
    pub(crate) messenger: Messenger,
    public: Router,
    operators: Router,
    pub(crate) live: Arc<FakeLive>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    /// Returns the body as JSON; null if it is not JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or(Value::Null)
    }

    /// Returns the body as JSON, after checking that the request succeeded.
    pub(crate) fn ok(self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text);
        self.json()
    }

    /// Returns the code of a problem.
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["status"], self.status.as_u16(), "{problem}");
        problem["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl House {
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(MemoryStore::default()), Rate { burst: 100_000, per_minute: 60_000 })
    }

    pub(crate) fn with(store: Arc<dyn Store>, rate: Rate) -> Self {
        Self::with_rates(store, rate, rate)
    }

    /// Creates a server with the rate limits of a caller, and of all people at an address.
    pub(crate) fn with_rates(store: Arc<dyn Store>, rate: Rate, rate_of_addresses: Rate) -> Self {
        let live = Arc::new(FakeLive::default());
        let settings = Settings { outbound: Some(outbound()), ..Settings::default() };
        let messenger = Messenger::new(store.clone(), settings);
        let api = Api::new(Parts {
            messenger: messenger.clone(),
            live: live.clone(),
            outbound: outbound(),
            rate,
            // So slow that an address regains nothing during a test, however slow the machine is.
            rate_of_strangers: Rate { burst: 3, per_minute: 1 },
            rate_of_addresses,
            deliveries: DeliverySettings { retries: impatient(), ..DeliverySettings::default() },
            webhook_limits: MemoryLimits::default(),
            node: "house".to_owned(),
        });
        Self { public: api.public(), operators: api.operators(), store, api, messenger, live }
    }

    /// Sends a request to the public address.
    pub(crate) async fn ask(&self, method: &str, path: &str, bearer: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| body.to_string());
        self.ask_with(method, path, &[("authorization", &format!("Bearer {bearer}"))], body).await
    }

    /// Sends a request with any headers and any body.
    pub(crate) async fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Answer {
        send(self.public.clone(), method, path, headers, body).await
    }

    /// Sends a request from an address.
    pub(crate) async fn ask_from(
        &self,
        address: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Answer {
        let remote = Remote(address.parse().expect("an address"));
        send(self.public.clone().layer(Extension(remote)), method, path, headers, body).await
    }

    /// Sends a request as from a page; `is_let_in` is the verdict of the server's own rule.
    pub(crate) async fn ask_of_page(
        &self,
        is_let_in: bool,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Answer {
        send(self.public.clone().layer(Extension(PageLetIn(is_let_in))), method, path, headers, None).await
    }

    /// Sends a request as the operator.
    pub(crate) async fn operate(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        send(self.operators.clone(), method, path, &[], body.map(|body| body.to_string())).await
    }

    /// Sends a request as the operator, with headers.
    pub(crate) async fn operate_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Answer {
        send(self.operators.clone(), method, path, headers, body).await
    }

    /// Creates a community whose site signs tokens with [`SITE_SECRET`].
    pub(crate) async fn community(&self, id: &str) {
        let settings = json!({ "name": id, "people_make_rooms": true, "people_find_each_other": true });
        self.operate("POST", "/api/v1/communities", Some(json!({ "id": id, "settings": settings })))
            .await
            .ok();
        let purpose = json!({ "kind": "token", "algorithm": "HS256", "material": SITE_SECRET });
        let path = format!("/api/v1/communities/{id}/keys");
        self.operate("POST", &path, Some(json!({ "name": "site", "purpose": purpose }))).await.ok();
    }

    /// Creates a server key.
    pub(crate) async fn key(&self, community: &str, scopes: &[&str]) -> String {
        let purpose = json!({ "kind": "server", "scopes": scopes });
        let path = format!("/api/v1/communities/{community}/keys");
        let made =
            self.operate("POST", &path, Some(json!({ "name": "test", "purpose": purpose }))).await.ok();
        made["key"].as_str().expect("the key is told once").to_owned()
    }

    /// Creates a public room.
    pub(crate) async fn room(&self, community: &str, name: &str) -> Value {
        let room = json!({ "name": name, "kind": "public", "title": name });
        self.operate("POST", &format!("/api/v1/communities/{community}/rooms"), Some(room)).await.ok()
    }

    /// Returns everything that is stored of a community.
    pub(crate) fn export(&self, community: &str) -> Vec<Record> {
        let (mut records, mut after) = (Vec::new(), None);
        loop {
            let part =
                self.store.ask(call(community).ask(Export { person: None, after })).expect("it is read");
            records.extend(part.records);
            after = part.next;
            if after.is_none() {
                return records;
            }
        }
    }

    /// Imports records into a community.
    pub(crate) fn import(&self, community: &str, records: Vec<Record>) {
        for records in records.chunks(chat::limits::PAGE_MAX) {
            let import = Import { records: records.to_vec() };
            self.store.ask(call(community).ask(import)).expect("it is written");
        }
    }
}

async fn send(
    mut router: Router,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<String>,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if body.is_some() && !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(body.map_or_else(Body::empty, Body::from)).expect("a request");
    let response = router.call(request).await.expect("a router answers");
    let (head, body) = response.into_parts();
    let bytes = to_bytes(body, 64 << 20).await.expect("a body");
    Answer { status: head.status, headers: head.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}

/// A token signed by the host site.
pub(crate) fn token(community: &str, person: &str) -> String {
    token_with(community, person, &json!({}))
}

/// A token with further claims.
pub(crate) fn token_with(community: &str, person: &str, more: &Value) -> String {
    let mut claims = json!({ "sub": person, "aud": community, "exp": seconds() + 3_600, "name": person });
    for (name, value) in more.as_object().expect("claims") {
        claims[name] = value.clone();
    }
    let part = |json: &Value| URL_SAFE_NO_PAD.encode(json.to_string());
    let signed = format!("{}.{}", part(&json!({ "alg": "HS256", "typ": "JWT" })), part(&claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, SITE_SECRET.as_bytes());
    let signature = URL_SAFE_NO_PAD.encode(hmac::sign(&key, signed.as_bytes()));
    format!("{signed}.{signature}")
}

pub(crate) fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later than 1970").as_secs()
}

fn call(community: &str) -> Call {
    Call {
        community: CommunityId::parse(community).expect("a community"),
        by: By::Service,
        now: Moment::from_millis(seconds() * 1_000),
        entropy: Entropy([7; 16]),
    }
}

/// May connect to this machine, too, and trusts no certificate authority.
fn outbound() -> Outbound {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Outbound::new(Arc::new(tls), AddressPolicy::public_and(vec!["127.0.0.0/8".parse().expect("a network")]))
}

fn impatient() -> Retries {
    Retries {
        first: Duration::from_millis(1),
        longest: Duration::from_millis(5),
        attempts_max: 3,
        ..Retries::default()
    }
}

/// Records what was published.
#[derive(Default)]
pub(crate) struct FakeLive {
    pub(crate) published: Mutex<Vec<(String, String, String)>>,
    pub(crate) is_full: Mutex<bool>,
}

impl Live for FakeLive {
    fn publish(&self, topic: &str, event: &str, payload: &RawValue) -> Result<(), TopicBusy> {
        if *self.is_full.lock().expect("not poisoned") {
            return Err(TopicBusy);
        }
        let publication = (topic.to_owned(), event.to_owned(), payload.get().to_owned());
        self.published.lock().expect("not poisoned").push(publication);
        Ok(())
    }

    fn stats(&self) -> ServerStats {
        ServerStats { version: "test", ..ServerStats::default() }
    }
}
