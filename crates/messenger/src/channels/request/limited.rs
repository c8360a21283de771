//! A moderator of the whole community, with a token for some of its rooms: no request with it reaches another
//! conversation. Each event has a row in [`super::isolation`].

use super::isolation::{Known, row};
use super::{Answering, Asker, EVENTS, Surface, answer};
use crate::channels::connection::Me;
use crate::channels::turns::Turns;
use crate::entrance::AllowedRooms;
use crate::fault::Fault;
use crate::messenger::Messenger;
use crate::scene::{self, RecordingOutlet, by, id, run, somebody};
use chat::verbs::{Append, CreateRoom, Invite, Join, Meet, OpenDirect, ReportMessage};
use chat::{By, Conversation, ConversationId, Draft, Person, Profile, Role, RoomName, Seq};
use gateway::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

/// Ann and Bob talk in the lobby, on the board and in a direct conversation, and Ann is a moderator everywhere.
struct Scene {
    messenger: Messenger,
    told: RecordingOutlet,
    ann: Person,
    lobby: Known,
    board: Known,
    direct: Known,
}

fn name(room: &str) -> RoomName {
    RoomName::parse(room).expect("a name")
}

async fn begin() -> Scene {
    let (messenger, told) = scene::messenger();
    let lobby = scene::community(&messenger, "one").await;
    let board = CreateRoom::public(name("board"), "Board");
    let board = messenger.ask(&id("one"), By::Service, board).await.expect("a room");
    for name in ["ann", "bob"] {
        scene::person(&messenger, "one", name, &lobby).await;
        let join = Join { conversation: board.id, invitation: None };
        messenger.ask(&id("one"), by(name), join).await.expect("a member");
    }
    let moderator =
        Profile { name: "Ann".to_owned(), avatar: None, guest: false, role: Some(Role::Moderator) };
    let ann = messenger.ask(&id("one"), by("ann"), Meet { profile: moderator }).await.expect("Ann");
    let direct = OpenDirect { with: somebody("bob") };
    let direct = messenger.ask(&id("one"), by("ann"), direct).await.expect("a conversation");
    let (lobby, board, direct) = (
        known(&messenger, lobby, "hello").await,
        known(&messenger, board, "a secret").await,
        known(&messenger, direct, "a secret").await,
    );
    told.take();
    Scene { messenger, told, ann, lobby, board, direct }
}

/// A conversation with a message, a report of it, and an invitation.
async fn known(messenger: &Messenger, conversation: Conversation, text: &str) -> Known {
    let (one, here) = (id("one"), conversation.id);
    let said = Append { conversation: here, draft: Draft::text(None, text) };
    messenger.ask(&one, by("bob"), said).await.expect("a message");
    let report = ReportMessage { conversation: here, seq: Seq(1), reason: String::new() };
    let report = messenger.ask(&one, by("ann"), report).await.expect("a report").report.id;
    let into = if conversation.name.is_some() {
        here
    } else {
        // Nobody can be invited into a direct conversation.
        messenger.room(&one, &name("board")).await.expect("the board")
    };
    let invite = Invite { conversation: into, person: None, until: None, uses: 9 };
    let invitation = messenger.ask(&one, By::Service, invite).await.expect("an invitation").invitation.id;
    Known { conversation, invitation, report }
}

impl Scene {
    fn ann_with(&self, rooms: &[&str]) -> Arc<Me> {
        let rooms = AllowedRooms::only(rooms.iter().map(|room| name(room)));
        Me::somebody(&id("one"), self.ann.clone(), rooms)
    }

    /// Sends an event on a room's topic, or on the person's own.
    async fn ask(
        &self,
        me: &Arc<Me>,
        room: Option<ConversationId>,
        event: &str,
        payload: &Value,
    ) -> Result<Value, Fault> {
        let turns = Turns::default();
        let asker = Asker { messenger: &self.messenger, me, room, turns: &turns };
        let answering: Answering = answer(&asker, event, Payload::Json(&payload.to_string()))?;
        answering.await
    }

