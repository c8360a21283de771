//! A community's own site is asked for permission over real connections; its answer applies to REST.

use crate::house::{self, House, NOTHING, token, token_with};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use identity::{SigningSecret, UnixSeconds, verify};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const AUTHORIZER: &str = "/api/v1/communities/acme/authorizer";
const LOBBY: &str = "/api/v1/communities/acme/conversations/room:lobby";
const MEMBER: &str = "/api/v1/communities/acme/conversations/room:lobby/members/ann";

/// A site that records questions, and its answer: none, or a status with a body.
#[derive(Clone, Default)]
struct Site {
    asked: Arc<Mutex<Vec<(HeaderMap, String)>>>,
    answer: Arc<Mutex<Option<(u16, Value)>>>,
}

impl Site {
    async fn open() -> (Self, String) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/may", listener.local_addr().expect("an address"));
        let site = Self::default();
        let routes = Router::new().route("/may", post(judge)).with_state(site.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        (site, url)
    }

    fn answers(&self, status: u16, body: Value) {
        *self.answer.lock().expect("not poisoned") = Some((status, body));
    }

    fn answers_nothing(&self) {
        *self.answer.lock().expect("not poisoned") = None;
    }

    /// Takes what it was asked, as action and object.
    fn asked(&self) -> Vec<(String, String)> {
        let asked = std::mem::take(&mut *self.asked.lock().expect("not poisoned"));
        let text = |body: &Value, name: &str| body[name].as_str().expect("text").to_owned();
        let read = |body: &str| serde_json::from_str::<Value>(body).expect("JSON");
        asked
            .iter()
            .map(|(_, body)| read(body))
            .map(|body| (text(&body, "action"), text(&body, "object")))
            .collect()
    }
}

async fn judge(State(site): State<Site>, headers: HeaderMap, body: String) -> (StatusCode, String) {
    site.asked.lock().expect("not poisoned").push((headers, body));
    let answer = site.answer.lock().expect("not poisoned").clone();
    match answer {
        Some((status, body)) => (StatusCode::from_u16(status).expect("a status"), body.to_string()),
        None => std::future::pending().await,
    }
}

/// A community whose site is asked about these actions.
async fn furnished(actions: Value, more: Value) -> (House, Site, Value) {
    let house = House::new();
    house.community("acme").await;
    house.room("acme", "lobby").await;
    let (site, url) = Site::open().await;
    let mut wanted = json!({ "url": url, "actions": actions });
    for (name, value) in more.as_object().expect("settings") {
        wanted[name] = value.clone();
    }
    let made = house.operate("PUT", AUTHORIZER, Some(wanted)).await.ok();
    (house, site, made)
}

fn pair(action: &str, object: &str) -> (String, String) {
    (action.to_owned(), object.to_owned())
}

#[tokio::test]
async fn a_person_may_what_the_site_says_and_the_question_is_signed() {
    let (house, site, made) = furnished(json!(["connect", "join", "send"]), json!({})).await;
    let ann = token("acme", "ann");
    site.answers(200, json!({ "allow": false, "reason": "members only" }));
    let refused = house.ask("PUT", MEMBER, &ann, Some(json!({}))).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "refused_by_site"));
    assert_eq!(refused.json()["detail"], "members only");
    let secret = SigningSecret::parse(made["secret"].as_str().expect("it is told")).expect("a secret");
    let (headers, body) = site.asked.lock().expect("not poisoned")[0].clone();
    let header = |name: &str| headers[name].to_str().expect("text").to_owned();
    let [id, at, signature] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map(header);
    let now = UnixSeconds(house::seconds());
    assert_eq!(verify(&secret, &id, &at, &signature, body.as_bytes(), now), Ok(()));
    assert_eq!(site.asked(), [pair("connect", "acme")]);

    site.answers(200, json!({ "allow": true }));
    house.ask("PUT", MEMBER, &ann, Some(json!({}))).await.ok();
    assert_eq!(site.asked(), [pair("connect", "acme"), pair("join", "room:acme/lobby")]);
    let messages = format!("{LOBBY}/messages");
    house.ask("POST", &messages, &ann, Some(json!({ "text": "hello" }))).await.ok();
    assert_eq!(site.asked(), [pair("connect", "acme"), pair("send", "room:acme/lobby")]);
}

#[tokio::test]
async fn an_answer_is_remembered_as_long_as_it_says_or_until_it_is_forgotten() {
    let (house, site, _) = furnished(json!(["connect"]), json!({})).await;
    let (ann, path) = (token("acme", "ann"), "/api/v1/communities/acme/people/ann/conversations");
    site.answers(200, json!({ "allow": true, "ttl": 600 }));
    for _ in 0..3 {
        house.ask("GET", path, &ann, NOTHING).await.ok();
    }
    assert_eq!(site.asked().len(), 1);
    house.operate("DELETE", "/api/v1/communities/acme/people/ann/permissions", NOTHING).await.ok();
    site.answers(200, json!({ "allow": false }));
    assert_eq!(house.ask("GET", path, &ann, NOTHING).await.code(), "refused_by_site");
    let shown = house.operate("GET", AUTHORIZER, NOTHING).await.ok();
    assert_eq!((&shown["asked"]["requests"], &shown["asked"]["remembered"]), (&json!(2), &json!(2)));
    assert!(shown.get("secret").is_none(), "it is told once");
}

