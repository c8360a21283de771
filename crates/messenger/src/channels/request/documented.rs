//! Checks that requests, answers and events are what `docs/protocol.md` shows: its tables are parsed, each event is
//! sent as it stands there, and the members of the results are compared.

mod tables;

use super::isolation::ask_in;
use super::{EVENTS, Surface};
use crate::audience::{DeviceId, Followed, Reading};
use crate::channels::connection::Me;
use crate::entrance::AllowedRooms;
use crate::messenger::Messenger;
use crate::scene::{self, RecordingOutlet, by, id, run, somebody};
use crate::topics::TOLD_TO_PEOPLE;
use chat::verbs::{
    Append, ChangeCommunity, EditText, ImposeSanction, Invite, Join, Leave, Meet, OpenDirect, ReportMessage,
    SetRole, Withdraw,
};
use chat::{By, Draft, Profile, Role, RoomName, SanctionKind, Seq, Settings};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tables::{Names, Shape, objects, rows, shape, spans};

fn names_of(value: &Value) -> Names {
    value.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

fn check(what: &str, value: &Value, (always, sometimes): &Shape) {
    let found = names_of(value);
    let missing: Vec<_> = always.difference(&found).collect();
    let more: Vec<_> =
        found.iter().filter(|name| !always.contains(*name) && !sometimes.contains(*name)).collect();
    assert!(missing.is_empty() && more.is_empty(), "{what}: documented {missing:?}, not documented {more:?}");
}

/// Returns which documented object a member is.
fn object_of(event: &str, name: &str) -> Option<&'static str> {
    Some(match name {
        "message" => "message",
        "messages" if event == "history" => "shown message",
        "messages" | "last" => "message",
        "attachments" => "attachment",
        "conversation" | "rooms" => "conversation",
        "member" => "member",
        "members" if event == "members" => "member",
        "conversations" => "line",
        "invitation" | "invitations" => "invitation",
        "sanction" | "sanctions" => "sanction",
        "report" | "reports" => "report",
        "audit" => "entry",
        "edits" => "edit",
        "profile" => "profile",
        "people" if event == "presence" => "presence",
        "community" => "community",
        _ => return None,
    })
}

/// Compares the members, recursively.
fn check_members(event: &str, value: &Value, objects: &BTreeMap<&str, Shape>, seen: &mut BTreeSet<&str>) {
    for (name, member) in value.as_object().into_iter().flatten() {
        let Some(object) = object_of(event, name) else { continue };
        let one = member.as_array().map_or(Some(member), |rows| rows.first()).filter(|one| one.is_object());
        if let Some(one) = one {
            seen.insert(object);
            check(&format!("{object} in {event}"), one, &objects[object]);
            check_members(event, one, objects, seen);
        }
    }
}

