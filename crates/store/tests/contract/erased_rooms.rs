//! Erasure of a single room or group.

use crate::Case;
use crate::scene::{Scene, client_id, json, person, profile};
use chat::rows::Record;
use chat::verbs::*;
use chat::*;
use limits::PAGE_MAX;
use std::sync::Arc;

/// A room that Olga owns, with one of everything and more than a page of messages.
fn furnished(scene: &Scene, name: &str) -> ConversationId {
    let room = scene.room(Kind::Public, name, &["olga", "ann", "bob"]);
    scene
        .service(SetRole { conversation: room, person: person("olga"), role: Role::Owner })
        .expect("a key may");
    for nth in 0..(PAGE_MAX + 3) {
        scene.send("ann", room, &format!("something{nth} of {name}"));
    }
    let attachments =
        vec![Attachment { id: format!("file-{name}"), name: "a".into(), media_type: "a/b".into(), bytes: 1 }];
    let draft =
        Draft { attachments, mentions: vec![person("bob")], ..Draft::text(client_id(name), "a file") };
    scene.ask("ann", Append { conversation: room, draft }).expect("she may");
    let edit =
        EditText { conversation: room, seq: Seq(1), text: format!("else of {name}"), mentions: vec![] };
    scene.ask("ann", edit).expect("it is hers");
    scene
        .ask("bob", React { conversation: room, seq: Seq(2), emoji: "👍".into(), on: true })
        .expect("he may");
    scene
        .ask("bob", ReportMessage { conversation: room, seq: Seq(2), reason: "rude".into() })
        .expect("he may");
    let reported = ReportMessage { conversation: room, seq: Seq(3), reason: "rude".into() };
    let reported = scene.ask("bob", reported).expect("he may").report.id;
    scene.ask("olga", Settle { report: reported, note: "seen".into() }).expect("it is her room");
    scene.ask("ann", Invite { conversation: room, person: None, until: None, uses: 1 }).expect("she may");
    scene.people(&["carl"]);
    scene.invite(room, "carl");
    for kind in [SanctionKind::Mute, SanctionKind::Ban] {
        let until = Some(scene.now().after_ms(1));
        let sanction = ImposeSanction {
            person: person("bob"),
            conversation: Some(room),
            kind,
            until,
            reason: "rude".into(),
        };
        scene.ask("olga", sanction).expect("it is her room");
    }
    scene.wait_ms(10);
    room
}

fn named(name: &str) -> RoomName {
    RoomName::parse(name).expect("it is a name")
}

fn erase(id: ConversationId) -> EraseConversation {
    EraseConversation { which: Erased::Id(id) }
}

/// Runs the steps of an erasure until it is complete.
fn erase_whole(scene: &Scene, id: ConversationId) -> ConversationErasure {
    let mut report = ConversationErasure::default();
    for nth in 0.. {
        let part = scene.service(erase(id)).expect("a key may");
        assert!(part.messages + part.records <= PAGE_MAX as u64 && nth < 100, "{part:?}");
        report.add(part);
        if report.done {
            break;
        }
    }
    report
}

fn is_of(id: ConversationId) -> impl Fn(&Record) -> bool {
    move |record| record.conversation() == Some(id)
}

fn half_erased(scene: &Scene, untouched_since: Moment) -> Vec<ConversationId> {
    let all = scene.store.ask(HalfErasedConversations { untouched_since }).expect("it can be read");
    let own = all.into_iter().filter(|(community, _)| *community == scene.community);
    own.map(|(_, conversation)| conversation).collect()
}

const ABSENT: Failure = Failure::Absent(Thing::Conversation);

