//! Two communities with the same names in them: no request in one reaches the other. Each event has a row here, and one
//! without a row fails.

use super::{Asker, EVENTS, Surface, answer};
use crate::audience::{DeviceId, Followed, Reading};
use crate::channels::connection::Me;
use crate::channels::turns::Turns;
use crate::entrance::AllowedRooms;
use crate::fault::Fault;
use crate::messenger::Messenger;
use crate::scene::{self, RecordingOutlet, by, id, run, somebody};
use chat::verbs::{Append, Invite, OpenDirect, ReportMessage};
use chat::{Conversation, ConversationId, Draft, InvitationId, ReportId, Seq};
use gateway::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

/// What a person of one community could learn of the other's, to use in a request.
pub(super) struct Known {
    pub(super) conversation: Conversation,
    pub(super) invitation: InvitationId,
    pub(super) report: ReportId,
}

/// The expected outcome of such a request.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Comes {
    /// The same as for what does not exist.
    Nothing,
    /// Only objects of one's own community: the other's secret must not be in it.
    OwnOnly,
    /// An echo of the request, whoever exists.
    Echo,
}

/// Returns an event's payload and its expected outcome.
pub(super) fn row(event: &str, known: &Known) -> Option<(Value, Comes)> {
    let here = known.conversation.id;
    let on = |more: Value| {
        let mut payload = json!({ "conversation": here });
        for (name, value) in more.as_object().into_iter().flatten() {
            payload[name] = value.clone();
        }
        payload
    };
    Some(match event {
        "msg:new" => (on(json!({"text": "hi"})), Comes::Nothing),
        "msg:edit" => (on(json!({"seq": 1, "text": "hi"})), Comes::Nothing),
        "msg:delete" | "edits" | "read" | "delivered" | "receipts" => (on(json!({"seq": 1})), Comes::Nothing),
        "react" => (on(json!({"seq": 1, "emoji": "x"})), Comes::Nothing),
        "history" | "keep" | "members" | "invite" | "leave" | "invitations" | "reports" | "sanctions"
        | "audit" => (on(json!({})), Comes::Nothing),
        "search" => (json!({"query": "secret"}), Comes::OwnOnly),
        "conversation:change" => (on(json!({"title": "x"})), Comes::Nothing),
        "report" => (on(json!({"seq": 1})), Comes::Nothing),
        "report:settle" => (json!({"report": known.report}), Comes::Nothing),
        "sanction" | "sanction:lift" => (on(json!({"person": "bob", "kind": "ban"})), Comes::Nothing),
        "member:remove" => (on(json!({"person": "bob"})), Comes::Nothing),
        "member:role" => (on(json!({"person": "bob", "role": "owner"})), Comes::Nothing),
        "invitation:withdraw" => (json!({"invitation": known.invitation}), Comes::Nothing),
        "conversations" | "rooms" | "blocks" => (json!({}), Comes::OwnOnly),
        "direct" => (json!({"with": "bob"}), Comes::Nothing),
        "group" => (json!({"with": ["bob"]}), Comes::Nothing),
        "room:create" => (json!({"name": "lobby", "kind": "public", "title": "x"}), Comes::OwnOnly),
        "join" => (json!({"conversation": here, "invitation": known.invitation}), Comes::Nothing),
        "profile" | "block" => (json!({"person": "bob"}), Comes::Nothing),
        "presence" => (json!({"people": ["bob"]}), Comes::OwnOnly),
        // That a person is not blocked is no secret.
        "unblock" => (json!({"person": "bob"}), Comes::Echo),
        "receipts:set" => (json!({"on": false}), Comes::OwnOnly),
        // These never reach the store: channels handle them, and `twins` tests them.
        "typing" | "status" | "token:refresh" => return None,
        other => panic!("the event `{other}` has no row here"),
    })
}

