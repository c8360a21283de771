//! A node notices what it did not receive, and reads it again.

use super::{OTHER, begin};
use crate::audience::DeviceId;
use crate::clock::now;
use crate::scene::{by, id, run, somebody};
use chat::By;
use chat::verbs::{ChangeRoom, EditText, Remove};
use gateway::FromNodes;
use identity::{Revoked, UnixSeconds};

#[test]
fn what_was_missed_is_seen_and_read_again() {
    run(async {
        let (here, there, lobby) = begin().await;
        let (one, messenger) = (id("one"), &here.messenger);
        for (device, name) in ["ann", "bob"].into_iter().enumerate() {
            there.welcome(name, device as u64, &lobby);
        }
        here.say("ann", &lobby, "hi").await;
        there.hear(&here);
        there.messenger.catch_up().await;
        // All of this is lost on the way.
        here.say("ann", &lobby, "you did not hear this").await;
        let edit = EditText {
            conversation: lobby.id,
            seq: chat::Seq(1),
            text: "ho".to_owned(),
            mentions: Vec::new(),
        };
        messenger.ask(&one, by("ann"), edit).await.expect("edited");
        let remove = Remove { conversation: lobby.id, person: somebody("bob") };
        messenger.ask(&one, By::Service, remove).await.expect("removed");
        let private = ChangeRoom { kind: Some(chat::Kind::Private), ..ChangeRoom::of(lobby.id) };
        messenger.ask(&one, By::Service, private).await.expect("changed");
        let until = Revoked::IssuedUntil(UnixSeconds(now().millis() / 1_000 + 1));
        messenger.revoke(&one, &somebody("bob"), until).await.expect("revoked");
        assert!(here.words().len() >= 4);
        // This is the first message that arrives.
        here.say("ann", &lobby, "but this").await;
        drop(there.events());
        there.hear(&here);
        let missed = there.messenger.counts().missed_total;
        there.messenger.catch_up().await;
        let events = there.events();
        for expected in [
            ("room:one/lobby", "msg:new"),
            ("room:one/lobby", "conversation:changed"),
            ("room:one/lobby", "msg:edit"),
            ("room:one/lobby", "end_join"),
            ("person:one/bob", "conversations:changed"),
        ] {
            let expected = (expected.0.to_owned(), expected.1.to_owned());
            assert!(events.contains(&expected), "{expected:?} is not in {events:?}");
        }
        let audience = &there.messenger.inner.audience;
        assert!(!audience.is_in(&one, lobby.id, &somebody("bob")));
        assert!(audience.is_in(&one, lobby.id, &somebody("ann")));
        assert!(!audience.is_evicted(&one, lobby.id, DeviceId(0)), "Ann may stay");
        assert_eq!(there.admit("bob").await, "token_revoked");
        here.say("ann", &lobby, "and this").await;
        there.hear(&here);
        assert_eq!(there.messenger.counts().missed_total, missed, "nothing is missing any more");
    });
}

#[test]
fn a_room_that_went_on_while_the_bus_was_away_says_how_far_it_has_come() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        there.messenger.hear(FromNodes::Down);
        here.say("ann", &lobby, "hi").await;
        drop((here.words(), there.events()));
        there.messenger.hear(FromNodes::Up);
        there.messenger.catch_up().await;
        let head = ("room:one/lobby".to_owned(), "head".to_owned());
        assert!(there.events().contains(&head));
        assert_eq!(there.words().len(), 1, "it says that it is back");
    });
}

#[test]
fn nodes_over_another_store_are_none_and_what_cannot_be_read_counts_as_missed() {
    run(async {
        let (here, there, lobby) = begin().await;
        there.welcome("bob", 1, &lobby);
        drop(there.events());
        here.say("ann", &lobby, "hi").await;
        let words = here.words().remove(0);
        let of_another = String::from_utf8(words).expect("JSON");
        let epoch = serde_json::json!(here.messenger.epoch()).to_string();
        let of_another = of_another.replace(&epoch, r#""another""#);
        let missed = || there.messenger.counts().missed_total;
        let before = missed();
        there.messenger.hear(FromNodes::Told { node: OTHER, words: of_another.as_bytes() });
        assert_eq!((there.events(), missed()), (Vec::new(), before));
        let odd = [&b""[..], b"{}", &[0xff; 9], br#"{"number":-1}"#];
        for words in odd {
            there.messenger.hear(FromNodes::Told { node: OTHER, words });
        }
        let unknown = r#"{"number":9,"epoch":"e","community":"one","notices":[{"danced":{"person":"ann"}}]}"#;
        there.messenger.hear(FromNodes::Told { node: OTHER, words: unknown.as_bytes() });
        assert_eq!((there.events(), missed()), (Vec::new(), before + odd.len() as u64 + 1));
    });
}
