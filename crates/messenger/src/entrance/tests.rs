//! Who is admitted, and who is not.

use super::{AllowedRooms, Credentials, Rejection, seconds};
use crate::fault::Fault;
use crate::messenger::{Messenger, Settings};
use crate::scene::{self, claims, id, run, somebody, token};
use chat::verbs::{ChangeCommunity, ImposeSanction, ReadPerson, RevokeKey};
use chat::{By, GuestPolicy, KeyId, MemoryStore, Role, RoomName, SanctionKind, Store};
use identity::{CLOSE_TOKEN_REVOKED, Revoked, Token};
use serde_json::{Value, json};
use std::sync::Arc;

fn credentials(community: &str, token: Option<Token>) -> Credentials {
    Credentials { community: id(community), token, name: Some("Gil".to_owned()) }
}

/// Two communities, of which only `one` accepts the key.
async fn begin() -> (Messenger, scene::RecordingOutlet, KeyId) {
    let (messenger, told) = scene::messenger();
    scene::community(&messenger, "one").await;
    scene::community(&messenger, "two").await;
    let key = scene::trust_site(&messenger, "one").await;
    (messenger, told, key)
}

async fn code(messenger: &Messenger, credentials: Credentials) -> &'static str {
    messenger.admit(&credentials).await.map_or_else(|rejection| Fault::from(rejection).code, |_| "in")
}

#[test]
fn a_host_sites_person_comes_in_with_what_the_token_says() {
    run(async {
        let (messenger, ..) = begin().await;
        let mut said = claims("one", "ann");
        said["roles"] = json!(["staff", "moderator"]);
        said["rooms"] = json!(["lobby"]);
        let admitted = messenger.admit(&credentials("one", Some(token(&said)))).await.expect("Ann is in");
        assert_eq!(*admitted.person.id(), somebody("ann"));
        assert_eq!(admitted.person.profile().name, "Ann");
        assert_eq!(
            (admitted.person.profile().role, admitted.person.profile().guest),
            (Some(Role::Moderator), false)
        );
        assert_eq!(admitted.rooms, AllowedRooms::only([RoomName::parse("lobby").expect("a name")]));
        assert!(admitted.token.is_none());
    });
}

#[test]
fn a_token_is_good_in_its_own_community_alone_and_as_long_as_its_key() {
    run(async {
        let (messenger, _, key) = begin().await;
        let of_one = || Some(token(&claims("one", "ann")));
        assert_eq!(code(&messenger, credentials("one", of_one())).await, "in");
        assert_eq!(code(&messenger, credentials("two", of_one())).await, "token_invalid");
        assert_eq!(
            code(&messenger, credentials("two", Some(token(&claims("two", "ann"))))).await,
            "token_invalid"
        );
        assert_eq!(code(&messenger, credentials("nowhere", of_one())).await, "not_found");
        let mut old = claims("one", "ann");
        old["exp"] = json!(seconds().0 - 60);
        assert_eq!(code(&messenger, credentials("one", Some(token(&old)))).await, "token_expired");
        messenger.ask(&id("one"), By::Service, RevokeKey { key }).await.expect("revoked");
        assert_eq!(code(&messenger, credentials("one", of_one())).await, "token_invalid");
    });
}

#[test]
fn of_keys_with_one_id_the_newest_counts_and_the_others_are_left_alone() {
    run(async {
        let (messenger, ..) = begin().await;
        let secret = |number: u32| format!("the secret number {number} of at least thirty-two bytes");
        let name = identity::Community::new("one");
        let guests = messenger.inner.entrance.guests.keys(&name);
        let guests = guests[0].kid().expect("the guests' key has an id");
        for (kid, number) in [("k1", 1), ("k2", 2), ("k2", 3), (guests, 4)] {
            scene::trust(&messenger, "one", Some(kid), &secret(number), number.into()).await;
        }
        for (kid, number, comes) in
            [("k1", 1, "in"), ("k2", 2, "token_invalid"), ("k2", 3, "in"), (guests, 4, "token_invalid")]
        {
            let header = json!({"alg": "HS256", "kid": kid});
            let shown = scene::signed(&claims("one", "ann"), &header, &secret(number));
            assert_eq!(code(&messenger, credentials("one", Some(shown))).await, comes, "{kid} {number}");
        }
        let of_site = credentials("one", Some(token(&claims("one", "ann"))));
        assert_eq!(code(&messenger, of_site).await, "in", "one without an id");
        assert_eq!(code(&messenger, credentials("one", None)).await, "in", "a guest");
    });
}

