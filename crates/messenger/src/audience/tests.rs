//! Whom news reaches, and whom it does not.

mod counting;
mod evictions;
mod presence;

use super::limits::TABS_EACH_MAX;
use super::*;
use crate::scene::{self, by, id, run, somebody};
use chat::verbs::{Append, ChangeRoom, Erase, ImposeSanction, Invite, Leave, Remove, Withdraw};
use chat::{By, ConversationId, Draft, Kind, RoomName, SanctionKind, Ulid};

fn conversation(number: u8) -> ConversationId {
    ConversationId(Ulid::from_bytes([number; 16]))
}

fn direct(number: u8) -> Followed {
    Followed { id: conversation(number), is_room: false, revision: Revision(0) }
}

fn room(number: u8) -> Followed {
    Followed { id: conversation(number), is_room: true, revision: Revision(0) }
}

/// A reading of these, which leaves what they followed before.
fn part(followed: &[Followed]) -> Reading<'_> {
    Reading { followed, gone: &[] }
}

fn minute(number: u64) -> Moment {
    Moment::from_millis(number * 60_000)
}

/// Puts people online who follow a conversation.
fn here(audience: &Audience, people: &[&str], followed: Followed) {
    for (number, name) in people.iter().enumerate() {
        audience.arrive(&id("one"), &somebody(name), DeviceId(number as u64)).expect("there is room");
        audience.begin_following(&id("one"), &somebody(name));
        audience.follow_all(&id("one"), &somebody(name), part(&[followed]));
    }
}

#[test]
fn nothing_is_left_of_a_community_when_all_are_gone() {
    let audience = Audience::new();
    here(&audience, &["ann", "bob"], room(1));
    for (number, name) in ["ann", "bob"].iter().enumerate() {
        audience.depart(&id("one"), &somebody(name), DeviceId(number as u64), Moment::default());
    }
    audience.sweep(Instant::now() + 2 * LEASE, Moment::default(), false);
    assert_eq!(audience.counts(), [0; 4]);
}

#[test]
fn what_is_left_while_it_is_read_is_not_followed() {
    let audience = Audience::new();
    audience.arrive(&id("one"), &somebody("ann"), DeviceId(1)).expect("there is room");
    audience.begin_following(&id("one"), &somebody("ann"));
    audience.unfollow(&id("one"), &somebody("ann"), conversation(1));
    audience.follow_all(&id("one"), &somebody("ann"), part(&[direct(1), direct(2)]));
    assert!(!audience.is_in(&id("one"), conversation(1), &somebody("ann")));
    assert!(audience.is_in(&id("one"), conversation(2), &somebody("ann")));
}

#[test]
fn what_is_gone_is_followed_no_more_unless_they_came_back_while_it_was_read() {
    let audience = Audience::new();
    let (one, ann) = (id("one"), somebody("ann"));
    here(&audience, &["ann"], direct(1));
    for number in [2, 3] {
        audience.follow(&one, &ann, &direct(number));
    }
    audience.begin_following(&one, &ann);
    assert_eq!(audience.unread(&one, &ann, &[direct(1)]), [conversation(2), conversation(3)]);
    audience.unfollow(&one, &ann, conversation(3));
    audience.follow(&one, &ann, &direct(3));
    let read = Reading { followed: &[direct(1)], gone: &[conversation(2), conversation(3)] };
    assert!(audience.follow_all(&one, &ann, read).is_other);
    let follows = [1, 2, 3].map(|number| audience.is_in(&one, conversation(number), &ann));
    assert_eq!(follows, [true, false, true]);
}

#[test]
fn a_person_has_a_bounded_number_of_devices() {
    let audience = Audience::new();
    for device in 0..DEVICES_MAX as u64 {
        assert!(audience.arrive(&id("one"), &somebody("ann"), DeviceId(device)).is_ok());
    }
    assert!(matches!(audience.arrive(&id("one"), &somebody("ann"), DeviceId(99)), Err(Full)));
}

