//! Which tokens are accepted, and why others are not.

use identity::{
    Algorithm, BadKey, BadKeySet, ClaimFault, Code, Key, KeySet, Part, Presented, Refusal, Token, UnixSeconds,
};
use serde_json::{Value, json};

use crate::signing::{
    self, COMMUNITY, NOW, SECRET, SigningKey, authority, claims_with, decode, encode, good_claims, key, pem,
    verify,
};

#[test]
fn the_examples_of_the_rfcs_verify() {
    let joe =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";
    let a1 = decode("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
    for (key, header, payload, signature) in [
        (
            Key::hs256(&a1).expect("a secret"),
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
            joe,
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
        ),
        (
            key(Algorithm::Rs256),
            "eyJhbGciOiJSUzI1NiJ9",
            joe,
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
        ),
        (
            key(Algorithm::Es256),
            "eyJhbGciOiJFUzI1NiJ9",
            joe,
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
        ),
        (
            key(Algorithm::EdDsa),
            "eyJhbGciOiJFZERTQSJ9",
            "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
        ),
    ] {
        let text = format!("{header}.{payload}.{signature}");
        let set = KeySet::new(vec![key]).expect("a set");
        let judge = |text: &str| set.verify(&Presented::read(text).expect("three parts"), NOW);
        assert!(judge(&text).is_ok(), "{header}");
        assert_eq!(
            judge(&format!("{header}.{}.{signature}", &payload[4..])),
            Err(Refusal::Signature),
            "{header}"
        );
    }
}

#[test]
fn a_token_of_each_algorithm_is_believed_with_all_that_it_says() {
    for algorithm in Algorithm::ALL {
        let authority = authority(vec![key(algorithm).with_kid("k1").expect("a kid")]);
        let claims = json!({
            "sub": "ann", "aud": ["other", COMMUNITY], "exp": NOW.0 + 600, "nbf": NOW.0, "iat": NOW.0 as f64 + 0.5,
            "jti": "t1", "name": "Ann Ä", "avatar": "https://site.example/ann.png?s=64", "roles": ["staff"],
            "rooms": ["lobby"], "email": "ignored@site.example",
        });
        let header = json!({"alg": algorithm.name(), "kid": "k1", "typ": "JWT"});
        let verified =
            verify(&authority, &SigningKey::of(algorithm).token(&header, &claims), NOW).expect("it is good");
        assert_eq!(verified.community.as_str(), COMMUNITY);
        assert_eq!(verified.ends, UnixSeconds(NOW.0 + 630));
        let claims = verified.claims;
        assert_eq!((claims.subject.as_str(), claims.expires), ("ann", UnixSeconds(NOW.0 + 600)));
        assert_eq!((claims.not_before, claims.issued), (Some(NOW), Some(NOW)));
        assert_eq!((claims.name.as_deref(), claims.token_id.as_deref()), (Some("Ann Ä"), Some("t1")));
        assert_eq!(claims.avatar.as_deref(), Some("https://site.example/ann.png?s=64"));
        assert_eq!((claims.roles, claims.rooms), (vec!["staff".to_owned()], Some(vec!["lobby".to_owned()])));
    }
}

#[test]
fn no_key_verifies_by_another_algorithm() {
    for of_key in Algorithm::ALL {
        for of_header in Algorithm::ALL {
            for signer in Algorithm::ALL {
                let authority = authority(vec![key(of_key).with_kid("k1").expect("a kid")]);
                let header = json!({"alg": of_header.name(), "kid": "k1"});
                let token = SigningKey::of(signer).token(&header, &good_claims());
                let judged = verify(&authority, &token, NOW).map(|_| ());
                let expected = if of_header != of_key {
                    Err(Refusal::AlgorithmMismatch { header: of_header, key: of_key })
                } else if signer != of_key {
                    Err(Refusal::Signature)
                } else {
                    Ok(())
                };
                assert_eq!(judged, expected, "key {of_key}, header {of_header}, signed by {signer}");
            }
        }
    }
}

#[test]
fn a_public_key_is_no_secret_in_any_spelling() {
    for algorithm in [Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa] {
        let public = SigningKey::of(algorithm);
        let pem = pem(&public);
        let der = base64::Engine::decode(
            &base64::engine::general_purpose::STANDARD,
            pem.lines().filter(|line| !line.starts_with('-')).collect::<String>(),
        );
        let der = der.expect("base64");
        let jwk = signing::jwk(algorithm, "k1").to_string();
        for (with_kid, kid) in [(true, json!("k1")), (false, Value::Null)] {
            let key = key(algorithm);
            let authority = authority(vec![if with_kid { key.with_kid("k1").expect("a kid") } else { key }]);
            for secret in [pem.as_bytes(), pem.trim().as_bytes(), &der, jwk.as_bytes()] {
                let mut header = json!({"alg": "HS256"});
                if with_kid {
                    header["kid"] = kid.clone();
                }
                let token = SigningKey::hs256(secret).token(&header, &good_claims());
                let refusal = verify(&authority, &token, NOW).expect_err("forged");
                let expected = if with_kid {
                    Refusal::AlgorithmMismatch { header: Algorithm::Hs256, key: algorithm }
                } else {
                    Refusal::KeyUnknown { kid: None }
                };
                assert_eq!(refusal, expected);
            }
        }
        assert_eq!(Key::hs256(pem.as_bytes()).map(|_| ()), Err(BadKey::SecretIsPublic));
    }
}

#[test]
fn none_is_no_algorithm() {
    let authority = authority(Algorithm::ALL.map(key).to_vec());
    for alg in [
        json!("none"),
        json!("None"),
        json!("NONE"),
        json!("hs256"),
        json!("HS512"),
        json!(""),
        json!(null),
        json!(1),
    ] {
        let header = encode(json!({"alg": alg}).to_string().as_bytes());
        let claims = encode(good_claims().to_string().as_bytes());
        for signature in [String::new(), encode(b"signature")] {
            let token = Token::new(format!("{header}.{claims}.{signature}"));
            assert_eq!(
                verify(&authority, &token, NOW).expect_err("unsigned"),
                Refusal::AlgorithmUnknown,
                "{alg}"
            );
        }
    }
    let without = SigningKey::of(Algorithm::Hs256).token(&json!({"typ": "JWT"}), &good_claims());
    assert_eq!(verify(&authority, &without, NOW).expect_err("no alg"), Refusal::AlgorithmUnknown);
}

#[test]
fn a_header_cannot_bring_its_own_key() {
    let authority = authority(vec![key(Algorithm::Es256)]);
    let foreign = SigningKey::of(Algorithm::Rs256);
    let jwk = signing::jwk(Algorithm::Rs256, "mine");
    for header in [
        json!({"alg": "RS256", "jwk": jwk}),
        json!({"alg": "RS256", "jku": "https://forger.example/keys"}),
        json!({"alg": "RS256", "x5u": "https://forger.example/cert"}),
    ] {
        let refusal = verify(&authority, &foreign.token(&header, &good_claims()), NOW).expect_err("forged");
        assert_eq!(refusal, Refusal::KeyUnknown { kid: None });
    }
    let ours = SigningKey::of(Algorithm::Es256);
    for critical in [json!(["b64"]), json!(["exp"]), json!([])] {
        let header = json!({"alg": "ES256", "crit": critical, "b64": false});
        let refusal = verify(&authority, &ours.token(&header, &good_claims()), NOW).expect_err("critical");
        assert!(matches!(refusal, Refusal::Malformed { part: Part::Header, .. }), "{refusal}");
    }
}

#[test]
fn keys_are_rotated() {
    let old = Key::hs256(SECRET)
        .and_then(|key| key.with_kid("old"))
        .expect("a key")
        .until(UnixSeconds(NOW.0 + 100));
    let new = key(Algorithm::EdDsa).with_kid("new").expect("a kid");
    let authority = authority(vec![old, new]);
    let by = |algorithm: Algorithm, kid: &str| {
        SigningKey::of(algorithm).token(&json!({"alg": algorithm.name(), "kid": kid}), &good_claims())
    };
    let unknown = |kid: &str| Refusal::KeyUnknown { kid: Some(kid.to_owned()) };
    let judge = |token, later| verify(&authority, &token, UnixSeconds(NOW.0 + later)).map(|_| ());
    assert_eq!(judge(by(Algorithm::Hs256, "old"), 100), Ok(()));
    assert_eq!(judge(by(Algorithm::Hs256, "old"), 101), Err(unknown("old")));
    assert_eq!(judge(by(Algorithm::EdDsa, "new"), 101), Ok(()));
    assert_eq!(judge(by(Algorithm::EdDsa, "newer"), 0), Err(unknown("newer")));
    assert_eq!(
        judge(by(Algorithm::EdDsa, "old"), 0),
        Err(Refusal::AlgorithmMismatch { header: Algorithm::EdDsa, key: Algorithm::Hs256 })
    );
}

#[test]
fn without_an_id_each_key_of_the_algorithm_is_tried() {
    let other = Key::hs256(&[7; 32]).expect("a secret");
    let old = Key::hs256(&[8; 32]).expect("a secret").until(UnixSeconds(NOW.0 - 1));
    let authority = authority(vec![other, old, key(Algorithm::Hs256).with_kid("named").expect("a kid")]);
    let judge = |secret: &[u8]| {
        verify(&authority, &SigningKey::hs256(secret).token(&json!({"alg": "HS256"}), &good_claims()), NOW)
            .map(|_| ())
    };
    assert_eq!(judge(SECRET), Ok(()));
    assert_eq!(judge(&[7; 32]), Ok(()));
    assert_eq!(judge(&[8; 32]), Err(Refusal::Signature), "it is no longer valid");
    let ed = SigningKey::of(Algorithm::EdDsa).token(&json!({"alg": "EdDSA"}), &good_claims());
    assert_eq!(verify(&authority, &ed, NOW).expect_err("no such key"), Refusal::KeyUnknown { kid: None });
}

#[test]
fn each_claim_is_refused_with_its_name_and_reason() {
    let long = "x".repeat(10_000 / 8);
    let many = |count: usize| json!((0..count).map(|n| n.to_string()).collect::<Vec<_>>());
    let later = |seconds: u64| json!(NOW.0 + seconds);
    let (text, texts) =
        (ClaimFault::Type { expected: "a string" }, ClaimFault::Type { expected: "an array of strings" });
    let time = ClaimFault::Type { expected: "seconds since 1970, as a number" };
    let too_long = |max| ClaimFault::TooLong { max };
    let cases: &[(&'static str, Value, ClaimFault)] = &[
        ("sub", json!(null), ClaimFault::Missing),
        ("sub", json!(7), text),
        ("sub", json!(""), ClaimFault::Empty),
        ("sub", json!("  "), ClaimFault::Empty),
        ("sub", json!(long), too_long(128)),
        ("sub", json!("ann\n"), ClaimFault::Character),
        ("sub", json!(" ann"), ClaimFault::Character),
        ("sub", json!("a\u{0}nn"), ClaimFault::Character),
        ("sub", json!("a nn"), ClaimFault::Character),
        ("sub", json!("club/ann"), ClaimFault::Character),
        ("sub", json!("a\"nn"), ClaimFault::Character),
        ("sub", json!("a\\nn"), ClaimFault::Character),
        ("sub", json!("änn"), ClaimFault::Character),
        ("sub", json!("~service"), ClaimFault::Character),
        ("sub", json!("guest:1"), ClaimFault::Reserved),
        ("aud", json!(null), ClaimFault::Missing),
        ("aud", json!("other"), ClaimFault::Audience),
        ("aud", json!(["other", "clubs"]), ClaimFault::Audience),
        ("aud", json!([]), ClaimFault::Audience),
        ("aud", json!({COMMUNITY: true}), texts),
        ("aud", many(17), too_long(16)),
        ("exp", json!(null), ClaimFault::Missing),
        ("exp", json!("1900000000"), time),
        ("exp", json!(-1), time),
        ("exp", json!(NOW.0 * 1000), time),
        ("exp", later(24 * 3600 + 31), ClaimFault::TooFar),
        ("nbf", later(31), ClaimFault::InFuture),
        ("nbf", json!("soon"), time),
        ("iat", later(31), ClaimFault::InFuture),
        ("iat", json!(true), time),
        ("jti", json!(7), text),
        ("jti", json!(long), too_long(128)),
        ("name", json!(["Ann"]), text),
        ("name", json!("Ä".repeat(101)), too_long(200)),
        ("name", json!("Ann\u{202e}nimda"), ClaimFault::Character),
        ("avatar", json!("javascript:alert(1)"), ClaimFault::Address),
        ("avatar", json!("/ann.png"), ClaimFault::Address),
        ("avatar", json!("http://site.example/"), ClaimFault::Address),
        ("avatar", json!("https://"), ClaimFault::Address),
        ("avatar", json!("https://site.example/\"onload="), ClaimFault::Address),
        ("avatar", json!("https://site.example/a b"), ClaimFault::Address),
        ("avatar", json!(format!("https://{long}")), too_long(1024)),
        ("roles", json!("staff"), texts),
        ("roles", json!([1]), text),
        ("roles", many(17), too_long(16)),
        ("rooms", many(65), too_long(64)),
        ("rooms", json!([long]), too_long(128)),
    ];
    let authority = authority(vec![key(Algorithm::Hs256)]);
    for (name, value, fault) in cases {
        let token = SigningKey::of(Algorithm::Hs256)
            .token(&json!({"alg": "HS256"}), &claims_with(name, value.clone()));
        let refusal = verify(&authority, &token, NOW).expect_err("a bad claim");
        assert_eq!(refusal, Refusal::Claim { name, fault: *fault }, "{name}: {value}");
        assert_eq!(refusal.code(), Code::TokenInvalid);
        assert!(refusal.to_string().starts_with(&format!("{name}: ")), "{refusal}");
    }
}

#[test]
fn bounds_are_the_last_that_is_accepted() {
    let authority = authority(vec![key(Algorithm::Hs256)]);
    for (name, value) in [
        ("sub", json!("x".repeat(128))),
        ("name", json!("Ä".repeat(100))),
        ("exp", json!(NOW.0 + 24 * 3600 + 30)),
        ("exp", json!(NOW.0 - 29)),
        ("nbf", json!(NOW.0 + 30)),
        ("iat", json!(NOW.0 + 30)),
        ("iat", json!(null)),
        ("roles", json!((0..16).map(|n| n.to_string()).collect::<Vec<_>>())),
        ("rooms", json!([])),
        ("avatar", json!("https://[2001:db8::1]:8080/a")),
    ] {
        let token = SigningKey::of(Algorithm::Hs256)
            .token(&json!({"alg": "HS256"}), &claims_with(name, value.clone()));
        assert_eq!(verify(&authority, &token, NOW).map(|_| ()), Ok(()), "{name}: {value}");
    }
}

#[test]
fn an_expired_token_is_told_from_a_bad_one() {
    let authority = authority(vec![key(Algorithm::Hs256)]);
    let token = SigningKey::of(Algorithm::Hs256).token(&json!({"alg": "HS256"}), &good_claims());
    assert!(verify(&authority, &token, UnixSeconds(NOW.0 + 629)).is_ok(), "within the leeway");
    let refusal = verify(&authority, &token, UnixSeconds(NOW.0 + 630)).expect_err("expired");
    assert_eq!(refusal, Refusal::Expired { at: UnixSeconds(NOW.0 + 600) });
    assert_eq!(refusal.code().name(), "token_expired");
}

#[test]
fn a_token_for_longer_than_tokens_may_last_is_not_accepted_at_its_end_either() {
    let authority = authority(vec![key(Algorithm::Hs256)]);
    let week = 7 * 24 * 3600;
    let claims = claims_with("exp", json!(NOW.0 + week));
    let token = SigningKey::of(Algorithm::Hs256).token(&json!({"alg": "HS256"}), &claims);
    for now in [NOW.0, NOW.0 + week - 60] {
        let refusal = verify(&authority, &token, UnixSeconds(now)).expect_err("signed for too long");
        assert_eq!(refusal, Refusal::Claim { name: "exp", fault: ClaimFault::TooFar });
    }
}

#[test]
fn what_is_no_token_is_refused_by_the_part_that_is_wrong() {
    let authority = authority(vec![key(Algorithm::Hs256)]);
    let signing = SigningKey::of(Algorithm::Hs256);
    let good = signing.token(&json!({"alg": "HS256"}), &good_claims());
    let [header, claims, signature] =
        [0, 1, 2].map(|part| good.expose().split('.').nth(part).expect("a part"));
    let part_of = |text: String| match verify(&authority, &Token::new(text), NOW).expect_err("no token") {
        Refusal::Malformed { part, .. } => part,
        other => panic!("{other}"),
    };
    for text in [
        String::new(),
        "..".repeat(3),
        format!("{header}.{claims}"),
        format!("{header}.{claims}.{signature}."),
    ] {
        assert_eq!(part_of(text), Part::Whole);
    }
    assert_eq!(part_of("..".into()), Part::Header);
    assert_eq!(part_of(format!("{header}=.{claims}.{signature}")), Part::Header);
    assert_eq!(part_of(format!(" {header}.{claims}.{signature}")), Part::Header);
    assert_eq!(part_of(format!("{}.{claims}.{signature}", encode(br#"["HS256",null,null]"#))), Part::Header);
    assert_eq!(
        part_of(format!("{}.{claims}.{signature}", encode(br#"{"alg":"HS256","alg":"HS256"}"#))),
        Part::Header
    );
    assert_eq!(part_of(format!("{header}.{claims}.{signature}\n")), Part::Signature);
    assert_eq!(part_of(format!("{header}.{claims}.+{}", &signature[1..])), Part::Signature);
    for claims in [&b"[]"[..], b"null", b"{", b"\xff{}", br#"{"sub":"ann","sub":"bob"}"#, &[b'['; 5000]] {
        let token = signing.token_of_bytes(br#"{"alg":"HS256"}"#, claims);
        assert_eq!(part_of(token.expose().to_owned()), Part::Claims);
    }
}

#[test]
fn an_oversized_token_is_refused_unread() {
    let authority = authority(vec![key(Algorithm::Hs256)]);
    let refusal = verify(&authority, &Token::new("x".repeat(8193)), NOW).expect_err("too long");
    assert_eq!(refusal, Refusal::TooLong { bytes: 8193 });
    let padded = claims_with("padding", json!("x".repeat(5900)));
    let token = SigningKey::of(Algorithm::Hs256).token(&json!({"alg": "HS256"}), &padded);
    assert!((8000..=8192).contains(&token.expose().len()), "{}", token.expose().len());
    assert!(verify(&authority, &token, NOW).is_ok());
}

#[test]
fn a_refusal_tells_nothing_of_the_token() {
    let authority = authority(vec![key(Algorithm::Hs256)]);
    let secret = "do-not-tell-8d1f";
    for name in ["sub", "aud", "exp", "nbf", "iat", "jti", "name", "avatar", "roles", "rooms"] {
        for value in
            [json!(format!("{secret}\u{7}")), json!([format!("{secret}\u{7}")]), json!({secret: secret})]
        {
            let token =
                SigningKey::of(Algorithm::Hs256).token(&json!({"alg": "HS256"}), &claims_with(name, value));
            let refusal = verify(&authority, &token, NOW).expect_err("a bad claim");
            let shown = format!("{refusal} {refusal:?} {token:?} {}", refusal.code().name());
            assert!(!shown.contains(secret) && !shown.contains(token.expose()), "{shown}");
        }
    }
    let nasty = SigningKey::of(Algorithm::Hs256)
        .token(&json!({"alg": "HS256", "kid": "x\n\u{1b}[2J"}), &good_claims());
    let shown = verify(&authority, &nasty, NOW).expect_err("no such key").to_string();
    assert!(!shown.contains(['\n', '\u{1b}']), "{shown}");
}

#[test]
fn what_cannot_be_a_key_is_refused_when_it_is_configured() {
    let refused = |key: Result<Key, BadKey>| key.expect_err("no key");
    let rsa = pem(&SigningKey::of(Algorithm::Rs256));
    assert_eq!(refused(Key::hs256(&[0; 31])), BadKey::SecretLength { bytes: 31 });
    assert_eq!(refused(Key::hs256(&[0; 4097])), BadKey::SecretLength { bytes: 4097 });
    assert_eq!(refused(Key::pem(b"ssh-rsa AAAA", Algorithm::Rs256)), BadKey::NotPem);
    assert_eq!(
        refused(Key::pem(rsa.as_bytes(), Algorithm::Es256)),
        BadKey::Algorithm { wanted: Algorithm::Es256, is: Algorithm::Rs256 }
    );
    let mut cut: Vec<&str> = rsa.lines().collect();
    cut.remove(2);
    assert_eq!(refused(Key::pem(cut.join("\n").as_bytes(), Algorithm::Rs256)), BadKey::Structure);
    assert_eq!(refused(key(Algorithm::Hs256).with_kid("")), BadKey::Kid);
    assert_eq!(refused(key(Algorithm::Hs256).with_kid("x".repeat(129))), BadKey::Kid);
    let named = |algorithm| key(algorithm).with_kid("k").expect("a kid");
    let set = KeySet::new(vec![named(Algorithm::Hs256), named(Algorithm::EdDsa)]);
    assert_eq!(set.expect_err("the same kid twice"), BadKeySet::Repeated { kid: "k".into() });
    let set = KeySet::new(vec![key(Algorithm::Hs256); 33]);
    assert_eq!(set.expect_err("too many"), BadKeySet::TooMany { keys: 33 });
    let shown = format!("{:?}", key(Algorithm::Hs256));
    assert!(shown.contains("Hs256") && !shown.contains("115"), "no bytes of the secret: {shown}");
}
