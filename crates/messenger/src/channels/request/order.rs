//! Messages of one join are stored in the order in which they came, whatever they wait for.

use super::{Answering, Asker, answer};
use crate::channels::connection::Me;
use crate::channels::turns::Turns;
use crate::entrance::AllowedRooms;
use crate::messenger::Messenger;
use crate::scene::{self, id, run};
use chat::{Conversation, RoomName};
use gateway::Payload;
use serde_json::json;
use std::sync::Arc;

async fn begin(rooms: AllowedRooms) -> (Messenger, Arc<Me>, Conversation) {
    let (messenger, _) = scene::messenger();
    let lobby = scene::community(&messenger, "one").await;
    let ann = scene::person(&messenger, "one", "ann", &lobby).await;
    // From now on it is cached that the community's site is not asked.
    messenger.directory(&id("one")).await.expect("a community");
    (messenger, Me::somebody(&id("one"), ann, rooms), lobby)
}

/// Sends a message on the person's topic.
fn say(messenger: &Messenger, me: &Arc<Me>, turns: &Turns, lobby: &Conversation) -> Answering {
    let asker = Asker { messenger, me, room: None, turns };
    let payload = json!({"conversation": lobby.id, "text": "hi"}).to_string();
    answer(&asker, "msg:new", Payload::Json(&payload)).expect("it is asked")
}

async fn seq(said: Answering) -> u64 {
    said.await.expect("it is stored")["seq"].as_u64().expect("a place")
}

#[test]
fn what_need_not_wait_does_not_go_past_what_waits() {
    run(async {
        let (messenger, me, lobby) = begin(AllowedRooms::ALL).await;
        let turns = Turns::default();
        let waits = turns.next();
        let later = say(&messenger, &me, &turns, &lobby);
        let elsewhere = Turns::default();
        let first = say(&messenger, &me, &elsewhere, &lobby);
        let (later, first) = tokio::join!(seq(later), async {
            let first = seq(first).await;
            drop(waits);
            first
        });
        assert_eq!((first, later), (1, 2));
        assert_eq!(seq(say(&messenger, &me, &turns, &lobby)).await, 3);
    });
}

#[test]
fn messages_with_a_token_for_some_rooms_are_stored_in_their_order() {
    run(async {
        let lobby = RoomName::parse("lobby").expect("a name");
        let (messenger, me, lobby) = begin(AllowedRooms::only([lobby])).await;
        let turns = Turns::default();
        let [first, second] = [(); 2].map(|()| say(&messenger, &me, &turns, &lobby));
        // The second is polled first.
        let (second, first) = tokio::join!(seq(second), seq(first));
        assert_eq!((first, second), (1, 2));
    });
}
