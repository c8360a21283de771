//! What is sent, to whom, and what is given up.

use super::sending::{Sending, say, store_with_a_site};
use super::site::{Site, heard};
use super::{MESSAGES, until};
use crate::house::{self, House, NOTHING};
use identity::{SigningSecret, UnixSeconds, verify};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

async fn furnished(url: &str, events: Value) -> (House, String, Value) {
    let house = House::new();
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let key = house.key("acme", &["send", "moderate", "list"]).await;
    let hook = Some(json!({ "name": "site", "url": url, "events": events }));
    let made = house.operate("POST", "/api/v1/communities/acme/webhooks", hook).await.ok();
    let api = house.api.clone();
    tokio::spawn(async move { api.deliver(std::future::pending()).await });
    (house, key, made)
}

#[tokio::test]
async fn a_site_is_told_in_order_what_it_asked_for_and_can_tell_that_it_is_us() {
    let mut site = Site::open().await;
    let (house, key, hook) = furnished(&site.url, json!(["message.sent", "message.deleted"])).await;
    for text in ["one", "two"] {
        house.ask("POST", MESSAGES, &key, Some(json!({ "text": text }))).await.ok();
    }
    house.ask("PUT", &format!("{MESSAGES}/1/reactions/x"), &key, NOTHING).await.ok();
    house.ask("DELETE", &format!("{MESSAGES}/1"), &key, NOTHING).await.ok();

    let secret = SigningSecret::parse(hook["secret"].as_str().expect("it is told once")).expect("a secret");
    let mut ids = Vec::new();
    for (event, text) in [("message.sent", "one"), ("message.sent", "two"), ("message.deleted", "")] {
        let (headers, body) = site.next().await;
        let header = |name: &str| headers[name].to_str().expect("text").to_owned();
        let (id, at) = (header("webhook-id"), header("webhook-timestamp"));
        let now = UnixSeconds(house::seconds());
        verify(&secret, &id, &at, &header("webhook-signature"), &body, now).expect("it is signed");
        let told: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!((&told["type"], &told["community"]), (&json!(event), &json!("acme")));
        assert_eq!(told["data"]["text"], text);
        assert!(!ids.contains(&id), "each message has an id of its own");
        ids.push(id);
    }
}

#[tokio::test]
async fn a_room_that_is_erased_is_told_once_behind_what_happened_in_it() {
    let mut site = Site::open().await;
    let (house, key, _) = furnished(&site.url, json!(["message.sent", "member.left", "room.erased"])).await;
    let mut told = async || serde_json::from_slice::<Value>(&site.next().await.1).expect("JSON");
    let sent = house.ask("POST", MESSAGES, &key, Some(json!({ "text": "the last word" }))).await.ok();
    // Once the room is erased, what still waits of it is not told.
    assert_eq!(told().await["data"]["text"], "the last word");
    let room = "/api/v1/communities/acme/conversations/room:lobby";
    assert_eq!(house.operate("DELETE", room, NOTHING).await.ok()["done"], true);
    house.room("acme", "lobby").await;
    house.ask("POST", MESSAGES, &key, Some(json!({ "text": "the first word" }))).await.ok();
    let erased = told().await;
    assert_eq!((&erased["type"], &erased["by"]), (&json!("room.erased"), &json!("~service")));
    assert_eq!(erased["data"], json!({ "conversation": sent["conversation"], "name": "lobby" }));
    assert_eq!(told().await["data"]["text"], "the first word");
}

#[tokio::test]
async fn a_role_is_told_as_one_and_not_as_coming_in() {
    let (mut both, mut roles) = (Site::open().await, Site::open().await);
    let (house, _, _) = furnished(&both.url, json!(["member.joined", "member.role"])).await;
    let beside = json!({ "name": "roles", "url": roles.url, "events": ["member.role"] });
    house.operate("POST", "/api/v1/communities/acme/webhooks", Some(beside)).await.ok();
    house.operate("PUT", "/api/v1/communities/acme/people/bob", Some(json!({ "name": "Bob" }))).await.ok();
    let bob = "/api/v1/communities/acme/conversations/room:lobby/members/bob";
    for body in [json!({ "role": "moderator" }), json!({}), json!({ "role": "owner" })] {
        house.operate("PUT", bob, Some(body)).await.ok();
    }
    let told = async |site: &mut Site| {
        let told: Value = serde_json::from_slice(&site.next().await.1).expect("JSON");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        (text(&told["type"]), text(&told["data"]["person"]), text(&told["data"]["role"]))
    };
    let [came, given] = [("member.joined", "moderator"), ("member.role", "owner")]
        .map(|(event, role)| (event.to_owned(), "bob".to_owned(), role.to_owned()));
    assert_eq!(told(&mut both).await, came);
    assert_eq!(told(&mut both).await, given);
    assert_eq!(told(&mut roles).await, given);
}

