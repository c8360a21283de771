//! Requests with an `Idempotency-Key` run once, and get the first answer again.

use crate::house::{Answer, House, NOTHING, token};
use api::{Api, Rate};
use chat::{MemoryStore, Request, Store};
use serde_json::{Value, json};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const ACME: &str = "/api/v1/communities/acme";
const LOBBY: &str = "/api/v1/communities/acme/conversations/room:lobby";
const SCOPES: [&str; 5] = ["send", "list", "manage_rooms", "manage_people", "publish"];

/// A community with a room, two people in it, and a message.
async fn furnish(house: &House) -> String {
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &SCOPES).await;
    for person in ["ann", "bob"] {
        let path = format!("{ACME}/people/{person}");
        house.ask("PUT", &path, &key, Some(json!({ "name": person }))).await.ok();
        house.ask("PUT", &format!("{LOBBY}/members/{person}"), &key, Some(json!({}))).await.ok();
    }
    house.ask("POST", &format!("{LOBBY}/messages"), &key, Some(json!({ "text": "hello" }))).await.ok();
    key
}

/// Sends a request with an idempotency key.
async fn post(house: &House, path: &str, bearer: &str, key: &str, body: &Value) -> Answer {
    let shown = format!("Bearer {bearer}");
    let headers = [("authorization", shown.as_str()), ("idempotency-key", key)];
    house.ask_with("POST", path, &headers, Some(body.to_string())).await
}

/// Sends a request with an idempotency key as the operator.
async fn operate(house: &House, path: &str, key: &str, body: &Value) -> Answer {
    house.operate_with("POST", path, &[("idempotency-key", key)], Some(body.to_string())).await
}

fn rows(list: &Value) -> usize {
    list["rows"].as_array().map(Vec::len).unwrap_or_else(|| panic!("no rows in {list}"))
}

fn room(name: &str) -> Value {
    json!({ "name": name, "kind": "public", "title": name })
}

#[tokio::test]
async fn what_is_made_under_a_key_is_made_once_and_told_again() {
    let house = House::new();
    let key = furnish(&house).await;
    let ann = token("acme", "ann");
    for (name, path, bearer, body, list) in [
        ("a-room", format!("{ACME}/rooms"), &key, room("den"), format!("{ACME}/rooms")),
        ("in", format!("{LOBBY}/invitations"), &key, json!({ "uses": 3 }), format!("{LOBBY}/invitations")),
        (
            "us",
            format!("{ACME}/people/ann/groups"),
            &ann,
            json!({ "with": ["bob"] }),
            format!("{ACME}/people/ann/conversations"),
        ),
    ] {
        let before = rows(&house.ask("GET", &list, bearer, NOTHING).await.ok());
        let first = post(&house, &path, bearer, name, &body).await;
        let again = post(&house, &path, bearer, name, &body).await;
        assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 201), "{path}: {}", first.text);
        assert_eq!((&first.text, &first.headers), (&again.text, &again.headers), "{path}");
        assert_eq!(rows(&house.ask("GET", &list, bearer, NOTHING).await.ok()), before + 1, "{path}");
    }
    assert_eq!(house.api.counts().repeated_total, 3);
}

#[tokio::test]
async fn what_the_operator_makes_is_made_once_and_a_secret_is_told_again() {
    let house = House::new();
    furnish(&house).await;
    let server = json!({ "name": "site", "purpose": { "kind": "server", "scopes": ["list"] } });
    let hook = json!({ "name": "site", "url": "https://example.org/hook" });
    let umbrella = json!({ "id": "umbrella", "settings": { "name": "Umbrella" } });
    for (path, list, body, secret) in [
        (format!("{ACME}/keys"), format!("{ACME}/keys"), server, "key"),
        (format!("{ACME}/webhooks"), format!("{ACME}/webhooks"), hook, "secret"),
        ("/api/v1/communities".into(), "/api/v1/communities".into(), umbrella, "id"),
    ] {
        let before = rows(&house.operate("GET", &list, NOTHING).await.ok());
        let first = operate(&house, &path, &format!("once-{secret}"), &body).await.ok();
        let again = operate(&house, &path, &format!("once-{secret}"), &body).await.ok();
        assert!(first[secret].is_string(), "{first}");
        assert_eq!(first, again, "{path}");
        assert_eq!(rows(&house.operate("GET", &list, NOTHING).await.ok()), before + 1, "{path}");
    }
}

