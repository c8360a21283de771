//! How people are seen, and by whom.

use super::*;

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