#[tokio::test]
async fn what_is_given_up_can_be_seen_until_its_endpoint_is_removed() {
    let mut site = Site::open().await;
    let (house, key, hook) = furnished(&site.url, json!(["message.sent"])).await;
    site.status.store(500, Ordering::Relaxed);
    house.ask("POST", MESSAGES, &key, Some(json!({ "text": "lost" }))).await.ok();
    let mut attempts = Vec::new();
    for _ in 0..3 {
        let (headers, _) = site.next().await;
        attempts.push(headers["webhook-id"].clone());
    }
    assert!(attempts.iter().all(|id| *id == attempts[0]), "a repetition can be told: {attempts:?}");

    let one = format!("/api/v1/communities/acme/webhooks/{}", hook["id"].as_str().expect("an id"));
    let dead = eventually(&house, &format!("{one}/dead-letters")).await;
    assert_eq!((&dead["attempts"], &dead["body"]["data"]["text"]), (&json!(3), &json!("lost")));
    let stats = house.operate("GET", "/api/v1/communities/acme/stats", NOTHING).await.ok();
    assert_eq!(stats["webhooks_dead"], 1);

    house.operate("DELETE", &one, NOTHING).await.ok();
    let listed = house.operate("GET", "/api/v1/communities/acme/webhooks", NOTHING).await.ok();
    assert_eq!(listed["rows"], json!([]));
    assert_eq!(house.operate("GET", &format!("{one}/dead-letters"), NOTHING).await.code(), "not_found");
}

#[tokio::test]
async fn a_removed_endpoint_is_told_nothing_more_not_even_what_waited_for_it() {
    for route in ["webhooks", "keys"] {
        let (mut site, mut other) = (Site::open().await, Site::open().await);
        let (house, key, hook) = furnished(&site.url, json!(["message.sent"])).await;
        let beside = json!({ "name": "other", "url": other.url, "events": ["message.sent"] });
        house.operate("POST", "/api/v1/communities/acme/webhooks", Some(beside)).await.ok();
        site.open.send_replace(false);
        for text in ["one", "two"] {
            house.ask("POST", MESSAGES, &key, Some(json!({ "text": text }))).await.ok();
            other.next().await;
        }
        site.next().await;
        let one = format!("/api/v1/communities/acme/{route}/{}", hook["id"].as_str().expect("an id"));
        house.operate("DELETE", &one, NOTHING).await.ok();
        site.open.send_replace(true);
        delivered(&house, 3).await;
        house.ask("POST", MESSAGES, &key, Some(json!({ "text": "three" }))).await.ok();
        let (_, body) = other.next().await;
        assert!(body.windows(5).any(|part| part == b"three"));
        assert!(site.told.try_recv().is_err(), "by {route}");
    }
}

/// Waits until this many messages were delivered in total.
async fn delivered(house: &House, count: u64) {
    let look = async || {
        let stats = house.operate("GET", "/api/v1/stats", NOTHING).await.ok();
        (stats["webhooks_delivered"].as_u64() >= Some(count)).then_some(())
    };
    until("it is delivered in time", look).await;
}

/// Returns the first row once there is one.
pub(super) async fn eventually(house: &House, path: &str) -> Value {
    let look = async || house.operate("GET", path, NOTHING).await.ok()["rows"].get(0).cloned();
    until("it is given up in time", look).await
}

#[tokio::test]
async fn an_endpoint_inside_of_the_firewall_is_not_reached_by_a_name_or_plain_http() {
    let house = House::new();
    house.community("acme").await;
    for url in ["http://example.org/hook", "ftp://example.org", "https://user:secret@example.org/", "nowhere"]
    {
        let hook = Some(json!({ "name": "site", "url": url }));
        let refused = house.operate("POST", "/api/v1/communities/acme/webhooks", hook).await;
        assert_eq!(
            (refused.code().as_str(), &refused.json()["errors"][0]["field"]),
            ("invalid", &json!("url")),
            "{url}"
        );
    }
}

#[tokio::test]
async fn an_endpoint_is_told_what_is_said_as_soon_as_it_is_made_and_nothing_when_it_was_removed() {
    let mut site = Site::open().await;
    let (store, key, _) = store_with_a_site(&site).await;
    let sending = Sending::begin(&store);
    let house = &sending.house;
    house.community("beside").await;
    house.room("beside", "lobby").await;
    let other = house.key("beside", &["send"]).await;
    let path = "/api/v1/communities/beside/conversations/room:lobby/messages";
    let (mut late, hooks) = (Site::open().await, "/api/v1/communities/beside/webhooks");
    for round in ["first", "second"] {
        // From here on it is cached that there is no endpoint.
        house.ask("POST", path, &other, Some(json!({ "text": format!("before {round}") }))).await.ok();
        say(house, &key, round).await;
        assert_eq!(heard(&mut site).await.1, round);
        let hook = json!({ "name": "late", "url": late.url, "events": ["message.sent"] });
        let made = house.operate("POST", hooks, Some(hook)).await.ok();
        house.ask("POST", path, &other, Some(json!({ "text": round }))).await.ok();
        assert_eq!(heard(&mut late).await.1, round);
        let one = format!("{hooks}/{}", made["id"].as_str().expect("an id"));
        house.operate("DELETE", &one, NOTHING).await.ok();
        house.ask("POST", path, &other, Some(json!({ "text": format!("after {round}") }))).await.ok();
    }
    say(house, &key, "last").await;
    assert_eq!(heard(&mut site).await.1, "last");
    assert!(late.told.try_recv().is_err(), "it was removed");
    sending.end().await;
}