/// Ann, who owns the lobby and the community, asks; Bob and Cat are there, too, and one object of each kind.
async fn world() -> (Messenger, RecordingOutlet, Arc<Me>, Value) {
    let (messenger, told) = scene::messenger();
    let (one, lobby) = (id("one"), scene::community(&messenger, "one").await);
    for who in ["ann", "bob", "cat"] {
        scene::person(&messenger, "one", who, &lobby).await;
    }
    let profile = Profile { name: "Ann".into(), avatar: None, guest: false, role: Some(Role::Owner) };
    let ann = messenger.ask(&one, by("ann"), Meet { profile }).await.expect("Ann");
    let direct = messenger.ask(&one, by("ann"), OpenDirect { with: somebody("bob") }).await.expect("one");
    for (number, who) in ["ann", "bob", "cat"].into_iter().enumerate() {
        let device = DeviceId(number as u64);
        messenger.inner.audience.arrive(&one, &somebody(who), device).expect("there is room");
        let followed = [Followed::of(&lobby), Followed::of(&direct)];
        let followed = if who == "cat" { &followed[..1] } else { &followed[..] };
        let read = Reading { followed, gone: &[] };
        let changed = messenger.inner.audience.follow_all(&one, &somebody(who), read);
        messenger.inner.here().announce(&changed.announcement);
        let name = RoomName::parse("lobby").expect("a name");
        messenger.inner.audience.open_room(&one, lobby.id, &name, &somebody(who), device);
    }
    let here = lobby.id;
    for who in ["ann", "bob"] {
        let owns = SetRole { conversation: here, person: somebody(who), role: Role::Owner };
        messenger.ask(&one, By::Service, owns).await.expect("a key may");
    }
    let attachments =
        serde_json::from_value(json!([{"id": "f", "name": "f", "media_type": "a/b", "bytes": 1}]));
    let draft = Draft { attachments: attachments.expect("files"), ..Draft::text(None, "some words") };
    messenger.ask(&one, by("ann"), Append { conversation: here, draft }).await.expect("a message");
    let edit = EditText { conversation: here, seq: Seq(1), text: "words".into(), mentions: Vec::new() };
    messenger.ask(&one, by("ann"), edit).await.expect("an edit");
    let said = Append { conversation: here, draft: Draft::text(None, "more words") };
    messenger.ask(&one, by("bob"), said).await.expect("a message");
    // So that this is announced, too.
    let profile = Profile { name: "Bobby".into(), avatar: None, guest: false, role: None };
    messenger.ask(&one, by("bob"), Meet { profile }).await.expect("Bob");
    messenger.ask(&one, by("cat"), Leave { conversation: here }).await.expect("Cat goes");
    messenger.ask(&one, by("cat"), Join { conversation: here, invitation: None }).await.expect("and comes");
    let invite = Invite { conversation: here, person: Some(somebody("cat")), until: None, uses: 1 };
    let invitation = messenger.ask(&one, by("ann"), invite).await.expect("one").invitation.id;
    messenger.ask(&one, by("ann"), Withdraw { invitation }).await.expect("hers");
    messenger.look(&one).await.expect("it is there");
    let settings = Settings::named("Another name");
    messenger.ask(&one, By::Service, ChangeCommunity { settings }).await.expect("a key may");
    messenger.catch_up().await;
    let report = ReportMessage { conversation: here, seq: Seq(1), reason: String::new() };
    let report = messenger.ask(&one, by("bob"), report).await.expect("a report").report.id;
    let (person, kind) = (somebody("cat"), SanctionKind::Mute);
    let mute = ImposeSanction { person, conversation: Some(here), kind, until: None, reason: String::new() };
    messenger.ask(&one, by("ann"), mute).await.expect("an owner may");
    let invite = Invite { conversation: here, person: None, until: None, uses: 9 };
    let invitation = messenger.ask(&one, by("ann"), invite).await.expect("one").invitation.id;
    let ids = json!({"conversation": here, "report": report, "invitation": invitation,
        "before": "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "after": "00000000000000000000000000"});
    (messenger, told, Me::somebody(&one, ann, AllowedRooms::ALL), ids)
}

/// Returns a payload of the document, with ids and sequence numbers that exist.
fn payload(shown: &str, ids: &Value) -> Value {
    let mut text = shown.replace(":…", ":1900000000000").replace("\"seq\":42", "\"seq\":1");
    text = text.replace("\"reply_to\":7", "\"reply_to\":1");
    for (name, id) in ids.as_object().expect("ids") {
        text = text.replace(&format!("\"{name}\":\"01J…\""), &format!("\"{name}\":{id}"));
    }
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{shown}: {error}"))
}

#[test]
fn each_event_is_taken_answered_and_told_as_it_is_documented() {
    let objects = objects();
    let both = rows("### What clients send", "On a person's topic alone:");
    let person = rows("On a person's topic alone:", "### What clients are told");
    let told_rows = rows("### What clients are told", "\n### Presence");
    let mut events = BTreeMap::new();
    for (row, surface) in
        both.iter().map(|row| (row, Surface::Both)).chain(person.iter().map(|row| (row, Surface::Person)))
    {
        if let Some(event) = spans(row[0]).first() {
            assert!(events.insert(*event, (row, surface)).is_none(), "{event} has two rows");
        }
    }
    let known: BTreeSet<&str> = EVENTS.iter().map(|row| row.event).collect();
    assert_eq!(events.keys().copied().collect::<BTreeSet<_>>(), known, "the tables of What clients send");
    let mut seen = BTreeSet::new();
    let mut were_told = BTreeSet::new();
    run(async {
        for row in EVENTS.iter().filter(|row| row.ask.is_some()) {
            let event = row.event;
            let (documented, surface) = &events[event];
            assert_eq!(*surface, row.surface, "{event}");
            let (messenger, told, me, ids) = world().await;
            let mut asked = payload(spans(documented[1])[0], &ids);
            if matches!(event, "read" | "delivered") {
                // One that she has not read; the first one was changed.
                asked["seq"] = json!(2);
            }
            if row.surface == Surface::Both && !matches!(event, "invitation:withdraw" | "report:settle") {
                asked["conversation"] = ids["conversation"].clone();
            }
            let answer = ask_in(&messenger, &me, None, event, &asked).await;
            let answer = answer.unwrap_or_else(|fault| panic!("{event} {asked}: {fault:?}"));
            check(event, &answer, &shape(documented[2], &objects));
            check_members(event, &answer, &objects, &mut seen);
            for (topic, event, payload) in told.take() {
                let Some(row) = told_rows.iter().find(|row| spans(row[0]).contains(&event.as_str())) else {
                    continue;
                };
                let payload: Value = serde_json::from_str(&payload).expect("JSON");
                check(&format!("{event} to {topic}"), &payload, &shape(row[1], &objects));
                check_members(&event, &payload, &objects, &mut seen);
                were_told.insert(event);
            }
        }
    });
    let all: BTreeSet<&str> = objects.keys().copied().collect();
    assert_eq!(seen, all, "every object was seen");
    // Channels send these themselves, or they are results of reads.
    let others = ["conversations:changed", "status", "typing"];
    for event in TOLD_TO_PEOPLE.iter().filter(|event| !others.contains(event)) {
        assert!(were_told.contains(*event), "{event} was not told: {were_told:?}");
    }
}
