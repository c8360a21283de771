//! Removal of guests who no longer come back.

use crate::Case;
use crate::scene::{Scene, json, person};
use chat::rows::Record;
use chat::verbs::*;
use chat::*;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

fn gone(scene: &Scene) -> Vec<String> {
    let listed = scene.service(GoneGuests { after: None }).expect("a key may");
    assert_eq!(listed.next, None);
    listed.rows.iter().map(ToString::to_string).collect()
}

fn forget(scene: &Scene, names: &[&str]) -> Vec<Forgotten> {
    let people = names.iter().map(|name| person(name)).collect();
    scene.service(ForgetGuests { people }).expect("a key may")
}

fn room_with_guests(scene: &Scene, guests: &[&str]) -> ConversationId {
    let room = scene.lobby(&["ann"]);
    for guest in guests {
        scene.guest(guest);
        scene.join(guest, room);
    }
    room
}

fn members(scene: &Scene, room: ConversationId) -> u64 {
    scene.page("ann", room, Around::Newest, 1).conversation.members
}

pub(crate) const CASES: &[Case] = &[
    ("a guest who is gone for a month is forgotten, and the room has one less", |scene| {
        let room = room_with_guests(scene, &["gil", "hal"]);
        scene.ask("ann", BlockPerson { person: person("gil") }).expect("she sees him");
        let mute = ImposeSanction {
            person: person("gil"),
            conversation: Some(room),
            kind: SanctionKind::Mute,
            until: None,
            reason: "rude".into(),
        };
        scene.service(mute).expect("a key may");
        let private = scene.room(Kind::Private, "private", &["ann"]);
        scene.invite(private, "gil");
        scene.wait_ms(30 * DAY_MS - 60_000);
        assert_eq!(gone(scene), [""; 0], "he may be back today");
        scene.wait_ms(60_000);
        assert_eq!(gone(scene), ["gil", "hal"]);
        let all =
            [person("gil"), person("hal")].map(|person| Forgotten { person, left: vec![room], done: true });
        assert_eq!(forget(scene, &["gil", "hal", "nobody"]), all);
        assert_eq!(members(scene, room), 1);
        assert_eq!(gone(scene), [""; 0]);
        let left = json(
            &scene
                .export(None)
                .into_iter()
                .filter(|row| !matches!(row, Record::Audit(_)))
                .collect::<Vec<_>>(),
        );
        assert!(!left.contains("gil"), "{left}");
        assert_eq!(scene.service(ReadPerson { person: person("gil") }), Err(Failure::Absent(Thing::Person)));
        scene.guest("gil");
        scene.join("gil", room);
        assert_eq!(members(scene, room), 2, "whoever comes by that name again is somebody new");
    }),
    (
        "guests of whom others see something stay, and so does who was here lately and who is no guest",
        |scene| {
            let guests = ["asks", "mentioned", "reacts", "returns", "enters", "gone"];
            let room = room_with_guests(scene, &guests);
            scene.people(&["zoe"]);
            scene.send("asks", room, "is anybody there?");
            scene.send("ann", room, "hello");
            let draft = Draft { mentions: vec![person("mentioned")], ..Draft::text(None, "look") };
            scene.ask("ann", Append { conversation: room, draft }).expect("she may");
            let react = React { conversation: room, seq: Seq(2), emoji: "👍".into(), on: true };
            scene.ask("reacts", react).expect("they may");
            scene.ask("asks", Delete { conversation: room, seq: Seq(1) }).expect("it is theirs");
            scene.wait_ms(20 * DAY_MS);
            scene.service(NoteSeen { people: vec![(person("returns"), scene.now())] }).expect("a key may");
            let another = scene.room(Kind::Public, "another", &["ann"]);
            scene.join("enters", another);
            scene.wait_ms(20 * DAY_MS);
            assert_eq!(gone(scene), ["gone"]);
            let every = [&guests[..], &["ann", "zoe"]].concat();
            let forgotten = forget(scene, &every);
            assert_eq!(forgotten, [Forgotten { person: person("gone"), left: vec![room], done: true }]);
            assert_eq!(members(scene, room), 6);
            let beside = scene.beside();
            assert_eq!(gone(&beside), [""; 0]);
        },
    ),
    ("who wrote is forgotten when nothing of it is kept any more", |scene| {
        let room = room_with_guests(scene, &["gil"]);
        scene.send("gil", room, "once");
        scene.wait_ms(40 * DAY_MS);
        assert_eq!(gone(scene), [""; 0]);
        let settings = Settings {
            limits: CommunityLimits { history_days: Some(1), ..CommunityLimits::default() },
            ..Settings::named("A community")
        };
        scene.service(ChangeCommunity { settings }).expect("a key may");
        assert_eq!(scene.service(Expire).expect("a key may").messages, 1);
        assert_eq!(gone(scene), ["gil"]);
        assert!(forget(scene, &["gil"])[0].done);
    }),
    ("a conversation of two stays with the other one", |scene| {
        room_with_guests(scene, &["gil"]);
        let direct = scene.direct("ann", "gil");
        scene.send("ann", direct, "can I help?");
        scene.wait_ms(31 * DAY_MS);
        assert_eq!(forget(scene, &["gil"])[0].left.len(), 2);
        assert_eq!(scene.page("ann", direct, Around::Newest, 9).messages.len(), 1);
        assert_eq!(scene.tab("ann", direct).conversation.members, 1);
    }),
    ("only keys forget guests, and not too many at once", |scene| {
        room_with_guests(scene, &["gil"]);
        let refused = scene.ask("ann", GoneGuests { after: None });
        assert!(matches!(refused, Err(Failure::Refused(Refusal::NotPermitted(_)))));
        let refused = scene.ask("ann", ForgetGuests { people: vec![person("gil")] });
        assert!(matches!(refused, Err(Failure::Refused(Refusal::NotPermitted(_)))));
        let people = vec![person("gil"); limits::GUESTS_FORGOTTEN_MAX + 1];
        assert!(matches!(scene.service(ForgetGuests { people }), Err(Failure::Invalid(_))));
    }),
    ("guests are found page by page", |scene| {
        for nth in 0..limits::PAGE_MAX + 2 {
            scene.guest(&format!("g{nth:04}"));
        }
        scene.wait_ms(31 * DAY_MS);
        let first = scene.service(GoneGuests { after: None }).expect("a key may");
        assert_eq!((first.rows.len(), first.next.as_ref()), (limits::PAGE_MAX, first.rows.last()));
        let second = scene.service(GoneGuests { after: first.next }).expect("a key may");
        assert_eq!((second.rows.len(), second.next), (2, None));
    }),
];
