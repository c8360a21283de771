//! What a node that has missed something is told about the people on other nodes, and what it does with that.

use super::presence::{exchange, leave, seen_in, told_of};
use super::{Node, ONE, OTHER, begin};
use crate::scene::run;
use chat::Conversation;
use gateway::FromNodes;
use serde::Deserialize;
use serde_json::json;
use std::sync::atomic::Ordering::Relaxed;

/// Two nodes: Bob and Cat are on one, and Ann on the other sees them.
async fn begin_with_three() -> (Node, Node, Conversation) {
    let (here, there, lobby) = begin().await;
    for (device, name) in ["bob", "cat"].into_iter().enumerate() {
        there.welcome(name, device as u64, &lobby);
    }
    here.welcome("ann", 1, &lobby);
    exchange(&here, &there);
    drop(here.events());
    (here, there, lobby)
}

#[test]
fn who_missed_something_asks_and_is_told_who_is_there() {
    run(async {
        let (here, there, lobby) = begin_with_three().await;
        assert_eq!(seen_in(&here, &lobby).len(), 3);
        leave(&there, "cat", 1);
        there.welcome("dan", 3, &lobby);
        there.messenger.tick();
        assert!(!there.words().is_empty(), "what is lost");
        drop(here.events());
        there.say("bob", &lobby, "hi").await;
        exchange(&here, &there);
        let names: Vec<String> = seen_in(&here, &lobby).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ann", "bob", "dan"]);
        assert!(told_of(&here, "bob").is_empty(), "nothing changed for whom it was only in doubt");
    });
}

#[test]
fn who_was_told_of_in_what_is_missing_does_not_go_when_the_rest_was_all() {
    run(async {
        let (here, there, lobby) = begin_with_three().await;
        there.messenger.inner.nodes.roster.is_asked.store(true, Relaxed);
        there.messenger.tick();
        let words = there.words();
        let (last, lost) = words.split_last().expect("it tells of them, and that they are all");
        assert!(!lost.is_empty());
        here.messenger.hear(FromNodes::Told { node: OTHER, words: last });
        here.lose();
        assert_eq!(seen_in(&here, &lobby).len(), 3, "they are in doubt, and there");
        exchange(&here, &there);
        assert_eq!(seen_in(&here, &lobby).len(), 3);
        for name in ["bob", "cat"] {
            assert!(told_of(&here, name).is_empty(), "nothing changed for {name}");
        }
    });
}

#[test]
fn what_a_node_began_to_tell_while_the_bus_was_away_is_not_all() {
    run(async {
        let (here, there, lobby) = begin_with_three().await;
        here.messenger.hear(FromNodes::Down);
        leave(&there, "cat", 1);
        there.messenger.inner.nodes.roster.is_asked.store(true, Relaxed);
        there.messenger.tick();
        let words = there.words();
        let (last, lost) = words.split_last().expect("it tells of Bob, and that he is all");
        assert!(!lost.is_empty());
        here.messenger.hear(FromNodes::Up);
        here.messenger.hear(FromNodes::Nodes(&[ONE, OTHER]));
        here.messenger.hear(FromNodes::Told { node: OTHER, words: last });
        here.lose();
        assert_eq!(seen_in(&here, &lobby).len(), 3, "they are in doubt, and there");
        exchange(&here, &there);
        let names: Vec<String> = seen_in(&here, &lobby).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ann", "bob"]);
        assert!(told_of(&here, "bob").is_empty(), "nothing changed for whom it was only in doubt");
    });
}

#[test]
fn who_asked_is_answered_though_the_bus_was_away_in_between() {
    run(async {
        let (_, there, _) = begin_with_three().await;
        there.messenger.inner.nodes.roster.is_asked.store(true, Relaxed);
        there.messenger.inner.prepare_roster();
        there.messenger.hear(FromNodes::Down);
        there.messenger.hear(FromNodes::Up);
        there.messenger.tick();
        let is_answer = |words: &Vec<u8>| String::from_utf8_lossy(words).contains(r#""all_told_since":"#);
        assert!(there.words().iter().any(is_answer));
    });
}

/// What a node of the previous version reads of a message.
#[derive(Deserialize)]
#[expect(dead_code, reason = "it is to be read")]
struct EnvelopeBefore {
    number: u64,
    #[serde(default)]
    people: Vec<serde_json::Value>,
    #[serde(default)]
    all_told: bool,
}

#[test]
fn nodes_of_this_version_and_of_the_one_before_read_what_the_others_say_of_who_is_there() {
    run(async {
        let (here, there, lobby) = begin_with_three().await;
        there.messenger.inner.nodes.roster.is_asked.store(true, Relaxed);
        there.messenger.tick();
        for words in there.words() {
            serde_json::from_slice::<EnvelopeBefore>(&words).expect("it can be read");
            here.messenger.hear(FromNodes::Told { node: OTHER, words: &words });
        }
        let missed = here.messenger.counts().missed_total;
        here.messenger.inner.audience.doubt_abroad(Some(OTHER));
        let sender = &there.messenger.inner.nodes.sender;
        let before = json!({
            "number": sender.next_number(), "epoch": sender.epoch(), "community": null, "notices": [],
            "all_told": true, "not_known_yet": { "people": 2 },
        });
        sender.skip();
        here.messenger.hear(FromNodes::Told { node: OTHER, words: before.to_string().as_bytes() });
        there.say("bob", &lobby, "hi").await;
        here.hear(&there);
        here.lose();
        assert_eq!(here.messenger.counts().missed_total, missed, "it was read");
        assert_eq!(seen_in(&here, &lobby).len(), 3, "it does not say since when they are all");
    });
}