    /// Sends each event about a conversation that the token is not valid for, with and without naming it.
    async fn ask_everything_about(&self, me: &Arc<Me>, known: &Known) {
        for event in EVENTS.iter().filter(|row| row.surface != Surface::Room).map(|row| row.event) {
            let Some((payload, _)) = row(event, known) else { continue };
            let mut unnamed = payload.clone();
            unnamed.as_object_mut().expect("an object").remove("conversation");
            for payload in [payload, unnamed] {
                let outcome = self.ask(me, None, event, &payload).await;
                self.check(event, known, &outcome);
            }
        }
    }

    fn check(&self, event: &str, known: &Known, outcome: &Result<Value, Fault>) {
        let told = self.told.take();
        match event {
            // These concern people, and no conversation.
            "profile" | "block" | "unblock" | "blocks" | "receipts:set" => {
                assert!(outcome.is_ok(), "{event}: {outcome:?}");
            }
            "conversations" | "rooms" => {
                let text = outcome.as_ref().expect("a list").to_string();
                for secret in ["a secret", &known.conversation.id.to_string()] {
                    assert!(!text.contains(secret), "{event}: {text}");
                }
            }
            _ => {
                let code = outcome.as_ref().map_or_else(|fault| fault.code, |_| "ok");
                let refused = ["not_found", "token_limited", "bad_payload"].contains(&code);
                assert!(refused, "{event} about {}: {outcome:?}", known.conversation.id);
                assert_eq!(told, [], "{event}");
            }
        }
    }
}

#[test]
fn a_token_for_some_rooms_reaches_no_other_conversation() {
    run(async {
        let scene = begin().await;
        let me = scene.ann_with(&["lobby"]);
        scene.ask_everything_about(&me, &scene.board).await;
        scene.ask_everything_about(&me, &scene.direct).await;
    });
}

#[test]
fn a_token_for_no_room_reaches_nothing() {
    run(async {
        let scene = begin().await;
        let me = scene.ann_with(&[]);
        for known in [&scene.lobby, &scene.board, &scene.direct] {
            scene.ask_everything_about(&me, known).await;
        }
    });
}

#[test]
fn a_token_for_some_rooms_is_good_in_them_by_either_topic() {
    run(async {
        let scene = begin().await;
        let me = scene.ann_with(&["lobby"]);
        let here = scene.lobby.conversation.id;
        for (event, more) in [
            ("history", json!({})),
            ("search", json!({"query": "hello"})),
            ("members", json!({})),
            ("invitations", json!({})),
            ("reports", json!({})),
            ("sanctions", json!({})),
            ("audit", json!({})),
            ("msg:new", json!({"text": "hi"})),
            ("sanction", json!({"person": "bob", "kind": "mute"})),
            ("sanction:lift", json!({"person": "bob", "kind": "mute"})),
        ] {
            let mut named = more.clone();
            named["conversation"] = json!(here);
            for (room, payload) in [(Some(here), more), (None, named)] {
                let outcome = scene.ask(&me, room, event, &payload).await;
                assert!(outcome.is_ok(), "{event}: {outcome:?}");
            }
        }
    });
}

#[test]
fn on_the_topic_of_its_room_it_reaches_no_other_either() {
    run(async {
        let scene = begin().await;
        let me = scene.ann_with(&["lobby"]);
        let here = Some(scene.lobby.conversation.id);
        for (event, payload, comes) in [
            ("report:settle", json!({"report": scene.board.report}), "token_limited"),
            ("invitation:withdraw", json!({"invitation": scene.board.invitation}), "token_limited"),
            ("reports", json!({"conversation": scene.board.conversation.id}), "not_found"),
            ("audit", json!({"conversation": scene.board.conversation.id}), "not_found"),
        ] {
            let outcome = scene.ask(&me, here, event, &payload).await;
            assert_eq!(outcome.map_err(|fault| fault.code), Err(comes), "{event}");
        }
    });
}