/// Nobody finds anything of the room.
fn assert_is_gone(scene: &Scene, id: ConversationId, name: &str) {
    for who in ["olga", "ann", "bob"] {
        let tabs = scene.ask(who, Conversations { before: None, limit: 99 }).expect("they are known").rows;
        assert!(tabs.iter().all(|tab| tab.conversation.id != id));
        assert_eq!(scene.ask(who, FindRoom { name: named(name) }), Err(ABSENT));
        assert_eq!(scene.ask(who, ReadConversation { conversation: id }), Err(ABSENT));
        assert_eq!(scene.ask(who, Join { conversation: id, invitation: None }), Err(ABSENT));
        assert_eq!(scene.try_send(who, id, "after all"), Err(ABSENT));
        let page = ReadPage { conversation: id, around: Around::Newest, limit: 9 };
        assert_eq!(scene.ask(who, page), Err(ABSENT));
        let rooms = scene.ask(who, Rooms { after: None, limit: 99 }).expect("they are known").rows;
        assert!(rooms.iter().all(|room| room.id != id));
        let search = SearchMessages { query: name.into(), conversation: None, before: None, limit: 99 };
        assert_eq!(scene.ask(who, search).expect("they are known").rows, []);
    }
    let draft = Draft::text(client_id(name), "a file");
    assert_eq!(scene.ask("ann", Append { conversation: id, draft }), Err(ABSENT), "said again");
    let invited = scene.ask("carl", Invitations { conversation: None }).expect("he is known");
    assert!(invited.iter().all(|invitation| invitation.conversation != id));
    assert_eq!(scene.service(FindRoom { name: named(name) }), Err(ABSENT));
    let rooms = scene.service(Rooms { after: None, limit: 99 }).expect("a key may").rows;
    assert!(rooms.iter().all(|room| room.id != id));
    let search =
        |within| SearchMessages { query: name.into(), conversation: within, before: None, limit: 99 };
    assert_eq!(scene.service(search(None)).expect("a key may").rows, []);
    assert_eq!(scene.service(search(Some(id))), Err(ABSENT));
    let reports = scene.service(Reports { conversation: None, after: None, limit: 99 });
    assert!(reports.expect("a key may").rows.iter().all(|report| report.conversation != id));
    let audit = scene.service(AuditLog { conversation: None, before: None, limit: 99 });
    assert!(audit.expect("a key may").rows.iter().all(|entry| entry.conversation != Some(id)));
    let people = vec![person("ann"), person("bob")];
    let read = MembershipsOf { people, after: None, limit: 99 };
    assert!(scene.service(read).expect("a key may").rows.iter().all(|row| row.conversation != id));
    assert!(!scene.export(None).iter().any(is_of(id)));
    assert!(!scene.export(Some("ann")).iter().any(is_of(id)));
}

