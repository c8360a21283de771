//! Who may act as whom: keys, scopes, people's tokens, the operator.

use crate::house::{NOTHING, SITE_SECRET, token, token_with};
use crate::{LOBBY, furnished, send};
use serde_json::json;

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
        (json!({ "kind": "token", "algorithm": "none", "material": SITE_SECRET }), "purpose.algorithm"),
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
