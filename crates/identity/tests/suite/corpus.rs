//! Untrusted tokens: the corpus of the fuzz target `token`, and random ones.

use std::fs;
use std::path::Path;

use identity as token;
use proptest::prelude::*;

#[path = "../properties/token.rs"]
mod property;

#[test]
fn every_input_of_the_corpus_holds_the_property() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/token");
    let inputs = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for input in inputs {
        let path = input.expect("a directory entry").path();
        // On failure the captured output ends with the input's name.
        eprintln!("{}", path.display());
        property::what_is_read_is_within_bounds(&fs::read(&path).expect("a readable input"));
        count += 1;
    }
    assert!(count > 0, "the corpus is empty");
}

/// JSON that resembles claims: their names, with values of each type.
fn claims_like() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "sub", "aud", "exp", "nbf", "iat", "jti", "name", "avatar", "roles", "rooms", "other",
    ]);
    let text = prop_oneof!["[ -~]{0,12}", any::<String>(), Just("https://a/".to_owned())];
    let value = prop_oneof![
        text.clone().prop_map(serde_json::Value::from),
        prop::collection::vec(text, 0..4).prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        (0..4_000_000_000u64).prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    let required = Just(r#""sub":"ann","aud":"club","exp":1800000000"#.to_owned());
    let members = prop::collection::vec((name, value), 0..6).prop_map(|members| {
        members.iter().map(|(name, value)| format!(r#""{name}":{value}"#)).collect::<Vec<_>>().join(",")
    });
    (prop_oneof![required, Just(String::new())], members).prop_map(|(required, members)| {
        let comma = if required.is_empty() || members.is_empty() { "" } else { "," };
        format!("{{{required}{comma}{members}}}")
    })
}

proptest! {
    #[test]
    fn random_claims_hold_the_property(claims in claims_like()) {
        property::what_is_read_is_within_bounds(format!("\u{2}{claims}").as_bytes());
        property::what_is_read_is_within_bounds(format!("\u{1}{{\"alg\":\"HS256\"}}\n{claims}").as_bytes());
    }

    #[test]
    fn random_texts_hold_the_property(text in "\\PC{0,40}(\\.[A-Za-z0-9_-]{0,40}){0,3}") {
        property::what_is_read_is_within_bounds(format!("\u{0}{text}").as_bytes());
    }
}
