//! What requests come to: problems of every kind, retries, pages, who may act as whom, limits.

mod house;

use api::{Api, Rate};
use chat::{CommunityId, MemoryStore, Request, Store, Trouble, TroubleKind};
use house::{Answer, House, NOTHING, token, token_with};
use identity::{Refusal, Token};
use messenger::{Credentials, Rejection};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const ALL: [&str; 7] = ["send", "list", "moderate", "manage_rooms", "manage_people", "publish", "presence"];
const LOBBY: &str = "/api/v1/communities/acme/conversations/room:lobby";

async fn furnished() -> (House, String) {
    let house = House::new();
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &ALL).await;
    for person in ["ann", "bob"] {
        house
            .ask(
                "PUT",
                &format!("/api/v1/communities/acme/people/{person}"),
                &key,
                Some(json!({ "name": person })),
            )
            .await
            .ok();
        house.ask("PUT", &format!("{LOBBY}/members/{person}"), &key, Some(json!({}))).await.ok();
    }
    (house, key)
}

async fn send(house: &House, bearer: &str, text: &str) -> Answer {
    house.ask("POST", &format!("{LOBBY}/messages"), bearer, Some(json!({ "text": text }))).await
}

#[tokio::test]
async fn a_message_that_is_sent_twice_is_stored_once() {
    let (house, key) = furnished().await;
    let ann = token("acme", "ann");
    let path = format!("{LOBBY}/messages");
    let bearer = format!("Bearer {ann}");
    let headers = [("authorization", bearer.as_str()), ("idempotency-key", "try-1")];
    let body = json!({ "text": "once" }).to_string();
    let first = house.ask_with("POST", &path, &headers, Some(body.clone())).await;
    let again = house.ask_with("POST", &path, &headers, Some(body)).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!(first.json(), again.json());
    let quoted = [headers[0], ("idempotency-key", "\"try-1\"")];
    let again = house.ask_with("POST", &path, &quoted, Some(json!({ "text": "once" }).to_string())).await;
    assert_eq!((again.status.as_u16(), again.json()), (200, first.json()));
    let other = house.ask_with("POST", &path, &headers, Some(json!({ "text": "else" }).to_string())).await;
    assert_eq!((other.status.as_u16(), other.code().as_str()), (409, "client_id_reused"));
    let both = json!({ "text": "once", "client_id": "try-2" }).to_string();
    assert_eq!(house.ask_with("POST", &path, &headers, Some(both)).await.code(), "invalid");
    let page = house.ask("GET", &path, &key, NOTHING).await.ok();
    assert_eq!(page["messages"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn history_is_read_by_places_without_holes() {
    let (house, key) = furnished().await;
    for number in 1..=10 {
        assert_eq!(send(&house, &key, &format!("message {number}")).await.ok()["seq"], number);
    }
    for (query, seqs, more) in [
        ("limit=3", vec![8, 9, 10], true),
        ("before=4&limit=2", vec![2, 3], true),
        ("before=3", vec![1, 2], false),
        ("after=8", vec![9, 10], false),
        ("around=5&limit=4", vec![4, 5, 6, 7], true),
        ("changed_since=0", vec![], false),
    ] {
        let page = house.ask("GET", &format!("{LOBBY}/messages?{query}"), &key, NOTHING).await.ok();
        let found: Vec<u64> = page["messages"]
            .as_array()
            .expect("messages")
            .iter()
            .filter_map(|one| one["seq"].as_u64())
            .collect();
        assert_eq!((found, page["more"].as_bool()), (seqs, Some(more)), "{query}");
    }
    let both = house.ask("GET", &format!("{LOBBY}/messages?before=4&after=2"), &key, NOTHING).await;
    assert_eq!(both.code(), "invalid");
}

#[tokio::test]
async fn a_list_is_gone_through_page_by_page() {
    let (house, key) = furnished().await;
    for number in 0..7 {
        house.room("acme", &format!("room-{number}")).await;
    }
    let (mut names, mut after, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let path = format!("/api/v1/communities/acme/rooms?limit=3{after}");
        let page = house.ask("GET", &path, &key, NOTHING).await.ok();
        names.extend(page["rows"].as_array().expect("rows").iter().map(|room| room["name"].to_string()));
        pages += 1;
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    let distinct: BTreeSet<&String> = names.iter().collect();
    assert_eq!((names.len(), distinct.len(), pages), (8, 8, 3));
}

#[tokio::test]
async fn the_conversations_tab_is_gone_through_page_by_page_and_cursors_only_move_forward() {
    let (house, key) = furnished().await;
    let ann = token("acme", "ann");
    for number in 0..3 {
        let room = house.room("acme", &format!("room-{number}")).await;
        let id = room["id"].as_str().expect("an id").to_owned();
        let path = format!("/api/v1/communities/acme/conversations/{id}");
        house.ask("PUT", &format!("{path}/members/ann"), &ann, Some(json!({}))).await.ok();
        house.ask("POST", &format!("{path}/messages"), &key, Some(json!({ "text": "news" }))).await.ok();
    }
    let path = "/api/v1/communities/acme/people/ann/conversations";
    let first = house.ask("GET", &format!("{path}?limit=2"), &ann, NOTHING).await.ok();
    let next = first["next"].as_str().expect("there are more").to_owned();
    let second = house.ask("GET", &format!("{path}?limit=2&before={next}"), &ann, NOTHING).await.ok();
    assert_eq!(
        (first["rows"].as_array().map(Vec::len), second["rows"].as_array().map(Vec::len)),
        (Some(2), Some(2))
    );
    assert_eq!(first["rows"][0]["unread"], 1);

    let room = format!("{path}/room:room-0");
    let read = house.ask("PATCH", &room, &ann, Some(json!({ "read": 1, "muted": true }))).await.ok();
    assert_eq!((read["unread"].as_u64(), read["member"]["muted"].as_bool()), (Some(0), Some(true)));
    let back = house.ask("PATCH", &room, &ann, Some(json!({ "read": 0 }))).await.ok();
    assert_eq!(back["member"]["read"], 1);
    let others = house.ask("GET", path, &token("acme", "bob"), NOTHING).await;
    assert_eq!(others.code(), "not_found");
}

#[tokio::test]
async fn a_key_acts_as_the_community_or_as_a_person_and_a_person_only_as_themselves() {
    let (house, key) = furnished().await;
    let bearer = format!("Bearer {key}");
    let path = format!("{LOBBY}/messages");
    let body = Some(json!({ "text": "hello" }).to_string());
    let as_ann = [("authorization", bearer.as_str()), ("throng-person", "ann")];
    assert_eq!(house.ask_with("POST", &path, &as_ann, body.clone()).await.ok()["sender"], "ann");
    assert_eq!(send(&house, &key, "hello").await.ok()["sender"], "~service");
    let ann = format!("Bearer {}", token("acme", "ann"));
    let as_bob = [("authorization", ann.as_str()), ("throng-person", "bob")];
    assert_eq!(house.ask_with("POST", &path, &as_bob, body.clone()).await.code(), "caller_refused");
    let as_nobody = [("authorization", bearer.as_str()), ("throng-person", "a/b")];
    assert_eq!(house.ask_with("POST", &path, &as_nobody, body).await.code(), "invalid");
}

#[tokio::test]
async fn a_key_is_for_what_its_scopes_say_until_it_is_revoked() {
    let (house, _) = furnished().await;
    let key = house.key("acme", &["list"]).await;
    assert!(house.ask("GET", &format!("{LOBBY}/messages"), &key, NOTHING).await.status.is_success());
    let refused = send(&house, &key, "hello").await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "scope_missing"));
    assert!(refused.text.contains("`send`"), "{}", refused.text);

    let keys = house.operate("GET", "/api/v1/communities/acme/keys", NOTHING).await.ok();
    assert!(!keys.to_string().contains(&key[24..]), "a key is told once");
    let rows = keys["rows"].as_array().expect("rows");
    let own = rows.iter().find(|row| row["scopes"] == json!(["list"])).expect("it is listed");
    let path = format!("/api/v1/communities/acme/keys/{}", own["id"].as_str().expect("an id"));
    house.operate("DELETE", &path, NOTHING).await.ok();
    assert_eq!(house.ask("GET", &format!("{LOBBY}/messages"), &key, NOTHING).await.code(), "key_invalid");
}

#[tokio::test]
async fn what_is_wrong_with_a_key_is_named_where_it_stands() {
    let (house, _) = furnished().await;
    for (purpose, field) in [
        (json!({ "kind": "token", "algorithm": "HS256", "material": "short" }), "purpose.material"),
        (
            json!({ "kind": "token", "algorithm": "none", "material": house::SITE_SECRET }),
            "purpose.algorithm",
        ),
        (json!({ "kind": "jwks", "url": "ftp://example.org" }), "purpose.url"),
        (json!({ "kind": "server", "scopes": [] }), "purpose.scopes"),
    ] {
        let key = Some(json!({ "name": "wrong", "purpose": purpose }));
        let refused = house.operate("POST", "/api/v1/communities/acme/keys", key).await;
        assert_eq!(refused.code(), "invalid");
        assert_eq!(refused.json()["errors"][0]["field"], field);
    }
}

#[tokio::test]
async fn a_token_for_some_rooms_is_for_those_alone() {
    let (house, _) = furnished().await;
    house.room("acme", "other").await;
    let ann = token_with("acme", "ann", &json!({ "rooms": ["lobby"] }));
    assert!(house.ask("GET", &format!("{LOBBY}/messages"), &ann, NOTHING).await.status.is_success());
    let other = LOBBY.replace("lobby", "other");
    assert_eq!(house.ask("GET", &format!("{other}/messages"), &ann, NOTHING).await.code(), "not_found");
    for path in ["/search?words=x", "/people/ann/conversations", "/rooms"] {
        let path = format!("/api/v1/communities/acme{path}");
        assert_eq!(house.ask("GET", &path, &ann, NOTHING).await.code(), "caller_refused", "{path}");
    }
}

#[tokio::test]
async fn a_community_that_the_operator_misspells_is_not_an_empty_one() {
    let (house, _) = furnished().await;
    for path in ["", "/keys", "/people", "/rooms", "/webhooks", "/sanctions", "/stats", "/export"] {
        assert!(
            house
                .operate("GET", &format!("/api/v1/communities/acme{path}"), NOTHING)
                .await
                .status
                .is_success()
        );
        let missing = house.operate("GET", &format!("/api/v1/communities/acne{path}"), NOTHING).await;
        assert_eq!((missing.status.as_u16(), missing.code().as_str()), (404, "not_found"), "{path}");
    }
}

#[tokio::test]
async fn a_publication_reaches_topics_of_its_own_community_alone() {
    let (house, key) = furnished().await;
    let path = "/api/v1/communities/acme/publications";
    let publication = |topic: &str, event: &str| {
        Some(json!({ "topic": topic, "event": event, "payload": { "b": 1, "a": 2 } }))
    };
    let taken = house.ask("POST", path, &key, publication("news:acme/today", "headline")).await;
    assert_eq!(taken.status.as_u16(), 202);
    for (topic, event) in [
        ("news:other/today", "headline"),
        ("news:acme/today", "phx_close"),
        ("room:acme/lobby", "msg:new"),
        ("room:acme/lobby", "presence"),
        ("room:acme/lobby", "typing"),
        ("person:acme/ann", "sanction"),
        ("person:acme/ann", "conversation:new"),
        ("today", "x"),
    ] {
        assert_eq!(
            house.ask("POST", path, &key, publication(topic, event)).await.code(),
            "invalid",
            "{topic} {event}"
        );
    }
    let published = house.live.published.lock().expect("not poisoned").clone();
    assert_eq!(published, [("news:acme/today".into(), "headline".into(), r#"{"a":2,"b":1}"#.into())]);
    for (topic, event) in [("room:acme/lobby", "parcel"), ("news:acme/today", "status")] {
        assert_eq!(
            house.ask("POST", path, &key, publication(topic, event)).await.status.as_u16(),
            202,
            "{event}"
        );
    }
}

#[tokio::test]
async fn who_is_erased_leaves_tombstones_and_who_exports_gets_every_line() {
    let (house, key) = furnished().await;
    let ann = token("acme", "ann");
    for number in 0..3 {
        send(&house, &ann, &format!("private {number}")).await.ok();
    }
    let export = house.ask("GET", "/api/v1/communities/acme/people/ann/export", &ann, NOTHING).await;
    assert_eq!(export.headers["content-type"], "application/x-ndjson");
    let lines: Vec<Value> =
        export.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.last(), Some(&json!({ "end": true })));
    assert_eq!(lines.iter().filter(|line| line["record"] == "message").count(), 3);

    let erased = house.ask("DELETE", "/api/v1/communities/acme/people/ann", &key, NOTHING).await.ok();
    assert_eq!((erased["messages"].as_u64(), erased["done"].as_bool()), (Some(3), Some(true)));
    let whole = house.operate("GET", "/api/v1/communities/acme/export", NOTHING).await;
    // A revocation is kept for as long as what it revokes could be valid.
    let left: Vec<_> =
        whole.text.lines().filter(|line| !line.contains("\"record\":\"revocation\"")).collect();
    let left = left.join("\n");
    assert!(!left.contains("private") && !left.contains("\"ann\""), "{left}");
    assert!(!whole.text.contains(house::SITE_SECRET), "an export holds no keys");
}

#[tokio::test]
async fn who_is_erased_does_not_come_back_with_a_token_of_before() {
    let (house, key) = furnished().await;
    let (one, old) = ("/api/v1/communities/acme/people/ann", token("acme", "ann"));
    let come = async |shown: &str| {
        let community = CommunityId::parse("acme").expect("an id");
        let shown = Credentials { community, token: Some(Token::new(shown)), name: None };
        house.messenger.admit(&shown).await
    };
    come(&old).await.expect("a socket comes in");
    send(&house, &old, "private").await.ok();
    assert_eq!(house.ask("DELETE", one, &old, NOTHING).await.ok()["done"], true);

    let refused = come(&old).await;
    assert!(matches!(refused, Err(Rejection::Token(Refusal::Revoked))), "{refused:?}");
    assert_eq!(send(&house, &old, "again").await.code(), "token_revoked");
    assert_eq!(house.ask("GET", one, &key, NOTHING).await.code(), "not_found", "nobody was written again");
    assert_eq!(house.ask("DELETE", one, &key, NOTHING).await.code(), "not_found");

    let later = token_with("acme", "ann", &json!({ "iat": house::seconds() + 1, "name": "Another Ann" }));
    come(&later).await.expect("a new person");
    assert_eq!(house.ask("GET", one, &later, NOTHING).await.ok()["name"], "Another Ann");
}

#[tokio::test]
async fn who_asks_too_often_waits_and_nobody_else_does() {
    let house = House::with(Arc::new(MemoryStore::default()), Rate { burst: 3, per_minute: 6 });
    house.community("acme").await;
    let (one, other) = (house.key("acme", &["list"]).await, house.key("acme", &["list"]).await);
    let path = "/api/v1/communities/acme";
    for _ in 0..3 {
        house.ask("GET", path, &one, NOTHING).await.ok();
    }
    let refused = house.ask("GET", path, &one, NOTHING).await;
    assert_eq!(refused.code(), "rate_limited");
    let wait_s: u64 = refused.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!((1..=10).contains(&wait_s), "{wait_s}");
    house.ask("GET", path, &other, NOTHING).await.ok();
}

#[tokio::test]
async fn an_address_that_guesses_has_to_wait_whatever_it_shows_then() {
    let (house, key) = furnished().await;
    let path = "/api/v1/communities/acme";
    let shown = format!("Bearer {key}");
    let with_key = [("authorization", shown.as_str())];
    for _ in 0..3 {
        assert!(house.ask_from("192.0.2.1", "GET", path, &with_key, None).await.status.is_success());
    }
    for wrong in ["Bearer thr_x", "Bearer e30.e30.x", "Basic x"] {
        let refused = house.ask_from("192.0.2.1", "GET", path, &[("authorization", wrong)], None).await;
        assert_eq!(refused.status.as_u16(), 401, "{wrong}: {}", refused.text);
    }
    let waits = house.ask_from("192.0.2.1", "GET", path, &with_key, None).await;
    assert_eq!(waits.code(), "rate_limited");
    let wait_s: u64 = waits.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!((1..=60).contains(&wait_s), "{wait_s}");
    assert!(house.ask_from("192.0.2.2", "GET", path, &with_key, None).await.status.is_success());
}

#[tokio::test]
async fn guests_are_made_as_often_as_an_address_may() {
    let (house, _) = furnished().await;
    let path = "/api/v1/communities/acme/guests";
    let ask = async || house.ask_from("192.0.2.1", "POST", path, &[], Some("{}".to_owned())).await;
    for _ in 0..3 {
        assert_eq!(ask().await.status.as_u16(), 201);
    }
    assert_eq!(ask().await.code(), "rate_limited");
}

#[tokio::test]
async fn a_person_sends_as_many_messages_a_minute_as_the_community_lets_them_by_whatever_way() {
    let (house, key) = furnished().await;
    let settings = json!({ "name": "acme", "limits": { "messages_per_minute": 2 } });
    house.operate("PUT", "/api/v1/communities/acme", Some(settings)).await.ok();
    send(&house, &token("acme", "ann"), "one").await.ok();
    let messages = format!("{LOBBY}/messages");
    let shown = format!("Bearer {key}");
    let as_ann = [("authorization", shown.as_str()), ("throng-person", "ann")];
    let two = Some(json!({ "text": "two" }).to_string());
    house.ask_with("POST", &messages, &as_ann, two).await.ok();
    let third = send(&house, &token("acme", "ann"), "three").await;
    assert_eq!(third.code(), "rate_limited");
    let wait_s: u64 = third.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
    assert!((1..=30).contains(&wait_s), "{wait_s}");
    assert_eq!(
        house.ask_with("POST", &messages, &as_ann, Some("{\"text\":\"x\"}".to_owned())).await.code(),
        "rate_limited"
    );
    send(&house, &token("acme", "bob"), "bob's").await.ok();
    house.ask("POST", &messages, &key, Some(json!({ "text": "the site's" }))).await.ok();
}

#[tokio::test]
async fn a_community_sends_as_many_messages_a_minute_as_it_may_whoever_sends_them() {
    let (house, key) = furnished().await;
    let settings = |limits: Value| Some(json!({ "name": "acme", "limits": limits }));
    let limits = json!({ "community_messages_per_minute": 2 });
    house.operate("PUT", "/api/v1/communities/acme", settings(limits)).await.ok();
    send(&house, &token("acme", "ann"), "one").await.ok();
    send(&house, &key, "two").await.ok();
    for bearer in [&token("acme", "bob"), &key] {
        let refused = send(&house, bearer, "three").await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "rate_limited"));
        let problem = refused.json();
        assert_eq!(
            (&problem["limit"], &problem["max"]),
            (&json!("community_messages_per_minute"), &json!(2))
        );
        let wait_s: u64 = refused.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
        assert!((1..=30).contains(&wait_s), "{wait_s}");
    }
    let text = Some(json!({ "text": "the operator's" }));
    house.operate("POST", &format!("{LOBBY}/messages"), text).await.ok();
    let none = Some(json!({ "name": "acme", "limits": { "community_messages_per_minute": 0 } }));
    let refused = house.operate("PUT", "/api/v1/communities/acme", none).await;
    assert_eq!(refused.json()["errors"][0]["field"], "limits.community_messages_per_minute");
    house.operate("PUT", "/api/v1/communities/acme", settings(json!({}))).await.ok();
    send(&house, &token("acme", "bob"), "three").await.ok();
}

#[tokio::test]
async fn people_at_one_address_ask_as_often_as_it_may_and_programs_there_do_not_wait_for_them() {
    let plenty = Rate { burst: 100_000, per_minute: 60_000 };
    let few = Rate { burst: 3, per_minute: 1 };
    let house = House::with_rates(Arc::new(MemoryStore::default()), plenty, few);
    house.community("acme").await;
    let key = house.key("acme", &["list"]).await;
    let path = "/api/v1/communities/acme/rooms";
    let ask = async |bearer: &str, from: &str| {
        let shown = format!("Bearer {bearer}");
        house.ask_from(from, "GET", path, &[("authorization", shown.as_str())], None).await
    };
    for person in ["ann", "bob", "cat"] {
        ask(&token("acme", person), "2001:db8::1").await.ok();
    }
    let refused = ask(&token("acme", "dan"), "2001:db8::2").await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "rate_limited"));
    assert!(refused.headers.contains_key("retry-after"));
    ask(&key, "2001:db8::1").await.ok();
    ask(&token("acme", "dan"), "2001:db8:0:1::1").await.ok();
    assert_eq!(house.api.counts().limited, [("caller", 0), ("strangers", 0), ("address", 1)]);
}