pub(crate) const CASES: &[Case] = &[
    (
        "from the first part of its erasure on nobody finds a room, and nothing of another one is gone",
        |scene| {
            let (den, hall) = (furnished(scene, "den"), furnished(scene, "hall"));
            let of_hall =
                |scene: &Scene| scene.export(None).into_iter().filter(is_of(hall)).collect::<Vec<_>>();
            let before = of_hall(scene);
            let begun = scene.service(erase(den)).expect("a key may");
            assert_eq!(begun.begun.map(|room| (room.id, room.last)), Some((den, Seq(PAGE_MAX as u64 + 4))));
            assert!(!begun.done);
            assert_is_gone(scene, den, "den");
            let again = CreateRoom::public(named("den"), "Again");
            assert_eq!(scene.service(again.clone()), Err(Failure::Conflict(Conflict::NameTaken)));
            let report = erase_whole(scene, den);
            assert_eq!(
                (report.messages, report.attachments),
                (PAGE_MAX as u64 + 4, vec!["file-den".to_owned()])
            );
            // A reaction, three members, two invitations, two sanctions, two reports; of the audit log: the room's
            // creation, its owner's role, a settled report and both sanctions.
            assert_eq!(report.records, 1 + 3 + 2 + 2 + 2 + 5);
            assert_is_gone(scene, den, "den");
            assert_eq!(scene.service(erase(den)), Err(ABSENT));
            assert_eq!(of_hall(scene), before);
            let log = scene
                .service(AuditLog { conversation: None, before: None, limit: 1 })
                .expect("a key may")
                .rows;
            let [entry] = &*log else { panic!("{log:?}") };
            assert_eq!((entry.deed, entry.note.as_str()), (AuditAction::EraseConversation, "den"));
            assert_eq!((&entry.by, entry.conversation), (&PersonId::service(), None));

            let room = scene.service(again).expect("its name is free").id;
            scene.join("ann", room);
            let draft = Draft::text(client_id("den"), "a file");
            let said = scene.ask("ann", Append { conversation: room, draft }).expect("she may");
            assert_eq!((said.message.seq, said.repeated), (Seq(1), false));
            assert_eq!(scene.page("ann", room, Around::Newest, 9).messages.len(), 1);
        },
    ),
    (
        "a part of a room's erasure is no larger than a page, however many are in it and react to one message",
        |scene| {
            let room = scene.lobby(&["ann"]);
            scene.send("ann", room, "look");
            let names: Vec<String> = (0..=PAGE_MAX).map(|nth| format!("p{nth}")).collect();
            for name in &names {
                scene.people(&[name]);
                scene.join(name, room);
                let react = React { conversation: room, seq: Seq(1), emoji: "👍".into(), on: true };
                scene.ask(name, react).expect("they may");
            }
            let report = erase_whole(scene, room);
            let people = names.len() as u64;
            // Reactions, members, and the entry of its creation.
            assert_eq!((report.messages, report.records), (1, people + people + 1 + 1));
        },
    ),
    ("its owner, who owns the community and keys erase a room, and who has begun goes on", |scene| {
        let room = furnished(scene, "den");
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Erase)));
        scene.moderator("bob", room);
        scene.guest("gil");
        let everywhere = |who: &str, role| {
            let profile = Profile { role: Some(role), ..profile(who) };
            scene.ask(who, Meet { profile }).expect("they may come");
        };
        everywhere("mod", Role::Moderator);
        everywhere("boss", Role::Owner);
        for who in ["ann", "bob", "carl", "gil", "mod"] {
            assert_eq!(scene.ask(who, erase(room)), refused, "{who}");
        }
        assert_eq!(scene.ask("nobody", erase(room)), Err(ABSENT));
        let by_name = |name| EraseConversation { which: Erased::Room(named(name)) };
        assert!(scene.ask("olga", by_name("den")).expect("it is hers").begun.is_some());
        for who in ["ann", "bob", "mod", "boss"] {
            assert_eq!(scene.ask(who, erase(room)), Err(ABSENT), "{who}");
        }
        for (who, which) in [("olga", by_name("den")), ("olga", erase(room))] {
            assert!(scene.ask(who, which).expect("she goes on").begun.is_none());
        }
        assert!(erase_whole(scene, room).done);
        assert_eq!(scene.ask("olga", by_name("den")), Err(ABSENT));
        let other = scene.room(Kind::Private, "cellar", &["ann"]);
        assert_eq!(scene.ask("carl", erase(other)), Err(ABSENT), "he may not know of it");
        assert!(scene.ask("boss", erase(other)).expect("who owns the community").begun.is_some());
    }),
    ("a group is erased by its owner and by keys, and a conversation of two by nobody", |scene| {
        scene.lobby(&["ann", "bob", "cat"]);
        let group = || {
            let with = vec![person("bob"), person("cat")];
            scene.ask("ann", OpenGroup { with, title: "We".into() }).expect("they see each other").id
        };
        let (one, other) = (group(), group());
        let profile = Profile { role: Some(Role::Owner), ..profile("boss") };
        scene.ask("boss", Meet { profile }).expect("they may come");
        assert_eq!(scene.ask("boss", erase(one)), Err(ABSENT), "it is between people");
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Erase)));
        assert_eq!(scene.ask("bob", erase(one)), refused);
        assert!(scene.ask("ann", erase(one)).expect("it is hers").begun.is_some());
        assert!(erase_whole(scene, one).done && erase_whole(scene, other).done);
        let log =
            scene.service(AuditLog { conversation: None, before: None, limit: 2 }).expect("a key may").rows;
        assert_eq!(log.iter().map(|entry| entry.note.as_str()).collect::<Vec<_>>(), ["", ""]);
        let direct = scene.direct("ann", "bob");
        for answer in [scene.ask("ann", erase(direct)), scene.service(erase(direct))] {
            assert!(matches!(answer, Err(Failure::Invalid(_))), "{answer:?}");
        }
        assert_eq!(scene.ask("cat", erase(direct)), Err(ABSENT));
        scene.send("ann", direct, "still here");
    }),
    ("a room that is half erased is found once nobody goes on with it, until nothing is left", |scene| {
        let room = furnished(scene, "den");
        assert_eq!(half_erased(scene, scene.now()), []);
        for _ in 0..3 {
            let begun = scene.now();
            scene.service(erase(room)).expect("a key may");
            assert_eq!(half_erased(scene, begun), [], "somebody goes on with it");
            assert_eq!(half_erased(scene, scene.now()), [room]);
        }
        erase_whole(scene, room);
        assert_eq!(half_erased(scene, scene.now()), []);
    }),
    ("a room that is half erased does not come back with what was exported before", |scene| {
        let room = furnished(scene, "den");
        let records = scene.export(None);
        scene.service(erase(room)).expect("a key may");
        for part in records.chunks(PAGE_MAX) {
            scene.service(Import { records: part.to_vec() }).expect("a key may");
        }
        assert_is_gone(scene, room, "den");
        let into = scene.on(Arc::new(MemoryStore::default()));
        for part in scene.export(None).chunks(PAGE_MAX) {
            into.service(Import { records: part.to_vec() }).expect("a key may");
        }
        assert!(!into.export(None).iter().any(is_of(room)));
        assert_eq!(half_erased(&into, scene.now()), [], "there is nothing to erase");
        into.service(CreateRoom::public(named("den"), "Again")).expect("its name is free there");
        assert_eq!(erase_whole(scene, room).messages, PAGE_MAX as u64 + 4);
    }),
    ("a person of a room that is half erased is erased whole", |scene| {
        let room = furnished(scene, "den");
        scene.service(erase(room)).expect("a key may");
        scene.erase(&By::Service, "ann");
        let all = json(&scene.export(None));
        assert!(!all.contains("\"ann\""), "{all}");
        let report = erase_whole(scene, room);
        // Her files and her membership went with her.
        assert_eq!((report.messages, report.attachments), (PAGE_MAX as u64 + 4, vec![]));
    }),
    ("what is too old goes with retention, also of a room that is half erased", |scene| {
        let room = furnished(scene, "den");
        scene.service(erase(room)).expect("a key may");
        let mut settings = Settings::named("A community");
        settings.limits.history_days = Some(1);
        scene.service(ChangeCommunity { settings }).expect("a key may");
        scene.wait_ms(2 * 24 * 60 * 60 * 1_000);
        let (mut messages, mut files) = (0, Vec::new());
        for nth in 0.. {
            let expired = scene.service(Expire).expect("a key may");
            messages += expired.messages;
            files.extend(expired.attachments);
            if !expired.more {
                break;
            }
            assert!(nth < 10, "it ends");
        }
        assert_eq!((messages, files), (PAGE_MAX as u64 + 4, vec!["file-den".to_owned()]));
        let report = erase_whole(scene, room);
        assert_eq!((report.messages, report.attachments), (0, vec![]));
    }),
    ("a community is erased whole with a room that is half erased", |scene| {
        let room = furnished(scene, "den");
        for _ in 0..2 {
            scene.service(erase(room)).expect("a key may");
        }
        let mut done = false;
        while !done {
            done = scene.service(EraseCommunity).expect("a key may").done;
            assert_eq!(scene.service(erase(room)), Err(Failure::Absent(Thing::Community)));
        }
        assert_eq!(half_erased(scene, scene.now()), []);
        scene.service(CreateCommunity { settings: Settings::named("Again") }).expect("its name is free");
        assert_eq!(scene.export(None).len(), 1, "it is there alone");
        scene.service(CreateRoom::public(named("den"), "Again")).expect("its name is free");
    }),
];
