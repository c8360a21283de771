//! Many clients come back to a room at once: what they missed is read once for all of them, and nobody has a gap.

use super::*;
use crate::channels::connection::Connection;
use crate::channels::room::{JoinRequest, enter};
use crate::entrance::Credentials;
use crate::scene::{self, by, claims, id, run, token};
use chat::verbs::{Append, EditText};
use chat::{Draft, RoomName};
use serde_json::Value;
use tokio::task::JoinSet;

const PEOPLE: usize = 100;
const SAID: u64 = 260;

/// A lobby with many messages, and people who have been in it.
async fn crowd() -> (Messenger, ConversationId) {
    let (messenger, _) = scene::messenger();
    let lobby = scene::community(&messenger, "one").await;
    scene::trust_site(&messenger, "one").await;
    scene::person(&messenger, "one", "ann", &lobby).await;
    for nth in 1..=SAID {
        let append = Append { conversation: lobby.id, draft: Draft::text(None, &format!("said {nth}")) };
        messenger.ask(&id("one"), by("ann"), append).await.expect("a message");
    }
    for nth in [2, 55, 120] {
        let (conversation, text) = (lobby.id, "edited".to_owned());
        let edit = EditText { conversation, seq: Seq(nth), text, mentions: Vec::new() };
        messenger.ask(&id("one"), by("ann"), edit).await.expect("it is hers");
    }
    (messenger, lobby.id)
}

/// The reply to the join of one of the crowd.
async fn come(messenger: Messenger, nth: usize, recover: Option<Recover>) -> Value {
    let shown = Some(token(&claims("one", &format!("person-{nth}"))));
    let credentials = Credentials { community: id("one"), token: shown, name: None };
    let connection = Arc::new(Connection::new(messenger, credentials, None, None));
    let room = RoomName::parse("lobby").expect("a name");
    let request = JoinRequest { recover, ..JoinRequest::default() };
    enter(connection.clone(), room, request).await.expect("they may come in").1
}

/// All of them join at once, each recovering from where they stopped. Returns the replies, and the number of requests
/// to the store meanwhile.
async fn storm(
    messenger: &Messenger,
    stood: impl Fn(usize) -> Option<Recover>,
) -> (Vec<(usize, Value)>, u64) {
    let before = messenger.counts().asked_total;
    let mut coming = JoinSet::new();
    for nth in 0..PEOPLE {
        let (messenger, recover) = (messenger.clone(), stood(nth));
        coming.spawn(async move { (nth, come(messenger, nth, recover).await) });
    }
    let answers = coming.join_all().await;
    (answers, messenger.counts().asked_total - before)
}

/// All of them join and leave, and join again: from then on their standings are cached.
async fn arrive_twice(messenger: &Messenger) {
    for _ in 0..2 {
        storm(messenger, |_| None).await;
    }
}

/// Where each stopped: three at each message, from the newest to far before the newest page.
fn place(nth: usize) -> u64 {
    SAID - 5 * (nth as u64 / 3)
}

#[test]
fn a_hundred_who_come_back_to_wherever_they_stood_cost_a_few_readings_and_miss_nothing() {
    run(async {
        let (messenger, conversation) = crowd().await;
        arrive_twice(&messenger).await;
        let (_, each) = storm(&messenger, |_| None).await;
        let stood = |nth: usize| {
            let revision = Some(Revision(nth as u64 % 4));
            Some(Recover { epoch: messenger.epoch().to_owned(), seq: Seq(place(nth)), revision })
        };
        let (answers, asked) = storm(&messenger, stood).await;
        let shared = asked.saturating_sub(each);
        assert!((1..=6).contains(&shared), "{shared} readings of history");
        for (nth, answer) in answers {
            assert_eq!(answer["recovered"], true, "{nth}: {}", answer["reason"]);
            let places = |list: &Value| -> Vec<u64> {
                let messages = list.as_array().expect("messages").iter();
                messages.map(|message| message["seq"].as_u64().expect("a place")).collect()
            };
            let expected: Vec<u64> = (place(nth) + 1..=SAID).collect();
            assert_eq!(places(&answer["messages"]), expected);
            assert_eq!(places(&answer["changed"]), [2, 55, 120][nth % 4..], "after revision {}", nth % 4);
            assert_eq!(answer["conversation"]["revision"], 3);
            for message in answer["messages"].as_array().expect("messages") {
                let seq = message["seq"].as_u64().expect("a place");
                let text =
                    if [2, 55, 120].contains(&seq) { "edited".to_owned() } else { format!("said {seq}") };
                assert_eq!(message["text"], text);
            }
        }
        assert_eq!(messenger.inner.audience.head(&id("one"), conversation), Seq(0), "all have gone again");
    });
}

#[test]
fn those_who_missed_too_much_cost_no_reading_of_it() {
    run(async {
        let (messenger, _) = crowd().await;
        arrive_twice(&messenger).await;
        let (_, each) = storm(&messenger, |_| None).await;
        let stood = |nth: usize| {
            Some(Recover { epoch: messenger.epoch().to_owned(), seq: Seq(nth as u64 % 50), revision: None })
        };
        let (answers, asked) = storm(&messenger, stood).await;
        assert_eq!(asked, each);
        for (_, answer) in answers {
            assert_eq!((&answer["recovered"], &answer["reason"]), (&json!(false), &json!("too_many")));
            assert_eq!(answer["messages"].as_array().map(Vec::len), Some(50));
        }
    });
}