#[test]
fn what_is_said_while_conversations_are_read_is_known_when_they_are() {
    run(async {
        let (messenger, _) = scene::messenger();
        let lobby = scene::community(&messenger, "one").await;
        scene::person(&messenger, "one", "ann", &lobby).await;
        let audience = &messenger.inner.audience;
        let (one, ann) = (id("one"), somebody("ann"));
        audience.arrive(&one, &ann, DeviceId(1)).expect("there is room");
        audience.begin_following(&one, &ann);
        let read = messenger.conversations(&one, &ann).await.expect("conversations").all;
        let append = Append { conversation: lobby.id, draft: Draft::text(None, "meanwhile") };
        messenger.ask(&one, By::Service, append).await.expect("a message");
        let followed: Vec<_> = read.iter().map(|line| line.followed).collect();
        audience.follow_all(&one, &ann, part(&followed));
        let read: Vec<_> = read.iter().map(|line| (line.followed.id, line.last)).collect();
        let newer = audience.newer(&one, &ann, &read);
        assert_eq!(newer.after, [(lobby.id, Seq(0))]);
        assert!(!newer.others);
    });
}

#[test]
fn a_large_room_tells_its_tabs_once_a_second_and_whom_a_message_mentions_at_once() {
    run(async {
        let (messenger, told) = scene::messenger();
        let lobby = scene::community(&messenger, "one").await;
        scene::person(&messenger, "one", "ann", &lobby).await;
        let audience = &messenger.inner.audience;
        let crowd: Vec<String> = (0..=TABS_EACH_MAX).map(|number| format!("p{number}")).collect();
        let names: Vec<&str> = crowd.iter().map(String::as_str).chain(["ann"]).collect();
        here(audience, &names, Followed::of(&lobby));
        told.take();
        let draft = Draft { mentions: vec![somebody("ann")], ..Draft::text(None, "hi") };
        messenger
            .ask(&id("one"), by("ann"), Append { conversation: lobby.id, draft })
            .await
            .expect("a message");
        assert_eq!(told.events(), [("person:one/ann".to_owned(), "msg:new".to_owned())]);
        messenger.tick();
        assert_eq!(told.events().len(), names.len());
    });
}

#[test]
fn what_a_person_is_told_while_a_device_joins_is_kept_for_it_but_typing() {
    let audience = Audience::new();
    let (one, ann, bob) = (id("one"), somebody("ann"), somebody("bob"));
    here(&audience, &["ann", "bob"], direct(1));
    assert_eq!(audience.end_joining(&one, &bob, DeviceId(1)).map(|told| told.len()), Ok(0));
    audience.tell_person(&one, &ann, "cursors", "1");
    audience.changed(&one, conversation(1), "msg:edit", "2");
    audience.tell_others(&one, conversation(1), &bob, "receipt", "3");
    audience.tell_others(&one, conversation(1), &bob, "typing", "4");
    let told = audience.end_joining(&one, &ann, DeviceId(0)).expect("it is little");
    let told: Vec<(&str, &str)> = told.iter().map(|(event, payload)| (*event, &**payload)).collect();
    assert_eq!(told, [("cursors", "1"), ("msg:edit", "2"), ("receipt", "3")]);
    // The join is accepted, and the device receives by itself.
    audience.tell_person(&one, &ann, "cursors", "5");
    assert_eq!(audience.end_joining(&one, &ann, DeviceId(0)).map(|told| told.len()), Ok(0));
    assert_eq!(
        audience.end_joining(&one, &bob, DeviceId(1)).map(|told| told.len()),
        Ok(0),
        "Bob's joins had ended"
    );
}

