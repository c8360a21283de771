//! How much one person may request.

use super::{Asker, answer};
use crate::channels::connection::Me;
use crate::channels::turns::Turns;
use crate::entrance::AllowedRooms;
use crate::fault::Fault;
use crate::messenger::Messenger;
use crate::scene::{self, id, run};
use chat::verbs::{ChangeCommunity, ImposeSanction};
use chat::{By, CommunityLimits, Conversation, SanctionKind, Settings};
use gateway::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

/// Ann and Bob, who are in the lobby.
async fn begin() -> (Messenger, Conversation, [Arc<Me>; 2]) {
    let (messenger, _) = scene::messenger();
    let lobby = scene::community(&messenger, "one").await;
    let mut people = Vec::new();
    for name in ["ann", "bob"] {
        let person = scene::person(&messenger, "one", name, &lobby).await;
        people.push(Me::somebody(&id("one"), person, AllowedRooms::ALL));
    }
    (messenger, lobby, people.try_into().map_err(|_| "two").expect("two people"))
}

/// Sends an event on the person's own topic.
async fn ask(messenger: &Messenger, me: &Arc<Me>, event: &str, payload: &Value) -> Result<Value, Fault> {
    let turns = Turns::default();
    let asker = Asker { messenger, me, room: None, turns: &turns };
    answer(&asker, event, Payload::Json(&payload.to_string()))?.await
}

#[test]
fn who_asks_too_much_is_told_when_to_ask_again_and_others_and_messages_do_not_wait_for_it() {
    run(async {
        let (messenger, lobby, [ann, bob]) = begin().await;
        let direct = json!({"with": "bob"});
        let (mut answered, mut refused) = (0, None);
        // A hundred fit into a minute; the share that refills meanwhile comes on top.
        while refused.is_none() && answered < 10_000 {
            match ask(&messenger, &ann, "direct", &direct).await {
                Ok(_) => answered += 1,
                Err(fault) => refused = Some(fault),
            }
        }
        let refused = refused.expect("there is an end");
        assert!(answered >= 100, "{answered}");
        assert_eq!(refused.code, "rate_limited");
        let wait = refused.details["retry_after_ms"].as_u64().expect("a time");
        assert!((1..=600).contains(&wait), "{wait}");
        assert!(ask(&messenger, &bob, "direct", &json!({"with": "ann"})).await.is_ok());
        let said = json!({"conversation": lobby.id, "text": "hi"});
        assert!(ask(&messenger, &ann, "msg:new", &said).await.is_ok());
    });
}

#[test]
fn who_comes_back_to_many_rooms_and_reads_what_was_missed_does_not_wait() {
    run(async {
        let (messenger, lobby, [ann, _]) = begin().await;
        let said = json!({"conversation": lobby.id, "text": "hi"});
        ask(&messenger, &ann, "msg:new", &said).await.expect("said");
        for _ in 0..500 {
            for (event, payload) in [
                ("history", json!({"conversation": lobby.id})),
                ("delivered", json!({"conversation": lobby.id, "seq": 1})),
                ("read", json!({"conversation": lobby.id, "seq": 1})),
            ] {
                let outcome = ask(&messenger, &ann, event, &payload).await;
                assert!(outcome.is_ok(), "{event}: {outcome:?}");
            }
        }
    });
}

#[test]
fn a_community_that_says_too_much_waits_whoever_says_it_and_reads_on() {
    run(async {
        let (messenger, lobby, [ann, bob]) = begin().await;
        let limits = CommunityLimits { community_messages_per_minute: Some(2), ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("One") };
        messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
        // A message counts as taken before its outcome is known.
        let _under_way = messenger.spend_message(&id("one"), &ann.by()).await.expect("there is one");
        let said = json!({"conversation": lobby.id, "text": "hi"});
        assert!(ask(&messenger, &ann, "msg:new", &said).await.is_ok());
        for (me, event, payload) in [
            (&bob, "msg:new", said),
            (&ann, "react", json!({"conversation": lobby.id, "seq": 1, "emoji": "x"})),
        ] {
            let refused = ask(&messenger, me, event, &payload).await.expect_err("too many");
            assert_eq!((refused.code, &refused.details["max"]), ("rate_limited", &json!(2)));
            assert_eq!(refused.details["limit"], "community_messages_per_minute");
            let wait = refused.details["retry_after_ms"].as_u64().expect("a time");
            assert!((1..=30_000).contains(&wait), "{wait}");
        }
        assert!(ask(&messenger, &bob, "history", &json!({"conversation": lobby.id})).await.is_ok());
        let refused: Vec<_> =
            messenger.counts().limited.into_iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(refused, [("community_messages", 2)]);
    });
}

#[test]
fn those_who_may_not_speak_take_nothing_from_those_who_may() {
    run(async {
        let (messenger, lobby, [ann, bob]) = begin().await;
        let limits = CommunityLimits { community_messages_per_minute: Some(2), ..CommunityLimits::default() };
        let settings = Settings { limits, ..Settings::named("One") };
        messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
        let (person, conversation, reason) = (bob.id().clone(), Some(lobby.id), String::new());
        let mute = ImposeSanction { person, conversation, kind: SanctionKind::Mute, until: None, reason };
        messenger.ask(&id("one"), By::Service, mute).await.expect("muted");
        let said = json!({"conversation": lobby.id, "text": "hi"});
        let nowhere = json!({"conversation": "00000000000000000000000000", "text": "hi"});
        let nothing = json!({"conversation": lobby.id, "seq": 9, "emoji": "x"});
        for (event, payload) in [("msg:new", &said), ("msg:new", &nowhere), ("react", &nothing)].repeat(3) {
            let refused = ask(&messenger, &bob, event, payload).await.expect_err("it may not be");
            assert_ne!(refused.code, "rate_limited", "{event}");
        }
        for _ in 0..2 {
            ask(&messenger, &ann, "msg:new", &said).await.expect("there is room");
        }
        let refused = ask(&messenger, &ann, "msg:new", &said).await.expect_err("it is a limit");
        assert_eq!(refused.details["limit"], "community_messages_per_minute");
    });
}

#[test]
fn whoever_writes_before_a_communitys_limits_are_read_meets_its_own_and_no_others() {
    run(async {
        let (messenger, lobby, [ann, bob]) = begin().await;
        let of = |messages_per_minute, all| CommunityLimits {
            messages_per_minute,
            community_messages_per_minute: all,
            ..CommunityLimits::default()
        };
        for (limits, limit, me) in [
            (of(1, None), "messages_per_minute", &ann),
            (of(100, Some(1)), "community_messages_per_minute", &bob),
        ] {
            let settings = Settings { limits, ..Settings::named("One") };
            messenger.ask(&id("one"), By::Service, ChangeCommunity { settings }).await.expect("changed");
            let said = json!({"conversation": lobby.id, "text": "hi"}).to_string();
            let turns = Turns::default();
            let asker = Asker { messenger: &messenger, me, room: None, turns: &turns };
            // Both come before anything is read: the change invalidated the cached community.
            let begun = [(); 2].map(|()| answer(&asker, "msg:new", Payload::Json(&said)));
            let mut refused = Vec::new();
            for answering in begun {
                match answering {
                    Ok(answering) => refused.extend(answering.await.err()),
                    Err(fault) => refused.push(fault),
                }
            }
            let refused: Vec<_> = refused.iter().map(|fault| (fault.code, &fault.details["limit"])).collect();
            assert_eq!(refused, [("rate_limited", &json!(limit))]);
        }
    });
}
