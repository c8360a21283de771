//! Who has to leave a room, or was banned from it for a time.

use super::*;

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