/// In `one` there is only Ann; in `two` Ann and Bob talk.
async fn two_communities(messenger: &Messenger) -> (Arc<Me>, Known) {
    let lobby_of_one = scene::community(messenger, "one").await;
    let lobby_of_two = scene::community(messenger, "two").await;
    let ann = scene::person(messenger, "one", "ann", &lobby_of_one).await;
    for name in ["ann", "bob"] {
        scene::person(messenger, "two", name, &lobby_of_two).await;
        let audience = &messenger.inner.audience;
        assert!(audience.arrive(&id("two"), &somebody(name), DeviceId(7)).is_ok());
    }
    let two = id("two");
    let direct =
        messenger.ask(&two, by("ann"), OpenDirect { with: somebody("bob") }).await.expect("a conversation");
    let draft = Draft::text(None, "a secret");
    messenger.ask(&two, by("bob"), Append { conversation: direct.id, draft }).await.expect("a message");
    for name in ["ann", "bob"] {
        messenger.inner.audience.follow_all(
            &two,
            &somebody(name),
            Reading { followed: &[Followed::of(&direct)], gone: &[] },
        );
    }
    let report = ReportMessage { conversation: direct.id, seq: Seq(1), reason: String::new() };
    let report = messenger.ask(&two, by("ann"), report).await.expect("a report").report.id;
    let invite = Invite { conversation: lobby_of_two.id, person: None, until: None, uses: 9 };
    let invitation = messenger.ask(&two, by("ann"), invite).await.expect("an invitation").invitation.id;
    let me = Me::somebody(&id("one"), ann, AllowedRooms::ALL);
    (me, Known { conversation: direct, invitation, report })
}

async fn ask(messenger: &Messenger, me: &Arc<Me>, event: &str, payload: &Value) -> Result<Value, Fault> {
    ask_in(messenger, me, None, event, payload).await
}

/// Sends an event on a room's topic, or on the person's own.
pub(super) async fn ask_in(
    messenger: &Messenger,
    me: &Arc<Me>,
    room: Option<ConversationId>,
    event: &str,
    payload: &Value,
) -> Result<Value, Fault> {
    let turns = Turns::default();
    let asker = Asker { messenger, me, room, turns: &turns };
    answer(&asker, event, Payload::Json(&payload.to_string()))?.await
}

fn check(event: &str, comes: Comes, outcome: &Result<Value, Fault>, told: &RecordingOutlet) {
    match (comes, outcome) {
        (Comes::Nothing, Err(fault)) => {
            assert!(["not_found", "not_permitted"].contains(&fault.code), "{event}: {fault:?}");
        }
        (Comes::Nothing, Ok(answer)) => panic!("{event} answered {answer}"),
        (Comes::OwnOnly, outcome) => {
            let text = outcome.as_ref().map_or_else(|fault| fault.json().to_string(), Value::to_string);
            assert!(!text.contains("a secret") && !text.contains("bob"), "{event}: {text}");
        }
        (Comes::Echo, outcome) => {
            assert_eq!(outcome.as_ref().ok(), Some(&json!({"person": "bob", "on": false})), "{event}");
        }
    }
    for (topic, event_told, _) in told.take() {
        assert!(topic.contains(":one/"), "{event} told {topic} of {event_told}");
    }
}

#[test]
fn nothing_that_can_be_asked_in_one_community_reaches_another() {
    run(async {
        let (messenger, told) = scene::messenger();
        let (me, known) = two_communities(&messenger).await;
        told.take();
        for event in EVENTS.iter().filter(|row| row.surface != Surface::Room).map(|row| row.event) {
            let Some((payload, comes)) = row(event, &known) else { continue };
            let outcome = ask(&messenger, &me, event, &payload).await;
            check(event, comes, &outcome, &told);
        }
    });
}

#[test]
fn who_is_of_the_other_community_gets_what_they_ask_for() {
    run(async {
        let (messenger, told) = scene::messenger();
        let (_, known) = two_communities(&messenger).await;
        told.take();
        let ann = messenger.ask(&id("two"), by("ann"), chat::verbs::ReadPerson { person: somebody("ann") });
        let me = Me::somebody(&id("two"), ann.await.expect("Ann of two"), AllowedRooms::ALL);
        let found = ask(&messenger, &me, "search", &json!({"query": "secret"})).await.expect("an answer");
        assert_eq!(found["messages"][0]["text"], "a secret");
        let payload = json!({"conversation": known.conversation.id, "text": "hi"});
        ask(&messenger, &me, "msg:new", &payload).await.expect("an answer");
        let topics = told.events();
        for name in ["ann", "bob"] {
            assert!(topics.contains(&(format!("person:two/{name}"), "msg:new".to_owned())), "{topics:?}");
        }
    });
}
