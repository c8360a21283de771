//! Every problem code is provoked.

use crate::house::{Answer, House, NOTHING, seconds, token, token_with};
use crate::{LOBBY, furnished, send};
use api::{Api, Rate};
use chat::{MemoryStore, Request, Store, StoreError, StoreErrorKind};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A store that can fail.
struct Fragile {
    inner: MemoryStore,
    trouble: AtomicU8,
}

impl Store for Fragile {
    fn epoch(&self) -> &str {
        self.inner.epoch()
    }

    fn submit(&self, request: Request) {
        match self.trouble.load(Ordering::Relaxed) {
            0 => self.inner.submit(request),
            1 => request.refuse(StoreError::new(StoreErrorKind::Busy, "detail")),
            2 => request.refuse(StoreError::new(StoreErrorKind::Away, "detail")),
            _ => request.refuse(StoreError::new(StoreErrorKind::Corrupt, "detail")),
        }
    }
}

/// Codes that need a host site: one that publishes keys and is away (a test of the crate `identity`), and one that is
/// asked (`tests/authorizer.rs`).
const BY_SITES: [&str; 3] = ["token_unverifiable", "refused_by_site", "site_unavailable"];
/// Codes of idempotency keys (`tests/idempotency.rs`).
const BY_KEYS: [&str; 3] = ["under_way", "answer_gone", "idempotency_key_reused"];
/// The code of a body that takes too long (a test of `input.rs`, with a short deadline).
const BY_TIME: &str = "body_overdue";

#[tokio::test]
async fn every_code_of_a_problem_is_brought_about_here() {
    let mut seen = BTreeSet::new();
    requests_that_are_refused(&mut seen).await;
    rules_that_refuse(&mut seen).await;
    a_store_in_trouble(&mut seen).await;
    let documented = Api::document()["x-problem-codes"].as_array().expect("codes").clone();
    for row in documented {
        let code = row["code"].as_str().expect("a code");
        let is_elsewhere = BY_SITES.contains(&code) || BY_KEYS.contains(&code) || code == BY_TIME;
        assert!(is_elsewhere || seen.contains(code), "no request here is answered with `{code}`");
    }
}

async fn requests_that_are_refused(seen: &mut BTreeSet<String>) {
    let (house, key) = furnished().await;
    let messages = format!("{LOBBY}/messages");
    let bearer = format!("Bearer {key}");
    let auth = ("authorization", bearer.as_str());
    let mut expect = |answer: Answer, status: u16, code: &str| {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{}", answer.text);
        seen.insert(code.to_owned());
    };
    expect(house.ask_with("POST", &messages, &[auth], Some("{".into())).await, 400, "malformed");
    expect(house.ask_with("GET", &messages, &[], None).await, 401, "credentials_missing");
    expect(house.ask("GET", &messages, "thr_x", NOTHING).await, 401, "key_invalid");
    expect(house.ask("GET", &messages, "e30.e30.x", NOTHING).await, 401, "token_invalid");
    let old = token_with("acme", "ann", &json!({ "exp": seconds() - 3_600 }));
    expect(house.ask("GET", &messages, &old, NOTHING).await, 401, "token_expired");
    let revocations = "/api/v1/communities/acme/people/ann/revocations";
    house.ask("POST", revocations, &key, Some(json!({ "token_id": "stolen" }))).await.ok();
    let stolen = token_with("acme", "ann", &json!({ "jti": "stolen" }));
    expect(house.ask("GET", &messages, &stolen, NOTHING).await, 401, "token_revoked");
    let shown = format!("Bearer {}", token("acme", "ann"));
    let foreign = [("authorization", shown.as_str()), ("origin", "https://elsewhere.example")];
    expect(house.ask_with("GET", &messages, &foreign, None).await, 403, "origin_refused");
    let weak = house.key("acme", &["presence"]).await;
    expect(house.ask("GET", &messages, &weak, NOTHING).await, 403, "scope_missing");
    expect(house.ask("GET", "/api/v1/communities", &key, NOTHING).await, 403, "caller_refused");
    expect(house.ask("GET", "/api/v1/nothing", &key, NOTHING).await, 404, "not_found");
    let posted = house.ask("POST", "/api/v1/communities/acme/search", &key, Some(json!({}))).await;
    assert_eq!(posted.headers["allow"], "GET");
    expect(posted, 405, "method_not_allowed");
    let long = json!({ "text": "x".repeat(100_000) }).to_string();
    expect(house.ask_with("POST", &messages, &[auth], Some(long)).await, 413, "too_large");
    let text = [auth, ("content-type", "text/plain")];
    expect(house.ask_with("POST", &messages, &text, Some("{}".into())).await, 415, "media_type");
    let unknown = house.ask("POST", &messages, &key, Some(json!({ "text": "a", "colour": "red" }))).await;
    assert_eq!(unknown.json()["errors"][0]["field"], "colour");
    expect(unknown, 422, "invalid");
    let settings = json!({ "name": "acme", "guests": "refused" });
    house.operate("PUT", "/api/v1/communities/acme", Some(settings)).await.ok();
    let guests = "/api/v1/communities/acme/guests";
    expect(house.ask_with("POST", guests, &[], Some("{}".into())).await, 403, "guests_refused");
}