#[tokio::test]
async fn a_community_that_was_made_under_a_key_and_erased_is_made_once_more() {
    let house = House::new();
    let acme = json!({ "id": "acme", "settings": { "name": "Acme" } });
    let umbrella = json!({ "id": "umbrella", "settings": { "name": "Umbrella" } });
    for body in [&acme, &umbrella] {
        let key = format!("make-{}", body["id"]).replace('"', "");
        operate(&house, "/api/v1/communities", &key, body).await.ok();
    }
    house.operate("DELETE", "/api/v1/communities/acme", NOTHING).await.ok();
    operate(&house, "/api/v1/communities", "make-acme", &acme).await.ok();
    assert_eq!(house.operate("GET", "/api/v1/communities/acme", NOTHING).await.ok()["name"], "Acme");
    operate(&house, "/api/v1/communities", "make-umbrella", &umbrella).await.ok();
    assert_eq!(house.api.counts().repeated_total, 1, "of the other one it is known");
}

#[tokio::test]
async fn a_publication_and_a_report_come_once() {
    let house = House::new();
    let key = furnish(&house).await;
    let news = json!({ "topic": "news:acme/today", "event": "headline", "payload": {} });
    for _ in 0..2 {
        let taken = post(&house, &format!("{ACME}/publications"), &key, "news", &news).await;
        assert_eq!((taken.status.as_u16(), taken.text.as_str()), (202, ""));
    }
    assert_eq!(house.live.published.lock().expect("not poisoned").len(), 1);
    // A person's second report of a message is their first one anyway; a site's is a new one.
    let path = format!("{LOBBY}/messages/1/reports");
    let report = async |name| post(&house, &path, &key, name, &json!({ "reason": "noise" })).await.ok();
    let (first, again, other) = (report("\"report\"").await, report("report").await, report("other").await);
    assert_eq!(first["id"], again["id"]);
    assert_ne!(first["id"], other["id"]);
}

#[tokio::test]
async fn a_key_is_of_its_caller_and_of_one_request() {
    let house = House::new();
    let key = furnish(&house).await;
    let other = house.key("acme", &SCOPES).await;
    let path = format!("{ACME}/rooms");
    post(&house, &path, &key, "k", &room("one")).await.ok();
    post(&house, &path, &other, "k", &room("two")).await.ok();
    let reused = post(&house, &path, &key, "k", &room("three")).await;
    assert_eq!((reused.status.as_u16(), reused.code().as_str()), (422, "idempotency_key_reused"));
    let shown = format!("Bearer {key}");
    let as_ann = [("authorization", shown.as_str()), ("idempotency-key", "k"), ("throng-person", "ann")];
    let reused = house.ask_with("POST", &path, &as_ann, Some(room("one").to_string())).await;
    assert_eq!(reused.code(), "idempotency_key_reused");
    let wrong = post(&house, &path, &key, "a b", &room("three")).await;
    assert_eq!(wrong.json()["errors"][0]["field"], "idempotency-key");
    assert_eq!(wrong.code(), "invalid");
}

#[tokio::test]
async fn what_failed_leaves_its_key_free() {
    let house = House::new();
    let key = furnish(&house).await;
    let path = format!("{ACME}/rooms");
    assert_eq!(post(&house, &path, &key, "k", &json!({ "name": "den" })).await.code(), "invalid");
    assert_eq!(post(&house, &path, &key, "k", &room("lobby")).await.code(), "name_taken");
    assert_eq!(post(&house, &path, &key, "k", &room("den")).await.status.as_u16(), 201);
}

#[tokio::test]
async fn who_may_not_ask_any_more_is_not_answered_again() {
    let house = House::new();
    furnish(&house).await;
    let ann = token("acme", "ann");
    post(&house, &format!("{ACME}/rooms"), &ann, "k", &room("den")).await.ok();
    house.operate("POST", &format!("{ACME}/people/ann/revocations"), Some(json!({}))).await.ok();
    assert_eq!(post(&house, &format!("{ACME}/rooms"), &ann, "k", &room("den")).await.code(), "token_revoked");
}