#[tokio::test]
async fn a_site_that_does_not_answer_counts_as_its_owner_says() {
    let path = "/api/v1/communities/acme/people/ann/conversations";
    let ann = token("acme", "ann");
    for (unanswered, status) in [("refuse", 503), ("allow", 200)] {
        let settings = json!({ "unanswered": unanswered, "timeout_ms": 100 });
        let (house, site, _) = furnished(json!(["connect"]), settings).await;
        site.answers_nothing();
        let late = house.ask("GET", path, &ann, NOTHING).await;
        assert_eq!(late.status.as_u16(), status, "{}", late.text);
        site.answers(500, json!({}));
        let failed = house.ask("GET", path, &ann, NOTHING).await;
        assert_eq!(failed.status.as_u16(), status, "{}", failed.text);
        if status == 503 {
            assert_eq!(failed.code(), "site_unavailable");
            assert!(failed.headers.contains_key("retry-after"));
        }
    }
}

#[tokio::test]
async fn keys_are_the_sites_own_and_nobody_is_asked_about_them_nor_in_other_communities() {
    let (house, site, _) = furnished(json!(["connect", "join", "send"]), json!({})).await;
    site.answers(200, json!({ "allow": false }));
    let key = house.key("acme", &["send", "manage_people", "manage_rooms"]).await;
    house.ask("PUT", "/api/v1/communities/acme/people/ann", &key, Some(json!({ "name": "Ann" }))).await.ok();
    house.ask("PUT", MEMBER, &key, Some(json!({}))).await.ok();
    house.ask("POST", &format!("{LOBBY}/messages"), &key, Some(json!({ "text": "news" }))).await.ok();
    house.community("other").await;
    let there = "/api/v1/communities/other/people/ann/conversations";
    house.ask("GET", there, &token("other", "ann"), NOTHING).await.ok();
    assert_eq!(site.asked(), []);
}

#[tokio::test]
async fn nobody_is_asked_about_who_shows_a_revoked_token_and_it_makes_nobody_an_owner() {
    let (house, site, _) = furnished(json!(["connect"]), json!({})).await;
    let (key, ann) =
        (house.key("acme", &["manage_people", "list"]).await, "/api/v1/communities/acme/people/ann");
    house.ask("PUT", ann, &key, Some(json!({ "name": "Ann" }))).await.ok();
    house.ask("POST", &format!("{ann}/revocations"), &key, Some(json!({}))).await.ok();
    site.answers(200, json!({ "allow": true }));
    let stolen = token_with("acme", "ann", &json!({ "roles": ["owner"] }));
    let keys = house.ask("GET", "/api/v1/communities/acme/keys", &stolen, NOTHING).await;
    assert_eq!(keys.code(), "token_revoked");
    assert_eq!(site.asked(), []);
    let stored = house.ask("GET", ann, &key, NOTHING).await.ok();
    assert!(stored.get("role").is_none_or(Value::is_null), "{stored}");
}

#[tokio::test]
async fn whoever_may_not_know_of_a_room_does_not_learn_of_it_by_the_sites_no() {
    let (house, site, _) = furnished(json!(["join"]), json!({})).await;
    site.answers(200, json!({ "allow": false }));
    let cellar = json!({ "name": "cellar", "kind": "private", "title": "Cellar" });
    let cellar = house.operate("POST", "/api/v1/communities/acme/rooms", Some(cellar)).await.ok();
    let path = |id: &str| format!("/api/v1/communities/acme/conversations/{id}/members/ann");
    let ask = async |id: &str| house.ask("PUT", &path(id), &token("acme", "ann"), Some(json!({}))).await;
    let there = ask(cellar["id"].as_str().expect("an id")).await;
    let nowhere = ask("01ARZ3NDEKTSV4RRFFQ69G5FAV").await;
    assert_eq!((there.status.as_u16(), &there.text), (404, &nowhere.text));
}

#[tokio::test]
async fn a_site_that_is_changed_keeps_its_secret_until_it_is_removed() {
    let (house, site, made) = furnished(json!(["connect"]), json!({})).await;
    let url = made["url"].clone();
    let changed = json!({ "url": url, "actions": ["send"], "unanswered": "allow" });
    let changed = house.operate("PUT", AUTHORIZER, Some(changed)).await.ok();
    assert!(changed.get("secret").is_none(), "{changed}");
    assert_eq!((&changed["actions"], &changed["unanswered"]), (&json!(["send"]), &json!("allow")));
    house.operate("DELETE", AUTHORIZER, NOTHING).await.ok();
    assert_eq!(house.operate("GET", AUTHORIZER, NOTHING).await.code(), "not_found");
    let path = "/api/v1/communities/acme/people/ann/conversations";
    house.ask("GET", path, &token("acme", "ann"), NOTHING).await.ok();
    assert_eq!(site.asked(), []);
    let anew = json!({ "url": url, "actions": ["send"] });
    let anew = house.operate("PUT", AUTHORIZER, Some(anew)).await.ok();
    assert_ne!(anew["secret"], made["secret"]);
}
