//! What an erased person and an erased room leave, and what an export contains.

use crate::house::{NOTHING, SITE_SECRET, seconds, token, token_with};
use crate::{furnished, send};
use chat::CommunityId;
use identity::{Refusal, Token};
use messenger::{Credentials, Rejection};
use serde_json::{Value, json};

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
    assert!(!whole.text.contains(SITE_SECRET), "an export holds no keys");
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

    let later = token_with("acme", "ann", &json!({ "iat": seconds() + 1, "name": "Another Ann" }));
    come(&later).await.expect("a new person");
    assert_eq!(house.ask("GET", one, &later, NOTHING).await.ok()["name"], "Another Ann");
}

#[tokio::test]
async fn a_room_is_erased_by_who_may_and_there_for_nobody_and_its_name_is_free() {
    let (house, key) = furnished().await;
    let (ann, room) = (token("acme", "ann"), "/api/v1/communities/acme/conversations/room:lobby");
    for number in 0..3 {
        send(&house, &ann, &format!("private {number}")).await.ok();
    }
    let reader = house.key("acme", &["list"]).await;
    let elsewhere = token_with("acme", "boss", &json!({ "roles": ["owner"], "rooms": ["den"] }));
    let moderator = token_with("acme", "mod", &json!({ "roles": ["moderator"] }));
    for (bearer, code) in [
        (&reader, "scope_missing"),
        (&ann, "not_permitted"),
        (&moderator, "not_permitted"),
        (&elsewhere, "not_found"),
    ] {
        assert_eq!(house.ask("DELETE", room, bearer, NOTHING).await.code(), code);
    }
    let boss = token_with("acme", "boss", &json!({ "roles": ["owner"], "rooms": ["lobby"] }));
    let report = house.ask("DELETE", room, &boss, NOTHING).await.ok();
    assert_eq!((&report["messages"], &report["done"]), (&json!(3), &json!(true)), "{report}");
    for bearer in [&key, &boss, &ann] {
        assert_eq!(house.ask("DELETE", room, bearer, NOTHING).await.code(), "not_found");
        assert_eq!(house.ask("GET", room, bearer, NOTHING).await.code(), "not_found");
    }
    let whole = house.operate("GET", "/api/v1/communities/acme/export", NOTHING).await.text;
    assert!(!whole.contains("private"), "{whole}");
    let log = house.operate("GET", "/api/v1/communities/acme/audit?limit=1", NOTHING).await.ok();
    let entry = &log["rows"][0];
    assert_eq!(
        (&entry["deed"], &entry["by"], &entry["note"], &entry["conversation"]),
        (&json!("erase_conversation"), &json!("boss"), &json!("lobby"), &Value::Null)
    );
    house.room("acme", "lobby").await;
    let hidden = house.ask("GET", &format!("{room}/messages"), &key, NOTHING).await.ok();
    assert_eq!(hidden["messages"], json!([]));
}

#[tokio::test]
async fn a_conversation_of_two_is_not_erased_alone_and_a_group_by_its_owner() {
    let (house, key) = furnished().await;
    let (ann, bob) = (token("acme", "ann"), token("acme", "bob"));
    let at = |path: &str| format!("/api/v1/communities/acme{path}");
    let member = at("/conversations/room:lobby/members/bob");
    house.ask("PUT", &at("/people/bob"), &key, Some(json!({ "name": "Bob" }))).await.ok();
    house.ask("PUT", &member, &key, Some(json!({}))).await.ok();
    let made = async |path: &str, body| {
        let made = house.ask("POST", &at(path), &ann, Some(body)).await.ok();
        at(&format!("/conversations/{}", made["id"].as_str().expect("an id")))
    };
    let direct = made("/people/ann/direct", json!({ "with": "bob" })).await;
    for bearer in [&ann, &key] {
        let refused = house.ask("DELETE", &direct, bearer, NOTHING).await;
        let errors = refused.json()["errors"].clone();
        assert_eq!((refused.code().as_str(), &errors[0]["field"]), ("invalid", &json!("conversation")));
    }
    let group = made("/people/ann/groups", json!({ "with": ["bob"], "title": "We" })).await;
    assert_eq!(house.ask("DELETE", &group, &bob, NOTHING).await.code(), "not_permitted");
    assert_eq!(house.ask("DELETE", &group, &ann, NOTHING).await.ok()["done"], true);
    assert_eq!(house.ask("GET", &group, &bob, NOTHING).await.code(), "not_found");
}