#[tokio::test]
async fn who_asks_too_often_takes_nothing_from_the_others_at_their_address() {
    let own = Rate { burst: 2, per_minute: 1 };
    let all = Rate { burst: 3, per_minute: 1 };
    let house = House::with_rates(Arc::new(MemoryStore::default()), own, all);
    house.community("acme").await;
    let ask = async |bearer: &str| {
        let (path, shown) = ("/api/v1/communities/acme/rooms", format!("Bearer {bearer}"));
        house.ask_from("192.0.2.1", "GET", path, &[("authorization", shown.as_str())], None).await
    };
    for nth in 0..9 {
        let status = ask(&token("acme", "ann")).await.status.as_u16();
        assert_eq!(status, if nth < 2 { 200 } else { 429 }, "{nth}");
    }
    ask(&token("acme", "bob")).await.ok();
    assert_eq!(house.api.counts().limited, [("caller", 7), ("strangers", 0), ("address", 0)]);
}

#[tokio::test]
async fn messages_that_are_refused_are_none_of_the_communitys_minute() {
    let (house, key) = furnished().await;
    let limits = json!({ "name": "acme", "limits": { "community_messages_per_minute": 1 } });
    house.operate("PUT", "/api/v1/communities/acme", Some(limits)).await.ok();
    let place = format!("{LOBBY}/messages/999");
    for _ in 0..3 {
        let refused = house.ask("PATCH", &place, &key, Some(json!({ "text": "x" }))).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (404, "not_found"));
    }
    send(&house, &token("acme", "ann"), "one").await.ok();
    assert_eq!(send(&house, &key, "two").await.code(), "rate_limited");
}

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
            1 => request.refuse(Trouble::new(TroubleKind::Busy, "detail")),
            2 => request.refuse(Trouble::new(TroubleKind::Away, "detail")),
            _ => request.refuse(Trouble::new(TroubleKind::Corrupt, "detail")),
        }
    }
}

