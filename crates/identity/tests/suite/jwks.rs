//! Keys published by a host site, over HTTP.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use identity::{Algorithm, Authority, Code, Jwks, JwksError, JwksSettings, Refusal, Token, read_jwks};
use serde_json::{Value, json};

use crate::signing::{NOW, SigningKey, authority, good_claims, jwk};
use crate::site::{DEADLINE, Site, answer, outbound};

/// A site's response, a status and a body, which tests change.
type Published = Arc<Mutex<(u16, String)>>;

async fn publish(keys: &[Value]) -> (Site, Published) {
    let published: Published = Arc::new(Mutex::new((200, json!({"keys": keys}).to_string())));
    let at_site = published.clone();
    let site = Site::start(move |_| {
        let (status, body) = at_site.lock().expect("no panic").clone();
        async move { answer(status, body) }
    })
    .await;
    (site, published)
}

/// Keys are never fresh, and may be requested at any time.
fn impatient() -> JwksSettings {
    JwksSettings {
        fresh_min: Duration::ZERO,
        fresh_max: Duration::ZERO,
        pause_min: Duration::ZERO,
        ..JwksSettings::default()
    }
}

fn believing(site: &Site, settings: JwksSettings) -> Authority {
    authority(Vec::new()).with_published(Jwks::new(site.target("/jwks.json"), outbound(), settings))
}

fn signed(algorithm: Algorithm, kid: &str) -> Token {
    SigningKey::of(algorithm).token(&json!({"alg": algorithm.name(), "kid": kid}), &good_claims())
}

#[tokio::test]
async fn published_keys_are_fetched_once_for_all_who_come() {
    let keys = [jwk(Algorithm::Rs256, "r"), jwk(Algorithm::Es256, "e"), jwk(Algorithm::EdDsa, "d")];
    let (site, _) = publish(&keys).await;
    let authority = believing(&site, JwksSettings::default());
    let coming: Vec<_> = [(Algorithm::Rs256, "r"), (Algorithm::Es256, "e"), (Algorithm::EdDsa, "d")]
        .into_iter()
        .cycle()
        .take(30)
        .map(|(algorithm, kid)| {
            let authority = authority.clone();
            tokio::spawn(async move { authority.verify(&signed(algorithm, kid), NOW).await })
        })
        .collect();
    for one in coming {
        assert!(one.await.expect("no panic").is_ok());
    }
    let refusal = authority.verify(&signed(Algorithm::Es256, "other"), NOW).await.expect_err("no such key");
    assert_eq!(refusal, Refusal::KeyUnknown { kid: Some("other".into()) });
    let seen = site.seen();
    assert_eq!(seen.len(), 1, "an unknown key right after a request is no reason for another");
    assert_eq!((seen[0].path.as_str(), seen[0].header("accept")), ("/jwks.json", "application/json"));
}

#[tokio::test]
async fn a_new_key_is_found_by_the_token_that_names_it() {
    let (site, published) = publish(&[jwk(Algorithm::Rs256, "old")]).await;
    let settings = JwksSettings { pause_min: Duration::ZERO, ..JwksSettings::default() };
    let authority = believing(&site, settings);
    assert!(authority.verify(&signed(Algorithm::Rs256, "old"), NOW).await.is_ok());
    *published.lock().expect("no panic") = (200, json!({"keys": [jwk(Algorithm::EdDsa, "new")]}).to_string());
    assert!(authority.verify(&signed(Algorithm::EdDsa, "new"), NOW).await.is_ok());
    let refusal =
        authority.verify(&signed(Algorithm::Rs256, "old"), NOW).await.expect_err("it was withdrawn");
    assert_eq!(refusal, Refusal::KeyUnknown { kid: Some("old".into()) });
}