#[test]
fn with_more_keys_than_may_be_the_newest_count() {
    run(async {
        let (messenger, ..) = begin().await;
        for number in 0..identity::KEYS_MAX {
            let made_ms = 1 + number as u64;
            let secret = format!("the secret number {number} of at least thirty-two bytes");
            scene::trust(&messenger, "one", None, &secret, made_ms).await;
        }
        let of = |number: usize| {
            let secret = format!("the secret number {number} of at least thirty-two bytes");
            let header = json!({"alg": "HS256"});
            credentials("one", Some(scene::signed(&claims("one", "ann"), &header, &secret)))
        };
        assert_eq!(code(&messenger, of(identity::KEYS_MAX - 1)).await, "in");
        assert_eq!(code(&messenger, of(0)).await, "token_invalid");
        assert_eq!(code(&messenger, credentials("one", None)).await, "in", "a guest");
    });
}

#[test]
fn a_guest_of_one_community_is_nobody_in_another_and_none_where_there_are_none() {
    run(async {
        let (messenger, ..) = begin().await;
        let guest = messenger.admit(&credentials("one", None)).await.expect("a guest");
        assert_eq!((&*guest.person.profile().name, guest.person.profile().guest), ("Gil", true));
        let again = messenger.admit(&credentials("one", guest.token.clone())).await.expect("the same guest");
        assert_eq!(again.person.id(), guest.person.id());
        assert_eq!(code(&messenger, credentials("two", guest.token.clone())).await, "token_invalid");
        let settings = chat::Settings { guests: GuestPolicy::Refused, ..chat::Settings::named("One") };
        messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
        assert_eq!(code(&messenger, credentials("one", None)).await, "guests_refused");
        assert_eq!(code(&messenger, credentials("one", guest.token)).await, "guests_refused");
    });
}

#[test]
fn a_guest_whose_tokens_were_revoked_cannot_have_them_renewed() {
    run(async {
        let (messenger, ..) = begin().await;
        let guest = messenger.admit(&credentials("one", None)).await.expect("a guest");
        let until = Revoked::IssuedUntil(seconds());
        messenger.revoke(&id("one"), guest.person.id(), until).await.expect("revoked");
        assert_eq!(code(&messenger, credentials("one", guest.token.clone())).await, "token_revoked");
        let renewed = messenger.welcome_guest(&credentials("one", guest.token)).await;
        assert!(matches!(renewed, Err(Rejection::Token(identity::Refusal::Revoked))), "{renewed:?}");
    });
}

#[test]
fn a_request_of_a_guest_renews_nothing_and_is_refused_where_there_are_none() {
    run(async {
        let (messenger, ..) = begin().await;
        let guest = messenger.admit(&credentials("one", None)).await.expect("a guest");
        let shown = guest.token.expect("a guest has one");
        let identified = messenger.identify(&id("one"), &shown).await.expect("the same guest");
        assert_eq!(identified.person.id(), guest.person.id());
        assert!(identified.token.is_none());
        let settings = chat::Settings { guests: GuestPolicy::Refused, ..chat::Settings::named("One") };
        messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
        let refused = messenger.identify(&id("one"), &shown).await;
        assert!(matches!(refused, Err(Rejection::Guest(identity::GuestRefusal::Off))), "{refused:?}");
    });
}

#[test]
fn who_comes_back_writes_nothing_unless_they_say_something_else_of_themselves() {
    run(async {
        let (messenger, held) = scene::holding();
        scene::community(&messenger, "one").await;
        scene::trust_site(&messenger, "one").await;
        let one = id("one");
        let mut renamed = claims("one", "ann");
        renamed["name"] = json!("Anna");
        for (said, is_cached, written) in [
            (claims("one", "ann"), true, 1),
            (claims("one", "ann"), true, 0),
            (claims("one", "ann"), false, 0),
            (renamed.clone(), true, 1),
            (renamed.clone(), false, 0),
            (claims("one", "ann"), false, 1),
        ] {
            if !is_cached {
                messenger.inner.cache.forget_community(&one);
            }
            let before = held.writes();
            let admitted = messenger.admit(&credentials("one", Some(token(&said)))).await.expect("Ann is in");
            assert_eq!(admitted.person.profile().name, said["name"]);
            assert_eq!(held.writes() - before, written, "{said}, cached: {is_cached}");
        }
        // A person who came back is cached again, and is not read either.
        held.hold();
        let admitted = messenger.admit(&credentials("one", Some(token(&claims("one", "ann"))))).await;
        assert!(admitted.is_ok(), "{admitted:?}");
    });
}