#[test]
fn who_is_invited_again_and_again_is_told_once() {
    run(async {
        let (messenger, told) = scene::messenger();
        let lobby = scene::community(&messenger, "one").await;
        for name in ["ann", "bob"] {
            scene::person(&messenger, "one", name, &lobby).await;
        }
        here(&messenger.inner.audience, &["ann", "bob"], Followed::of(&lobby));
        told.take();
        let whom = Some(somebody("bob"));
        let invite = Invite { conversation: lobby.id, person: whom, until: None, uses: 1 };
        for _ in 0..3 {
            messenger.ask(&id("one"), by("ann"), invite.clone()).await.expect("an invitation");
        }
        assert_eq!(told.events(), [("person:one/bob".to_owned(), "invitation".to_owned())]);
    });
}

#[test]
fn that_an_invitation_is_withdrawn_is_told_to_who_was_invited_whoever_withdraws_it() {
    run(async {
        let (messenger, told) = scene::messenger();
        let lobby = scene::community(&messenger, "one").await;
        for name in ["ann", "bob"] {
            scene::person(&messenger, "one", name, &lobby).await;
        }
        here(&messenger.inner.audience, &["ann", "bob"], Followed::of(&lobby));
        let withdrawn = async |whom: Option<&str>, who: By| {
            let person = whom.map(somebody);
            let invite = Invite { conversation: lobby.id, person, until: None, uses: 1 };
            let invited = messenger.ask(&id("one"), by("ann"), invite).await.expect("an invitation");
            told.take();
            let invitation = invited.invitation.id;
            messenger.ask(&id("one"), who, Withdraw { invitation }).await.expect("withdrawn");
            let payload = serde_json::json!({ "id": invitation }).to_string();
            let to_bob = ("person:one/bob".to_owned(), "invitation:withdrawn".to_owned(), payload);
            let events = told.take();
            assert!(events.is_empty() || events == [to_bob], "{events:?}");
            events.len()
        };
        for who in [By::Service, by("ann"), by("bob")] {
            assert_eq!(withdrawn(Some("bob"), who).await, 1);
        }
        assert_eq!(withdrawn(None, by("ann")).await, 0, "it was nobody's");
    });
}

#[test]
fn who_has_a_room_open_is_told_what_the_erasure_of_somebody_left_of_its_messages() {
    run(async {
        let (messenger, told) = scene::messenger();
        let (one, lobby) = (id("one"), scene::community(&messenger, "one").await);
        for name in ["ann", "bob"] {
            scene::person(&messenger, "one", name, &lobby).await;
        }
        let name = RoomName::parse("lobby").expect("a name");
        let audience = &messenger.inner.audience;
        here(audience, &["ann", "bob"], Followed::of(&lobby));
        audience.open_room(&one, lobby.id, &name, &somebody("ann"), DeviceId(0));
        for (who, mentions) in [("bob", Vec::new()), ("ann", vec![somebody("bob")])] {
            let draft = Draft { mentions, ..Draft::text(None, "hello") };
            messenger.ask(&one, by(who), Append { conversation: lobby.id, draft }).await.expect("said");
        }
        told.take();
        let erase = Erase { person: somebody("bob") };
        while !messenger.ask(&one, By::Service, erase.clone()).await.expect("erased").done {}
        let events = told.take();
        let of_room =
            events.iter().filter(|(topic, event, _)| topic == "room:one/lobby" && event.starts_with("msg:"));
        let messages: Vec<(&str, serde_json::Value)> = of_room
            .map(|(_, event, payload)| (event.as_str(), serde_json::from_str(payload).expect("a message")))
            .collect();
        let [("msg:delete", tombstone), ("msg:edit", unmentioned)] = &*messages else { panic!("{events:?}") };
        assert_eq!(
            (&tombstone["seq"], &tombstone["sender"], &tombstone["text"]),
            (&1.into(), &"~erased".into(), &"".into())
        );
        assert_eq!((&unmentioned["seq"], &unmentioned["text"]), (&2.into(), &"hello".into()));
        assert_eq!(unmentioned["mentions"], serde_json::json!([]));
        assert!(unmentioned["revision"].as_u64() > tombstone["revision"].as_u64());
    });
}
