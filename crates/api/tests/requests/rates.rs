//! Who sends too many requests or messages has to wait, and nobody else does.

use crate::house::{House, NOTHING, token};
use crate::{LOBBY, furnished, send};
use api::Rate;
use chat::MemoryStore;
use serde_json::{Value, json};
use std::sync::Arc;

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