#[tokio::test]
async fn answers_that_name_who_was_erased_are_gone() {
    let house = House::new();
    let key = furnish(&house).await;
    let path = format!("{LOBBY}/invitations");
    let invitation = json!({ "person": "bob" });
    house.operate("DELETE", &format!("{LOBBY}/members/bob"), NOTHING).await.ok();
    post(&house, &path, &key, "k", &invitation).await.ok();
    house.ask("DELETE", &format!("{ACME}/people/bob"), &key, NOTHING).await.ok();
    let gone = post(&house, &path, &key, "k", &invitation).await;
    assert_eq!((gone.status.as_u16(), gone.code().as_str()), (409, "answer_gone"));
}

/// A store that can hold requests.
#[derive(Default)]
struct Slow {
    inner: MemoryStore,
    holds: AtomicBool,
    held: Mutex<Vec<Request>>,
}

impl Slow {
    async fn holds_one(&self) {
        while self.held.lock().expect("not poisoned").is_empty() {
            tokio::task::yield_now().await;
        }
    }

    fn go_on(&self) {
        self.holds.store(false, Ordering::Relaxed);
        let held = mem::take(&mut *self.held.lock().expect("not poisoned"));
        held.into_iter().for_each(|request| self.inner.submit(request));
    }
}

impl Store for Slow {
    fn epoch(&self) -> &str {
        self.inner.epoch()
    }

    fn submit(&self, request: Request) {
        if self.holds.load(Ordering::Relaxed) {
            self.held.lock().expect("not poisoned").push(request);
        } else {
            self.inner.submit(request);
        }
    }
}

async fn over_a_slow_store() -> (House, String, Arc<Slow>) {
    let store = Arc::new(Slow::default());
    let house = House::with(store.clone(), Rate { burst: 100_000, per_minute: 60_000 });
    let key = furnish(&house).await;
    store.holds.store(true, Ordering::Relaxed);
    (house, key, store)
}

#[tokio::test]
async fn who_asks_again_before_the_answer_is_told_to_wait() {
    let (house, key, store) = over_a_slow_store().await;
    let path = format!("{ACME}/rooms");
    let (den, other) = (room("den"), room("other"));
    let meanwhile = async {
        store.holds_one().await;
        let again = post(&house, &path, &key, "k", &den).await;
        let reused = post(&house, &path, &key, "k", &other).await;
        store.go_on();
        (again, reused)
    };
    let (first, (again, reused)) = tokio::join!(post(&house, &path, &key, "k", &den), meanwhile);
    assert_eq!((again.status.as_u16(), again.code().as_str()), (409, "under_way"));
    assert_eq!(again.headers["retry-after"], "1");
    assert_eq!(reused.code(), "idempotency_key_reused");
    let again = post(&house, &path, &key, "k", &den).await;
    assert_eq!((first.status.as_u16(), first.text), (201, again.text));
}

#[tokio::test]
async fn who_hangs_up_and_asks_again_gets_the_answer() {
    let (house, key, store) = over_a_slow_store().await;
    let path = format!("{LOBBY}/invitations");
    let invitation = json!({ "uses": 2 });
    tokio::select! {
        answer = post(&house, &path, &key, "k", &invitation) => panic!("nothing was answered: {answer:?}"),
        () = store.holds_one() => {}
    }
    store.go_on();
    let answer = loop {
        let answer = post(&house, &path, &key, "k", &invitation).await;
        if answer.status.as_u16() != 409 {
            break answer;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(answer.status.as_u16(), 201, "{}", answer.text);
    assert_eq!(rows(&house.ask("GET", &path, &key, NOTHING).await.ok()), 1);
}

#[test]
fn whatever_makes_something_takes_a_key() {
    let document = Api::document();
    let mut without = Vec::new();
    for operations in document["paths"].as_object().expect("paths").values() {
        for (method, operation) in operations.as_object().expect("operations") {
            let parameters = operation["parameters"].as_array().expect("parameters");
            let takes = parameters.iter().any(|parameter| parameter["name"] == "idempotency-key");
            if method == "post" && !takes {
                without.push(operation["operationId"].as_str().unwrap_or_default());
            }
            assert!(method == "post" || !takes, "{operation}");
        }
    }
    assert_eq!(without, ["welcome_guest"], "of whom nothing is stored");
}