/// What needs a host site: one that publishes keys and is away (a test of the crate `identity`), one that is asked
/// (`tests/authorizer.rs`).
const BY_SITES: [&str; 3] = ["token_unverifiable", "refused_by_site", "site_unavailable"];
/// What comes of idempotency keys (`tests/idempotency.rs`).
const BY_KEYS: [&str; 3] = ["under_way", "answer_gone", "idempotency_key_reused"];

#[tokio::test]
async fn every_code_of_a_problem_is_brought_about_here() {
    let mut seen = BTreeSet::new();
    requests_that_are_refused(&mut seen).await;
    rules_that_refuse(&mut seen).await;
    a_store_in_trouble(&mut seen).await;
    let documented = Api::document()["x-problem-codes"].as_array().expect("codes").clone();
    for row in documented {
        let code = row["code"].as_str().expect("a code");
        let is_elsewhere = BY_SITES.contains(&code) || BY_KEYS.contains(&code);
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
    let old = token_with("acme", "ann", &json!({ "exp": house::seconds() - 3_600 }));
    expect(house.ask("GET", &messages, &old, NOTHING).await, 401, "token_expired");
    let revocations = "/api/v1/communities/acme/people/ann/revocations";
    house.ask("POST", revocations, &key, Some(json!({ "token_id": "stolen" }))).await.ok();
    let stolen = token_with("acme", "ann", &json!({ "jti": "stolen" }));
    expect(house.ask("GET", &messages, &stolen, NOTHING).await, 401, "token_revoked");
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
    let until = (house::seconds() + 3_600) * 1_000;
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
