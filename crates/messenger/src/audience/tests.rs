//! Whom news reaches, and whom it does not.

mod counting;

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

fn topics(announcement: &Announcement) -> Vec<&str> {
    let mut topics: Vec<&str> = announcement.topics.iter().map(|topic| &**topic).collect();
    topics.sort_unstable();
    topics
}

#[test]
fn a_status_is_told_to_those_who_share_a_conversation_and_to_nobody_else() {
    let audience = Audience::new();
    here(&audience, &["ann", "bob"], direct(1));
    here(&audience, &["cat"], direct(2));
    let idle = Some(Activity::Idle);
    let told = audience.set_status(&id("one"), &somebody("bob"), DeviceId(1), idle, None, minute(1));
    assert_eq!(topics(&told), ["person:one/ann", "person:one/bob"]);
    assert!(told.payload.contains(r#""status":"away""#), "{}", told.payload);
    let again = audience.set_status(&id("one"), &somebody("bob"), DeviceId(1), idle, None, minute(1));
    assert!(again.topics.is_empty());
    let friends = audience.friends(&id("one"), &somebody("ann"));
    assert_eq!(friends, [Presence { person: somebody("bob"), status: Status::Away, seen: None }]);
    assert!(audience.friends(&id("two"), &somebody("ann")).is_empty());
}

#[test]
fn somebody_is_gone_when_no_device_came_back_within_the_lease() {
    let audience = Audience::new();
    here(&audience, &["ann", "bob"], direct(1));
    let (start, seen) = (Instant::now(), Moment::from_millis(3 * 60_000 + 5));
    assert!(audience.depart(&id("one"), &somebody("bob"), DeviceId(1), seen).topics.is_empty());
    assert!(audience.sweep(start, seen, false).announcements.is_empty());
    let due = audience.sweep(start + 2 * LEASE, minute(9), false);
    let told = &due.announcements[0].payload;
    assert!(told.contains(r#""status":"offline""#) && told.contains(r#""seen":180000"#), "{told}");
    assert_eq!(due.seen, [(id("one"), somebody("bob"), minute(3))]);
    assert_eq!(audience.friends(&id("one"), &somebody("ann")), []);
}

#[test]
fn somebody_who_is_away_stays_away_until_the_lease_ends() {
    let audience = Audience::new();
    here(&audience, &["ann", "bob"], direct(1));
    let (one, bob) = (id("one"), somebody("bob"));
    let idle = Some(Activity::Idle);
    let told = audience.set_status(&one, &bob, DeviceId(1), idle, None, minute(1));
    assert!(told.payload.contains(r#""status":"away""#), "{}", told.payload);
    assert!(audience.depart(&one, &bob, DeviceId(1), minute(2)).topics.is_empty());
    let away = Presence { person: bob.clone(), status: Status::Away, seen: None };
    assert_eq!(audience.friends(&one, &somebody("ann")), [away]);
    let due = audience.sweep(Instant::now() + 2 * LEASE, minute(3), false);
    let told: Vec<&str> = due.announcements.iter().map(|announcement| &*announcement.payload).collect();
    assert!(matches!(told.as_slice(), [one] if one.contains(r#""status":"offline""#)), "{told:?}");
}

#[test]
fn who_is_invisible_looks_as_if_they_had_gone_when_they_chose_it() {
    let audience = Audience::new();
    here(&audience, &["ann", "bob"], direct(1));
    let (one, bob, device) = (id("one"), somebody("bob"), DeviceId(1));
    let invisible = Some(Choice::Invisible);
    let told = audience.set_status(&one, &bob, device, None, invisible, minute(2));
    assert!(told.payload.contains(r#""seen":120000"#), "as of who goes: {}", told.payload);
    let seen = |status| Some(Presence { person: bob.clone(), status, seen: Some(minute(2)) });
    assert_eq!(audience.presence(&one, &bob), seen(Status::Offline));
    // Neither choosing it again nor disconnecting changes it.
    audience.set_status(&one, &bob, device, None, invisible, minute(5));
    assert_eq!(audience.everybody_seen(minute(6)).into_iter().find(|(_, who, _)| *who == bob), {
        Some((one.clone(), bob.clone(), minute(2)))
    });
    audience.depart(&one, &bob, device, minute(7));
    let due = audience.sweep(Instant::now() + 2 * LEASE, minute(8), false);
    assert!(due.announcements.is_empty(), "nobody saw them");
    assert_eq!(due.seen, [(one, bob, minute(2))]);
}

#[test]
fn who_stays_is_noted_as_seen_now_and_then_unless_they_are_invisible() {
    let audience = Audience::new();
    here(&audience, &["ann", "bob"], direct(1));
    let invisible = Some(Choice::Invisible);
    audience.set_status(&id("one"), &somebody("bob"), DeviceId(1), None, invisible, minute(1));
    let sweep = |number| audience.sweep(Instant::now(), minute(number), false).seen;
    assert_eq!(sweep(1), []);
    assert_eq!(sweep(10), []);
    let mut seen = sweep(11);
    seen.sort_unstable();
    let one = id("one");
    assert_eq!(seen, [(one.clone(), somebody("ann"), minute(11)), (one, somebody("bob"), minute(1))]);
    assert_eq!(sweep(12), []);
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

/// Ann and Bob are in the lobby and have it open.
async fn open_lobby(messenger: &crate::Messenger) -> chat::Conversation {
    let lobby = scene::community(messenger, "one").await;
    let name = RoomName::parse("lobby").expect("a name");
    for (number, person) in ["ann", "bob"].into_iter().enumerate() {
        scene::person(messenger, "one", person, &lobby).await;
        let device = DeviceId(number as u64);
        messenger.inner.audience.open_room(&id("one"), lobby.id, &name, &somebody(person), device);
    }
    lobby
}

fn ended(told: &scene::RecordingOutlet) -> Vec<(String, String)> {
    told.events().into_iter().filter(|(_, event)| event == "end_join").collect()
}

#[test]
fn who_is_removed_or_banned_has_to_leave_the_room_at_once() {
    run(async {
        let (messenger, told) = scene::messenger();
        let lobby = open_lobby(&messenger).await;
        let end = ("room:one/lobby".to_owned(), "end_join".to_owned());
        told.take();
        let remove = Remove { conversation: lobby.id, person: somebody("ann") };
        messenger.ask(&id("one"), By::Service, remove).await.expect("removed");
        assert_eq!(ended(&told), std::slice::from_ref(&end));
        let ban = ImposeSanction {
            person: somebody("bob"),
            conversation: Some(lobby.id),
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        messenger.ask(&id("one"), By::Service, ban).await.expect("banned");
        assert_eq!(ended(&told), [end]);
        let audience = &messenger.inner.audience;
        assert!(audience.is_evicted(&id("one"), lobby.id, DeviceId(1)));
        assert!(!audience.is_evicted(&id("one"), lobby.id, DeviceId(2)));
    });
}

#[test]
fn who_leaves_is_answered_before_their_joins_end() {
    run(async {
        let (messenger, told) = scene::messenger();
        let lobby = open_lobby(&messenger).await;
        told.take();
        messenger.ask(&id("one"), by("bob"), Leave { conversation: lobby.id }).await.expect("left");
        assert_eq!(ended(&told), []);
        messenger.tick();
        assert_eq!(ended(&told), [("room:one/lobby".to_owned(), "end_join".to_owned())]);
    });
}

#[test]
fn a_room_that_becomes_private_keeps_its_members_and_no_others() {
    let (messenger, told) = scene::messenger();
    run(async {
        let lobby = open_lobby(&messenger).await;
        messenger.ask(&id("one"), by("bob"), Leave { conversation: lobby.id }).await.expect("left");
        let name = RoomName::parse("lobby").expect("a name");
        // Bob has it open as a visitor.
        messenger.inner.audience.open_room(&id("one"), lobby.id, &name, &somebody("bob"), DeviceId(1));
        told.take();
        let private = ChangeRoom { kind: Some(Kind::Private), ..ChangeRoom::of(lobby.id) };
        messenger.ask(&id("one"), By::Service, private).await.expect("changed");
        messenger.catch_up().await;
        assert_eq!(ended(&told).len(), 1);
        assert!(messenger.inner.audience.is_evicted(&id("one"), lobby.id, DeviceId(1)));
        assert!(!messenger.inner.audience.is_evicted(&id("one"), lobby.id, DeviceId(0)));
    });
}

#[test]
fn who_is_on_the_way_into_a_room_when_they_have_to_leave_does_not_follow_it_again() {
    let audience = Audience::new();
    here(&audience, &["ann"], room(1));
    let (one, ann, name) = (id("one"), somebody("ann"), RoomName::parse("lobby").expect("a name"));
    audience.open_room(&one, conversation(1), &name, &ann, DeviceId(7));
    audience.evict(&one, conversation(1), &ann);
    audience.ban(&one, &ann, conversation(1), None);
    audience.follow_joined(&one, &ann, &room(1), DeviceId(7));
    assert!(!audience.is_in(&one, conversation(1), &ann));
    // Another join, which is checked after the eviction.
    audience.open_room(&one, conversation(1), &name, &ann, DeviceId(8));
    audience.follow_joined(&one, &ann, &room(1), DeviceId(8));
    assert!(audience.is_in(&one, conversation(1), &ann));
}

#[test]
fn who_comes_into_a_conversation_while_online_and_who_is_there_learn_of_each_other() {
    let audience = Audience::new();
    let one = id("one");
    here(&audience, &["ann", "bob", "cat"], direct(9));
    audience.set_status(&one, &somebody("cat"), DeviceId(2), None, Some(Choice::Invisible), minute(1));
    for name in ["ann", "bob", "cat"] {
        audience.follow(&one, &somebody(name), &direct(1));
    }
    let told = |newcomers: &[&str]| -> Vec<(String, Vec<String>)> {
        let newcomers: Vec<PersonId> = newcomers.iter().map(|name| somebody(name)).collect();
        let announcements = audience.acquaint(&one, conversation(1), &newcomers);
        let mut told: Vec<_> = announcements
            .iter()
            .map(|told| (told.payload.clone(), topics(told).into_iter().map(str::to_owned).collect()))
            .collect();
        told.sort_unstable();
        told
    };
    let online = |name: &str| format!(r#"{{"person":"{name}","status":"online"}}"#);
    let [ann, bob, cat] = ["ann", "bob", "cat"].map(|name| format!("person:one/{name}"));
    // An invisible person is sent the others' presence, and the others nothing of theirs.
    let of_bob = (online("bob"), vec![ann.clone(), cat.clone()]);
    assert_eq!(told(&["bob"]), [(online("ann"), vec![bob.clone()]), of_bob.clone()]);
    assert_eq!(told(&["ann", "bob"]), [(online("ann"), vec![bob, cat.clone()]), of_bob]);
    assert_eq!(told(&["cat"]), [(online("ann"), vec![cat.clone()]), (online("bob"), vec![cat])]);
    assert_eq!(told(&[]), []);
}

#[test]
fn who_comes_into_a_room_is_told_to_those_who_have_it_open() {
    let audience = Audience::new();
    let (one, ann, bob, name) =
        (id("one"), somebody("ann"), somebody("bob"), RoomName::parse("den").expect("a name"));
    here(&audience, &["ann", "bob"], direct(9));
    audience.open_room(&one, conversation(1), &name, &ann, DeviceId(0));
    audience.follow(&one, &ann, &room(1));
    audience.open_room(&one, conversation(1), &name, &bob, DeviceId(1));
    let told = audience.follow_joined(&one, &bob, &room(1), DeviceId(1));
    assert_eq!(told.iter().map(topics).collect::<Vec<_>>(), [["room:one/den"]]);
    assert!(told[0].payload.contains(r#""status":"online""#), "{}", told[0].payload);
    assert!(audience.follow_joined(&one, &bob, &room(1), DeviceId(1)).is_empty(), "they follow it already");
}

#[test]
fn who_came_or_went_after_a_client_was_shown_a_list_is_different_from_it() {
    let audience = Audience::new();
    let (one, ann) = (id("one"), somebody("ann"));
    here(&audience, &["ann", "bob"], room(1));
    let (_, shown) = audience.present_in(&one, conversation(1));
    let shown = Shown::of(&shown.expect("few"));
    let cat = somebody("cat");
    audience.arrive(&one, &cat, DeviceId(5)).expect("there is room");
    audience.follow(&one, &cat, &room(1));
    audience.depart(&one, &somebody("bob"), DeviceId(1), minute(3));
    audience.sweep(Instant::now() + 2 * LEASE, minute(4), false);
    let mut different = audience.present_since(&one, conversation(1), shown);
    different.sort_by(|one, other| one.person.cmp(&other.person));
    let seen = |person, status| Presence { person: somebody(person), status, seen: None };
    assert_eq!(different, [seen("bob", Status::Offline), seen("cat", Status::Online)]);
    let nothing = Shown::of(&audience.friends(&one, &ann));
    assert_eq!(audience.friends_since(&one, &ann, nothing), []);
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
fn when_a_ban_is_over_conversations_are_read_again() {
    let moment = Moment::from_millis;
    let due = |bans: &[Option<u64>], now: u64| {
        let audience = Audience::new();
        here(&audience, &["ann", "bob"], direct(1));
        for until in bans {
            audience.ban(&id("one"), &somebody("ann"), conversation(1), until.map(moment));
        }
        audience.sweep(Instant::now(), moment(now), false);
        audience.overdue().to_follow
    };
    let ann = vec![(id("one"), somebody("ann"))];
    assert_eq!(due(&[Some(5)], 4), []);
    assert_eq!(due(&[Some(5)], 5), ann);
    assert_eq!(due(&[None], 5), []);
    assert_eq!(due(&[Some(5), Some(9)], 5), [], "the second takes the place of the first");
    assert_eq!(due(&[Some(5), Some(9)], 9), ann);
    assert_eq!(due(&[Some(5), None], 9), []);
}

#[test]
fn who_was_banned_for_a_time_hears_again_when_it_is_over() {
    run(async {
        let (messenger, told) = scene::messenger();
        let lobby = scene::community(&messenger, "one").await;
        for name in ["ann", "bob"] {
            scene::person(&messenger, "one", name, &lobby).await;
        }
        here(&messenger.inner.audience, &["ann"], Followed::of(&lobby));
        let ann_hears = async || {
            told.take();
            let said = Append { conversation: lobby.id, draft: Draft::text(None, "hi") };
            messenger.ask(&id("one"), by("bob"), said).await.expect("a message");
            told.events().contains(&("person:one/ann".to_owned(), "msg:new".to_owned()))
        };
        assert!(ann_hears().await);
        let ban = ImposeSanction {
            person: somebody("ann"),
            conversation: Some(lobby.id),
            kind: SanctionKind::Ban,
            until: Some(crate::clock::now()),
            reason: String::new(),
        };
        messenger.ask(&id("one"), By::Service, ban).await.expect("banned");
        assert!(!ann_hears().await);
        messenger.tick();
        messenger.catch_up().await;
        assert!(ann_hears().await);
    });
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
