//! Webhooks over real connections: what a host site is told, in which order, and what is given up.

mod house;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use house::{House, NOTHING};
use identity::{SigningSecret, UnixSeconds, verify};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

const GENEROUS: Duration = Duration::from_secs(60);

/// A host site: what it was told, and the status that it answers.
struct Site {
    told: mpsc::UnboundedReceiver<(HeaderMap, Bytes)>,
    status: Arc<AtomicU16>,
    url: String,
}

type Answering = (mpsc::UnboundedSender<(HeaderMap, Bytes)>, Arc<AtomicU16>);

impl Site {
    async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let (sender, told) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(204));
        let routes = Router::new().route("/hook", post(receive)).with_state((sender, status.clone()));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { told, status, url }
    }

    async fn next(&mut self) -> (HeaderMap, Bytes) {
        tokio::time::timeout(GENEROUS, self.told.recv()).await.expect("in time").expect("the site is open")
    }
}

async fn receive(State((told, status)): State<Answering>, headers: HeaderMap, body: Bytes) -> StatusCode {
    told.send((headers, body)).expect("the test listens");
    StatusCode::from_u16(status.load(Ordering::Relaxed)).expect("a status")
}

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

const MESSAGES: &str = "/api/v1/communities/acme/conversations/room:lobby/messages";

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
async fn what_is_given_up_can_be_seen_and_a_removed_endpoint_is_told_nothing() {
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

async fn eventually(house: &House, path: &str) -> Value {
    let look = async {
        loop {
            let rows = house.operate("GET", path, NOTHING).await.ok()["rows"].clone();
            if let Some(first) = rows.as_array().and_then(|rows| rows.first()) {
                return first.clone();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(GENEROUS, look).await.expect("it is given up in time")
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
