//! What an erased person leaves, and what an export contains.

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
