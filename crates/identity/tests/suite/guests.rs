//! Guests: people unknown to any host site.

use std::time::Duration;

use identity::{
    Algorithm, Authority, BadNamePattern, ClaimFault, Community, GuestPolicy, GuestRefusal, GuestSecret,
    GuestSigner, Issuer, KeySet, NamePattern, Refusal, Rules, UnixSeconds,
};
use serde_json::json;

use crate::signing::{self, NOW, SigningKey, claims_with, key, verify};

const HOUR: Duration = Duration::from_secs(3600);

fn welcoming(pattern: &str) -> GuestPolicy {
    GuestPolicy::On { names: NamePattern::parse(pattern).expect("a pattern") }
}

fn book() -> GuestSigner {
    GuestSigner::new(GuestSecret::new([1; 32]), Vec::new(), HOUR)
}

fn authority(book: &GuestSigner, community: &str) -> Authority {
    let community = Community::new(community);
    let mut keys = book.keys(&community);
    keys.push(key(Algorithm::Hs256));
    Authority::new(community, KeySet::new(keys).expect("a set"), Rules::default())
}

#[test]
fn a_guest_is_verified_on_the_same_path_as_anybody() {
    let (book, club) = (book(), Community::new("club"));
    let (token, claims) =
        book.welcome(&welcoming("Guest *"), &club, Some(" Ann "), [5; 32], NOW).expect("welcome");
    let verified = verify(&authority(&book, "club"), &token, NOW).expect("it is ours");
    assert_eq!((verified.issuer, &verified.claims), (Issuer::Guests, &claims));
    assert_eq!(claims.name.as_deref(), Some("Guest Ann"));
    assert_eq!(claims.subject, "guest:BQUFBQUFBQUFBQUFBQUFBQ");
    assert_eq!((claims.issued, claims.expires), (Some(NOW), NOW.plus(HOUR)));
    let end = NOW.plus(HOUR).plus(Rules::default().leeway);
    let refusal = verify(&authority(&book, "club"), &token, end).expect_err("expired");
    assert_eq!(refusal, Refusal::Expired { at: claims.expires });
}

#[test]
fn a_guest_of_one_community_is_nobody_in_another() {
    let book = book();
    let (token, _) =
        book.welcome(&welcoming("*"), &Community::new("club"), None, [5; 32], NOW).expect("welcome");
    assert_eq!(verify(&authority(&book, "other"), &token, NOW).expect_err("not here"), Refusal::Signature);
}

#[test]
fn who_shares_a_secret_with_the_server_cannot_make_guests() {
    let book = book();
    let guest = claims_with("sub", json!("guest:BQUFBQUFBQUFBQUFBQUFBQ"));
    let token = SigningKey::of(Algorithm::Hs256).token(&json!({"alg": "HS256"}), &guest);
    let refusal = verify(&authority(&book, "club"), &token, NOW).expect_err("the host site's key");
    assert_eq!(refusal, Refusal::Claim { name: "sub", fault: ClaimFault::Reserved });
}

#[test]
fn secrets_are_rotated() {
    let (club, old) = (Community::new("club"), GuestSecret::new([1; 32]));
    let (token, _) = GuestSigner::new(old.clone(), Vec::new(), HOUR)
        .welcome(&welcoming("*"), &club, None, [5; 32], NOW)
        .expect("welcome");
    let both = GuestSigner::new(GuestSecret::new([2; 32]), vec![old.until(UnixSeconds(NOW.0 + 60))], HOUR);
    let judge = |later| verify(&authority(&both, "club"), &token, UnixSeconds(NOW.0 + later)).map(|_| ());
    assert_eq!(judge(60), Ok(()));
    assert!(matches!(judge(61), Err(Refusal::KeyUnknown { kid: Some(_) })));
    let (newer, _) = both.welcome(&welcoming("*"), &club, None, [5; 32], NOW).expect("welcome");
    assert!(verify(&authority(&both, "club"), &newer, UnixSeconds(NOW.0 + 61)).is_ok());
}

#[test]
fn a_guest_who_stays_gets_a_newer_token_for_the_same_person() {
    let (book, club) = (book(), Community::new("club"));
    let (token, claims) =
        book.welcome(&welcoming("Guest *"), &club, Some("Ann"), [5; 32], NOW).expect("welcome");
    let guest = verify(&authority(&book, "club"), &token, NOW).expect("it is ours");
    let later = UnixSeconds(NOW.0 + 1000);
    let (newer, renewed) = book.renew(&welcoming("Guest *"), &guest, [6; 16], later).expect("renewed");
    assert_eq!((&renewed.subject, &renewed.name), (&claims.subject, &claims.name));
    assert_ne!(renewed.token_id, claims.token_id);
    assert!(verify(&authority(&book, "club"), &newer, NOW.plus(HOUR).plus(HOUR / 4)).is_ok());
    assert_eq!(
        book.renew(&GuestPolicy::Off, &guest, [6; 16], later).expect_err("no more"),
        GuestRefusal::Off
    );
    let member = SigningKey::of(Algorithm::Hs256).token(&json!({"alg": "HS256"}), &signing::good_claims());
    let member = verify(&authority(&book, "club"), &member, NOW).expect("a member");
    let refusal = book.renew(&welcoming("*"), &member, [6; 16], later).expect_err("a member");
    assert_eq!(refusal, GuestRefusal::NotAGuest);
}

#[test]
fn names_follow_the_pattern_and_are_bounded() {
    let (book, club) = (book(), Community::new("club"));
    let name = |pattern: &str, chosen: Option<&str>| {
        book.welcome(&welcoming(pattern), &club, chosen, [5; 32], NOW)
            .map(|(_, claims)| claims.name.expect("a name"))
    };
    assert_eq!(name("Guest *", None).as_deref(), Ok("Guest BQUFB"));
    assert_eq!(name("* (guest)", Some("Ann")).as_deref(), Ok("Ann (guest)"));
    assert_eq!(name("*", Some("   ")).as_deref(), Ok("BQUFB"));
    assert_eq!(name("*", Some(&"Ä".repeat(100))), Ok("Ä".repeat(100)));
    let refused = |fault| Err(GuestRefusal::Name(Refusal::Claim { name: "name", fault }));
    assert_eq!(name("Guest *", Some(&"Ä".repeat(100))), refused(ClaimFault::TooLong { max: 200 }));
    assert_eq!(name("Guest *", Some("A\u{202e}nn")), refused(ClaimFault::Character));
    let off = book.welcome(&GuestPolicy::default(), &club, None, [5; 32], NOW).expect_err("none are welcome");
    assert_eq!((off.clone(), off.code()), (GuestRefusal::Off, "guests_refused"));
    for (pattern, why) in [
        ("Guest", BadNamePattern::Star),
        ("**", BadNamePattern::Star),
        ("\u{7}*", BadNamePattern::Text),
        ("a pattern that is much too long *", BadNamePattern::Text),
    ] {
        assert_eq!(NamePattern::parse(pattern), Err(why), "{pattern}");
    }
}

#[test]
fn secrets_do_not_show() {
    let shown = format!("{:?} {:?}", book(), GuestSecret::new([77; 32]));
    assert!(!shown.contains("77") && !shown.contains("[1, 1"), "{shown}");
}