#[test]
fn who_was_banned_does_not_come_back_by_what_is_known_of_them() {
    run(async {
        let (messenger, ..) = begin().await;
        let one = id("one");
        let ann = || credentials("one", Some(token(&claims("one", "ann"))));
        assert_eq!(code(&messenger, ann()).await, "in");
        let (person, reason) = (somebody("ann"), String::new());
        let ban = ImposeSanction { person, conversation: None, kind: SanctionKind::Ban, until: None, reason };
        messenger.ask(&one, By::Service, ban).await.expect("banned");
        assert_eq!(code(&messenger, ann()).await, "banned");
        messenger.inner.cache.forget_community(&one);
        assert_eq!(code(&messenger, ann()).await, "banned");
    });
}

#[test]
fn what_was_revoked_stays_revoked_when_the_process_starts_anew() {
    run(async {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
        let start = || Messenger::new(store.clone(), Settings::default());
        let before = start();
        scene::community(&before, "one").await;
        scene::trust_site(&before, "one").await;
        let mut stolen = claims("one", "ann");
        stolen["jti"] = json!("stolen");
        let of = |claims: &Value| credentials("one", Some(token(claims)));
        for person in ["ann", "bob"] {
            assert_eq!(code(&before, of(&claims("one", person))).await, "in");
        }
        let one = Revoked::TokenId("stolen".to_owned());
        before.revoke(&id("one"), &somebody("ann"), one).await.expect("revoked");
        before.revoke(&id("one"), &somebody("bob"), Revoked::IssuedUntil(seconds())).await.expect("revoked");
        drop(before);
        let after = start();
        for (shown, comes) in [
            (&stolen, "token_revoked"),
            (&claims("one", "ann"), "in"),
            (&claims("one", "bob"), "token_revoked"),
        ] {
            let identified = after.identify(&id("one"), &token(shown)).await;
            let found = identified.map_or_else(|rejection| Fault::from(rejection).code, |_| "in");
            assert_eq!(found, comes, "{shown}");
        }
    });
}

#[test]
fn a_revoked_token_does_not_change_who_its_person_is() {
    run(async {
        let (messenger, ..) = begin().await;
        let (one, ann) = (id("one"), somebody("ann"));
        assert_eq!(code(&messenger, credentials("one", Some(token(&claims("one", "ann"))))).await, "in");
        messenger.revoke(&one, &ann, Revoked::IssuedUntil(seconds())).await.expect("revoked");
        let mut stolen = claims("one", "ann");
        (stolen["roles"], stolen["name"]) = (json!(["owner"]), json!("Mallory"));
        let stolen = token(&stolen);
        assert_eq!(code(&messenger, credentials("one", Some(stolen.clone()))).await, "token_revoked");
        let identified = messenger.identify(&one, &stolen).await;
        assert!(matches!(identified, Err(Rejection::Token(identity::Refusal::Revoked))), "{identified:?}");
        let stored = messenger.ask(&one, By::Service, ReadPerson { person: ann }).await.expect("Ann");
        assert_eq!((stored.profile.role, &*stored.profile.name), (None, "Ann"));
    });
}

#[test]
fn a_person_of_the_host_site_is_no_guest() {
    run(async {
        let (messenger, ..) = begin().await;
        let of_site = credentials("one", Some(token(&claims("one", "ann"))));
        let refused = messenger.welcome_guest(&of_site).await;
        assert!(matches!(refused, Err(Rejection::Guest(identity::GuestRefusal::NotAGuest))), "{refused:?}");
    });
}

#[test]
fn connections_end_when_their_token_is_revoked_or_their_person_banned() {
    run(async {
        let (messenger, told, _) = begin().await;
        let entrance = &messenger.inner.entrance;
        let mut ends = Vec::new();
        for person in ["ann", "bob"] {
            let shown = credentials("one", Some(token(&claims("one", person))));
            let admitted = messenger.admit(&shown).await.expect("in");
            let socket = entrance.socket();
            entrance
                .open_session(socket, &id("one"), admitted.person.id(), &admitted.verified, None)
                .expect("it stands");
            ends.push((socket.text(), "close".to_owned(), CLOSE_TOKEN_REVOKED.to_string()));
        }
        told.take();
        let revoked = messenger.revoke(&id("one"), &somebody("ann"), Revoked::IssuedUntil(seconds())).await;
        assert_eq!(revoked, Ok(1));
        assert_eq!(told.take(), ends[..1]);
        let ban = ImposeSanction {
            person: somebody("bob"),
            conversation: None,
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        messenger.ask(&id("one"), By::Service, ban).await.expect("banned");
        assert!(told.take().contains(&ends[1]));
        let bob = credentials("one", Some(token(&claims("one", "bob"))));
        assert_eq!(code(&messenger, bob).await, "banned");
    });
}