#[tokio::test]
async fn known_keys_are_believed_while_the_source_is_away() {
    let (site, published) = publish(&[jwk(Algorithm::EdDsa, "d")]).await;
    let authority = believing(&site, impatient());
    assert!(authority.verify(&signed(Algorithm::EdDsa, "d"), NOW).await.is_ok());
    for (status, body) in [(500, ""), (200, "{"), (200, r#"{"keys":[]}"#), (302, "")] {
        *published.lock().expect("no panic") = (status, body.to_owned());
        let before = site.seen().len();
        let until_asked_again = async {
            // More than once: while a request with the previous response is pending, no other starts.
            while site.seen().len() == before {
                assert!(
                    authority.verify(&signed(Algorithm::EdDsa, "d"), NOW).await.is_ok(),
                    "{status} {body}"
                );
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(DEADLINE, until_asked_again).await.expect("the keys are asked for again");
    }
    site.stop();
    let refusal = loop {
        // A request that began before may still end with the previous response.
        match authority.verify(&signed(Algorithm::EdDsa, "other"), NOW).await.expect_err("no such key") {
            Refusal::KeysUnavailable => break Refusal::KeysUnavailable,
            Refusal::KeyUnknown { .. } => {}
            other => panic!("{other}"),
        }
    };
    assert_eq!(refusal.code(), Code::TokenUnverifiable);
    assert!(authority.verify(&signed(Algorithm::EdDsa, "d"), NOW).await.is_ok());
}

#[tokio::test]
async fn a_source_that_never_answers_is_not_waited_for_longer_than_its_time() {
    let site = Site::start(|_| async { std::future::pending().await }).await;
    let settings = JwksSettings { timeout: Duration::from_millis(50), ..JwksSettings::default() };
    let refusal = believing(&site, settings).verify(&signed(Algorithm::EdDsa, "d"), NOW).await;
    assert_eq!(refusal.expect_err("nobody knows"), Refusal::KeysUnavailable);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_none() {
    let (site, _) = publish(&[jwk(Algorithm::EdDsa, "d"), json!({"padding": "x".repeat(64 << 10)})]).await;
    let refusal = believing(&site, JwksSettings::default()).verify(&signed(Algorithm::EdDsa, "d"), NOW).await;
    assert_eq!(refusal.expect_err("too large"), Refusal::KeysUnavailable);
}

#[tokio::test]
async fn a_published_key_is_pinned_and_never_a_secret() {
    let (site, _) = publish(&[jwk(Algorithm::Rs256, "r"), jwk(Algorithm::Hs256, "s")]).await;
    let authority = believing(&site, JwksSettings::default());
    let refusal = authority.verify(&signed(Algorithm::Hs256, "r"), NOW).await.expect_err("not its algorithm");
    assert_eq!(refusal, Refusal::AlgorithmMismatch { header: Algorithm::Hs256, key: Algorithm::Rs256 });
    let refusal =
        authority.verify(&signed(Algorithm::Hs256, "s"), NOW).await.expect_err("a published secret");
    assert_eq!(refusal, Refusal::KeyUnknown { kid: Some("s".into()) });
}

#[tokio::test]
async fn a_token_that_names_no_key_causes_no_request() {
    let (site, _) = publish(&[jwk(Algorithm::EdDsa, "d")]).await;
    let token = SigningKey::eddsa().token(&json!({"alg": "EdDSA"}), &good_claims());
    let refusal = believing(&site, impatient()).verify(&token, NOW).await.expect_err("which key?");
    assert_eq!(refusal, Refusal::KeyUnknown { kid: None });
    assert!(site.seen().is_empty());
}

#[test]
fn keys_that_cannot_be_used_are_passed_over_with_the_reason() {
    let with = |name: &str, value: Value| {
        let mut key = jwk(Algorithm::Es256, "e");
        key[name] = value;
        key
    };
    let (short, p384) = (with("x", json!("AAAA")), with("crv", json!("P-384")));
    let unusable = [
        json!(7),
        json!({"kty": "RSA", "kid": "r", "n": "AAAA", "e": "AQAB"}),
        jwk(Algorithm::Hs256, "s"),
        with("use", json!("enc")),
        with("key_ops", json!(["sign"])),
        with("alg", json!("RS256")),
        with("kid", Value::Null),
        short,
        p384,
    ];
    for key in unusable {
        let set = json!({"keys": [key, jwk(Algorithm::EdDsa, "d")]}).to_string();
        let (keys, skipped) = read_jwks(set.as_bytes()).expect("a set");
        assert_eq!(keys.iter().map(|key| key.kid()).collect::<Vec<_>>(), [Some("d")], "{set}");
        assert_eq!(skipped.len(), 1);
        assert!(skipped[0].place == 0 && !skipped[0].why.is_empty(), "{:?}", skipped[0]);
    }
    let (keys, skipped) = read_jwks(
        json!({"keys": [with("alg", json!("ES256")), jwk(Algorithm::Rs256, "r")]}).to_string().as_bytes(),
    )
    .expect("a set");
    assert_eq!((keys.len(), skipped.len()), (2, 0));
}

#[test]
fn what_is_no_set_of_keys_is_refused_as_a_whole() {
    assert_eq!(read_jwks(b"[]").expect_err("no set"), JwksError::NotASet);
    let same = json!({"keys": [jwk(Algorithm::EdDsa, "d"), jwk(Algorithm::Es256, "d")]}).to_string();
    assert_eq!(read_jwks(same.as_bytes()).expect_err("one id twice"), JwksError::Repeated { place: 1 });
    let many = json!({"keys": vec![json!({}); 33]}).to_string();
    assert_eq!(read_jwks(many.as_bytes()).expect_err("too many"), JwksError::TooMany { keys: 33 });
}