async fn rules_that_refuse(seen: &mut BTreeSet<String>) {
    let (house, key) = furnished().await;
    let (ann, bob) = (token("acme", "ann"), token("acme", "bob"));
    let people = "/api/v1/communities/acme/people";
    send(&house, &ann, "hello").await.ok();
    let mut expect = |answer: Answer, status: u16, code: &str| {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code), "{}", answer.text);
        seen.insert(code.to_owned());
        answer
    };
    let other = house.ask("DELETE", &format!("{LOBBY}/messages/1"), &bob, NOTHING).await;
    expect(other, 403, "not_permitted");
    let room = json!({ "name": "lobby", "kind": "public", "title": "Lobby" });
    expect(house.ask("POST", "/api/v1/communities/acme/rooms", &key, Some(room)).await, 409, "name_taken");
    house.ask("DELETE", &format!("{LOBBY}/messages/1"), &key, NOTHING).await.ok();
    let edited = house.ask("PATCH", &format!("{LOBBY}/messages/1"), &ann, Some(json!({ "text": "x" }))).await;
    expect(edited, 409, "deleted");
    let named = json!({ "text": "a", "client_id": "c1" });
    house.ask("POST", &format!("{LOBBY}/messages"), &ann, Some(named)).await.ok();
    let again = json!({ "text": "b", "client_id": "c1" });
    expect(house.ask("POST", &format!("{LOBBY}/messages"), &ann, Some(again)).await, 409, "client_id_reused");

    let group = json!({ "with": ["bob"], "title": "We" });
    let group = house.ask("POST", &format!("{people}/ann/groups"), &ann, Some(group)).await.ok();
    let group = format!("/api/v1/communities/acme/conversations/{}", group["id"].as_str().expect("an id"));
    expect(house.ask("DELETE", &format!("{group}/members/ann"), &ann, NOTHING).await, 409, "last_owner");

    let pair =
        house.ask("POST", &format!("{people}/ann/direct"), &ann, Some(json!({ "with": "bob" }))).await.ok();
    let pair =
        format!("/api/v1/communities/acme/conversations/{}/messages", pair["id"].as_str().expect("an id"));
    house.ask("PUT", &format!("{people}/bob/blocks/ann"), &bob, NOTHING).await.ok();
    expect(house.ask("POST", &pair, &ann, Some(json!({ "text": "x" }))).await, 403, "blocked");

    house.ask("PATCH", LOBBY, &key, Some(json!({ "slow_mode_s": 600 }))).await.ok();
    let slow = expect(send(&house, &ann, "again").await, 429, "slow_mode");
    assert!(slow.headers.contains_key("retry-after"));
    house.ask("PATCH", LOBBY, &key, Some(json!({ "slow_mode_s": 0 }))).await.ok();

    let sanctions = "/api/v1/communities/acme/sanctions";
    let until = (seconds() + 3_600) * 1_000;
    let terms = Some(json!({ "until": until, "reason": "noise" }));
    house.ask("PUT", &format!("{sanctions}/mute/ann"), &key, terms.clone()).await.ok();
    let muted = expect(send(&house, &ann, "again").await, 403, "muted");
    assert_eq!(muted.json()["until"], until);
    house.ask("PUT", &format!("{sanctions}/ban/ann?conversation=room:lobby"), &key, terms).await.ok();
    expect(house.ask("GET", &format!("{LOBBY}/messages"), &ann, NOTHING).await, 403, "banned");
    keys_up_to_the_limit(&house, seen).await;
    let fast = House::with(Arc::new(MemoryStore::default()), Rate { burst: 1, per_minute: 6 });
    fast.community("acme").await;
    let key = fast.key("acme", &["list"]).await;
    fast.ask("GET", "/api/v1/communities/acme", &key, NOTHING).await.ok();
    seen.insert(fast.ask("GET", "/api/v1/communities/acme", &key, NOTHING).await.code());
}

async fn keys_up_to_the_limit(house: &House, seen: &mut BTreeSet<String>) {
    for _ in 0..=chat::limits::KEYS_MAX {
        let purpose = json!({ "kind": "server", "scopes": ["list"] });
        let key = Some(json!({ "name": "one more", "purpose": purpose }));
        let made = house.operate("POST", "/api/v1/communities/acme/keys", key).await;
        if !made.status.is_success() {
            assert_eq!((made.status.as_u16(), made.code().as_str()), (409, "limit_reached"));
            assert_eq!(made.json()["limit"], "keys_max");
            seen.insert(made.code());
            return;
        }
    }
    panic!("the keys of a community are not bounded");
}

async fn a_store_in_trouble(seen: &mut BTreeSet<String>) {
    let store = Arc::new(Fragile { inner: MemoryStore::default(), trouble: AtomicU8::new(0) });
    let house = House::with(store.clone(), Rate { burst: 100, per_minute: 60 });
    house.community("acme").await;
    for (trouble, status, code) in [(1, 503, "busy"), (2, 503, "unavailable"), (3, 500, "internal")] {
        store.trouble.store(trouble, Ordering::Relaxed);
        let answer = house.operate("GET", "/api/v1/communities/acme", NOTHING).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (status, code));
        assert_eq!(answer.headers.contains_key("retry-after"), status == 503);
        assert!(!answer.text.contains("detail\":\"detail"), "{}", answer.text);
        seen.insert(code.to_owned());
    }
}
