//! Guests get tokens without credentials, if a community accepts guests, and keep their identity with a renewed one.

use crate::house::{self, Answer, House, NOTHING, token};
use serde_json::{Value, json};

const GUESTS: &str = "/api/v1/communities/acme/guests";
const LOBBY: &str = "/api/v1/communities/acme/conversations/room:lobby";

async fn furnished() -> House {
    let house = House::new();
    house.community("acme").await;
    house.room("acme", "lobby").await;
    house
}

/// Sends a request without credentials.
async fn strangers(house: &House, path: &str, body: Value) -> Answer {
    house.ask_with("POST", path, &[], Some(body.to_string())).await
}

fn text<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer[name].as_str().unwrap_or_else(|| panic!("no {name} in {answer}"))
}

#[tokio::test]
async fn a_stranger_becomes_a_guest_who_reads_and_writes_and_stays_the_same_one() {
    let house = furnished().await;
    let gil = strangers(&house, GUESTS, json!({ "name": "Gil" })).await.ok();
    assert!(text(&gil, "person").starts_with("guest:"), "{gil}");
    assert!(gil["expires_s"].as_u64().expect("a time") > house::seconds());
    let shown = text(&gil, "token");
    let member = format!("{LOBBY}/members/{}", text(&gil, "person"));
    house.ask("PUT", &member, shown, Some(json!({}))).await.ok();
    let sent =
        house.ask("POST", &format!("{LOBBY}/messages"), shown, Some(json!({ "text": "hi" }))).await.ok();
    assert_eq!(sent["sender"], gil["person"]);
    let renewed = house.ask("POST", GUESTS, shown, Some(json!({ "name": "Somebody else" }))).await.ok();
    assert_eq!((&renewed["person"], &renewed["name"]), (&gil["person"], &json!("Gil")));
    assert_ne!(renewed["token"], gil["token"]);
    let other = strangers(&house, GUESTS, json!({})).await.ok();
    assert_ne!(other["person"], gil["person"]);
}

#[tokio::test]
async fn nobody_is_stored_before_they_come_in() {
    let house = furnished().await;
    let before = house.export("acme");
    strangers(&house, GUESTS, json!({ "name": "Gil" })).await.ok();
    assert_eq!(house.export("acme"), before);
}

#[tokio::test]
async fn who_takes_no_guests_and_who_is_not_there_answer_alike() {
    let house = furnished().await;
    let settings = json!({ "name": "acme", "guests": "refused" });
    house.operate("PUT", "/api/v1/communities/acme", Some(settings)).await.ok();
    let refused = strangers(&house, GUESTS, json!({})).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (403, "guests_refused"));
    let nowhere = strangers(&house, "/api/v1/communities/nowhere/guests", json!({})).await;
    assert_eq!((refused.status, refused.text), (nowhere.status, nowhere.text));
}

#[tokio::test]
async fn strangers_have_nothing_but_that() {
    let house = furnished().await;
    for path in [format!("{LOBBY}/messages"), "/api/v1/communities/acme/people".to_owned()] {
        let refused = house.ask_with("GET", &path, &[], None).await;
        assert_eq!(refused.code(), "credentials_missing", "{path}");
    }
}

#[tokio::test]
async fn what_is_no_guest_is_not_renewed_and_what_is_no_name_is_refused() {
    let house = furnished().await;
    let ann = house.ask("POST", GUESTS, &token("acme", "ann"), Some(json!({}))).await;
    assert_eq!(ann.code(), "caller_refused");
    let named = strangers(&house, GUESTS, json!({ "name": "a\u{7}b" })).await;
    assert_eq!(named.json()["errors"][0]["field"], "name");
    let unknown = strangers(&house, GUESTS, json!({ "colour": "red" })).await;
    assert_eq!(unknown.code(), "invalid");
}

#[tokio::test]
async fn a_guest_who_was_revoked_gets_no_newer_token() {
    let house = furnished().await;
    let key = house.key("acme", &["manage_people", "list"]).await;
    let gil = strangers(&house, GUESTS, json!({})).await.ok();
    let (shown, person) = (text(&gil, "token"), text(&gil, "person"));
    house.ask("GET", "/api/v1/communities/acme", shown, NOTHING).await.ok();
    let revocations = format!("/api/v1/communities/acme/people/{person}/revocations");
    house.ask("POST", &revocations, &key, Some(json!({}))).await.ok();
    assert_eq!(house.ask("POST", GUESTS, shown, Some(json!({}))).await.code(), "token_revoked");
}
