//! Erasure of people and communities.

use crate::Case;
use crate::scene::{Scene, json, person, texts};
use chat::rows::Record;
use chat::verbs::*;
use chat::*;

/// Leaves every kind of trace that a person can leave.
fn leave_traces(scene: &Scene) -> ConversationId {
    let room = scene.lobby(&["zoe", "bob"]);
    let direct = scene.direct("zoe", "bob");
    for nth in 0..(limits::PAGE_MAX + 3) {
        scene.send("zoe", room, &format!("something{nth}"));
    }
    scene.send("zoe", direct, "between us");
    scene.send("bob", direct, "indeed");
    scene.send("bob", room, "mine");
    let attachments =
        vec![Attachment { id: "file-1".into(), name: "a".into(), media_type: "a/b".into(), bytes: 1 }];
    let draft = Draft { attachments, ..Draft::text(crate::scene::client_id("c"), "with a file") };
    scene.ask("zoe", Append { conversation: room, draft }).expect("she may");
    let draft = Draft { mentions: vec![person("zoe")], ..Draft::text(None, "look") };
    scene.ask("bob", Append { conversation: room, draft }).expect("he may");
    let edit = EditText { conversation: room, seq: Seq(1), text: "else".into(), mentions: vec![] };
    scene.ask("zoe", edit).expect("it is hers");
    scene
        .ask("zoe", React { conversation: direct, seq: Seq(2), emoji: "👍".into(), on: true })
        .expect("she may");
    let report = ReportMessage { conversation: room, seq: Seq(2), reason: "rude".into() };
    scene.ask("bob", report).expect("he may");
    let report = ReportMessage { conversation: direct, seq: Seq(2), reason: "hersay: reported".into() };
    scene.ask("zoe", report).expect("she may");
    let mute = ImposeSanction {
        person: person("zoe"),
        conversation: Some(room),
        kind: SanctionKind::Mute,
        until: None,
        reason: "rude".into(),
    };
    scene.service(mute).expect("a key may");
    let settings = Settings { people_make_rooms: true, ..Settings::named("A community") };
    scene.service(ChangeCommunity { settings }).expect("a key may");
    let hers = CreateRoom::public(RoomName::parse("hers").expect("a name"), "Hers");
    let hers = scene.ask("zoe", hers).expect("people may").id;
    scene.join("bob", hers);
    let mute = ImposeSanction {
        person: person("bob"),
        conversation: Some(hers),
        kind: SanctionKind::Mute,
        until: None,
        reason: "hersay: punished".into(),
    };
    scene.ask("zoe", mute).expect("it is her room");
    scene.send("zoe", hers, "well");
    let report = ReportMessage { conversation: hers, seq: Seq(1), reason: "hearsay: rude".into() };
    let reported = scene.ask("bob", report).expect("he may");
    let settle = Settle { report: reported.report.id, note: "hersay: settled".into() };
    scene.ask("zoe", settle).expect("it is her room");
    let invite = Invite { conversation: hers, person: Some(person("bob")), until: None, uses: 1 };
    scene.ask("zoe", invite).expect("she may");
    // A person cannot invite somebody whom they block, so the blocks come last.
    scene.ask("zoe", BlockPerson { person: person("bob") }).expect("she may");
    scene.ask("bob", BlockPerson { person: person("zoe") }).expect("he may");
    room
}

/// Adds what a person leaves no trace in: a key, a delivery waiting for it, a revocation.
fn furnish(scene: &Scene) {
    let create = CreateKey { name: "site".into(), purpose: serde_json::json!({}), hash: vec![] };
    let endpoint = scene.service(create).expect("a key may").id;
    let delivery = Delivery {
        endpoint,
        id: DeliveryId(Ulid::new(scene.now(), Entropy([7; 16]), 0)),
        person: person("zoe"),
        conversation: None,
        holder: scene.community.to_string(),
        body: "{}".into(),
        queued: scene.now(),
        attempts: 0,
        given_up: None,
    };
    scene.service(KeepDelivery { delivery }).expect("a key may");
    let ends_s = scene.now().millis() / 1_000 + 3_600;
    let revoke =
        Revoke { person: person("zoe"), token: None, until_s: 1, ends: Moment::from_millis(ends_s * 1_000) };
    scene.service(revoke).expect("a key may");
}

/// The number of deliveries that wait for the community's endpoints.
fn waiting(scene: &Scene) -> usize {
    let asked =
        Undelivered { holder: scene.community.to_string(), abandoned_before: Moment::default(), after: None };
    scene.store.ask(asked).expect("it can be read").len()
}

fn assert_is_absent(scene: &Scene) {
    assert_eq!(scene.service(ReadCommunity), Err(Failure::Absent(Thing::Community)));
    let meet = Meet { profile: crate::scene::profile("Carl") };
    assert_eq!(scene.ask("carl", meet), Err(Failure::Absent(Thing::Community)));
    assert_eq!(scene.service(Keys).expect("a key may"), []);
    assert_eq!(waiting(scene), 0);
}

pub(crate) const CASES: &[Case] = &[
    ("nothing of an erased person is left, and the report says what went", |scene| {
        let room = leave_traces(scene);
        assert!(json(&scene.export(Some("zoe"))).contains("with a file"));
        let before = scene.page("bob", room, Around::Newest, 1).conversation;
        let report = scene.erase(&By::Service, "zoe");
        assert_eq!(report.messages, limits::PAGE_MAX as u64 + 6);
        assert_eq!((report.mentions, report.reactions, report.blocks), (1, 1, 2));
        assert_eq!((report.memberships, report.invitations, report.sanctions), (3, 1, 2));
        assert_eq!(report.attachments, ["file-1"]);
        let all = json(&scene.export(None));
        for trace in ["zoe", "something", "with a file", "else", "hersay", "hearsay"] {
            assert!(!all.contains(trace), "`{trace}` is left in {all}");
        }
        assert_eq!(scene.export(Some("zoe")), []);
        let after = scene.page("bob", room, Around::Newest, 2);
        assert_eq!(after.conversation.last, before.last, "places stay");
        assert_eq!(texts(&after)[1].1, "look");
        assert!(
            after.messages[1].message.revision > before.revision,
            "who comes back learns that it mentions nobody"
        );
        assert!(after.conversation.revision > before.revision, "clients learn of it");
        assert!(scene.page("bob", room, Around::After(Seq(0)), 1).messages[0].message.deleted.is_some());
        let search = SearchMessages { query: "something".into(), conversation: None, before: None, limit: 9 };
        assert!(scene.service(search).expect("a key may").rows.is_empty());
    }),
    ("what others have stays with them", |scene| {
        leave_traces(scene);
        let direct = scene.direct("bob", "zoe");
        scene.erase(&By::Service, "zoe");
        assert_eq!(texts(&scene.page("bob", direct, Around::Newest, 9)), [(1, ""), (2, "indeed")]);
        let hers = scene
            .ask("bob", FindRoom { name: RoomName::parse("hers").expect("a name") })
            .expect("it is there");
        let members = Members { conversation: hers.id, after: None, limit: 9 };
        let members = scene.ask("bob", members).expect("he is in it").rows;
        assert_eq!(
            members.iter().map(|member| member.role).collect::<Vec<_>>(),
            [Role::Owner],
            "somebody owns it"
        );
    }),
    (
        "whoever stays and is no guest inherits a room, the highest role first, however many guests are before them",
        |scene| {
            scene.people(&["zoe"]);
            let settings = Settings { people_make_rooms: true, ..Settings::named("A community") };
            scene.service(ChangeCommunity { settings }).expect("a key may");
            let name = RoomName::parse("hers").expect("a name");
            let room = scene.ask("zoe", CreateRoom::public(name, "Hers")).expect("people may").id;
            for nth in 0..=limits::PAGE_MAX {
                let guest = format!("a{nth}");
                scene.guest(&guest);
                scene.join(&guest, room);
            }
            scene.people(&["bob", "max", "mod"]);
            for who in ["bob", "max", "mod"] {
                scene.join(who, room);
            }
            scene.moderator("mod", room);
            for (erased, heirs) in
                [("zoe", vec!["mod"]), ("mod", vec!["bob"]), ("bob", vec!["max"]), ("max", vec![])]
            {
                scene.erase(&By::Service, erased);
                let members = scene.export(None).into_iter().filter_map(|record| match record {
                    Record::Member(member) if member.conversation == room => Some(member),
                    _ => None,
                });
                let owners = members.filter(|member| member.role == Role::Owner);
                let owners: Vec<String> = owners.map(|owner| owner.person.to_string()).collect();
                assert_eq!(owners, heirs, "after {erased}");
            }
        },
    ),
    ("reactions vanish with who is erased, and the message is one that changed", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        for text in ["one", "two"] {
            scene.send("bob", room, text);
        }
        for (who, emoji) in [("ann", "a"), ("bob", "a"), ("ann", "b")] {
            let react = React { conversation: room, seq: Seq(1), emoji: emoji.into(), on: true };
            scene.ask(who, react).expect("they may");
        }
        let before = scene.page("bob", room, Around::Newest, 1).conversation.revision;
        let step = scene.service(Erase { person: person("ann") }).expect("a key may");
        assert_eq!(step.reactions, 2);
        let [Vanished { message, emoji, reactions }] = &*step.vanished else { panic!("{step:?}") };
        assert_eq!((message.seq, message.revision), (Seq(1), before.next()), "once for all of a message");
        assert_eq!(emoji, &["a", "b"]);
        assert_eq!(reactions, &[Tally { emoji: "a".into(), count: 1, mine: false }]);
        let page = scene.page("bob", room, Around::Changed(before), 9);
        assert_eq!(page.conversation.revision, before.next());
        let [changed] = &*page.messages else { panic!("{page:?}") };
        assert_eq!((&changed.message, changed.reactions.len()), (message, 1));
    }),
    ("who is half erased is found once nobody goes on with it, until nothing is left of them", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        for _ in 0..=limits::PAGE_MAX {
            scene.send("ann", room, "one of many");
        }
        let found = |untouched_since| {
            let all = scene.store.ask(HalfErasedPeople { untouched_since }).expect("it can be read");
            let own = all.into_iter().filter(|(community, _)| *community == scene.community);
            own.map(|(_, person)| person).collect::<Vec<_>>()
        };
        assert_eq!(found(scene.now()), []);
        let begun = scene.now();
        assert!(!scene.service(Erase { person: person("ann") }).expect("a key may").done);
        assert_eq!(found(begun), [], "somebody goes on with it");
        assert_eq!(found(scene.now()), [person("ann")]);
        // A change to her profile in the meantime must not hide that the erasure stopped.
        scene.people(&["ann"]);
        scene.ask("ann", SetReceipts { on: false }).expect("she may");
        assert_eq!(found(scene.now()), [person("ann")]);
        scene.erase(&By::Service, "ann");
        assert_eq!(found(scene.now()), []);
    }),
    ("people erase themselves and nobody else", |scene| {
        scene.lobby(&["ann", "bob"]);
        assert!(scene.ask("ann", Erase { person: person("bob") }).is_err());
        scene.erase(&By::Person(person("ann")), "ann");
        assert_eq!(scene.service(Erase { person: person("ann") }), Err(Failure::Absent(Thing::Person)));
        assert_eq!(scene.service(ReadPerson { person: person("ann") }), Err(Failure::Absent(Thing::Person)));
    }),
    (
        "a part of a community's erasure is no larger than a page, however many react to one message",
        |scene| {
            let names: Vec<String> = (0..=limits::PAGE_MAX).map(|nth| format!("p{nth}")).collect();
            let room = scene.lobby(&["ann"]);
            scene.send("ann", room, "look");
            for name in &names {
                scene.people(&[name]);
                scene.join(name, room);
                let react = React { conversation: room, seq: Seq(1), emoji: "👍".into(), on: true };
                scene.ask(name, react).expect("they may");
            }
            let mut report = CommunityErasure::default();
            while !report.done {
                let part = scene.service(EraseCommunity).expect("a key may");
                assert!(
                    part.messages + part.conversations + part.people + part.records
                        <= limits::PAGE_MAX as u64
                );
                report.add(part);
            }
            let people = names.len() as u64 + 1;
            assert_eq!((report.messages, report.people), (1, people));
            // Reactions and memberships, and the audit entry for creating the room.
            assert_eq!(report.records, people - 1 + people + 1);
        },
    ),
    ("nothing of an erased community is left, its name is free, and what is beside it stays", |scene| {
        let beside = scene.beside();
        for scene in [scene, &beside] {
            leave_traces(scene);
            furnish(scene);
        }
        let before = beside.export(None);
        let begun = scene.service(EraseCommunity).expect("a key may");
        assert_eq!((begun.keys.as_ref().map(Vec::len), begun.done), (Some(1), false));
        assert_is_absent(scene);
        assert_eq!(
            scene.service(CreateCommunity { settings: Settings::named("Again") }),
            Err(Failure::Conflict(Conflict::NameTaken))
        );
        let mut report = begun;
        while !report.done {
            report.add(scene.service(EraseCommunity).expect("a key may"));
        }
        assert_eq!((report.messages, report.people), (limits::PAGE_MAX as u64 + 9, 2));
        assert_eq!((report.conversations, report.attachments), (3, vec!["file-1".to_owned()]));
        assert_is_absent(scene);
        assert_eq!(scene.service(EraseCommunity), Err(Failure::Absent(Thing::Community)));
        assert_eq!(beside.export(None), before, "nothing of the other one is gone");
        assert_eq!(waiting(&beside), 1);

        scene.service(CreateCommunity { settings: Settings::named("Again") }).expect("its name is free");
        assert_eq!(scene.export(None).len(), 1, "it is there alone");
        let room = scene.lobby(&["zoe", "bob"]);
        assert_eq!(scene.send("zoe", room, "something").message.seq, Seq(1));
        let search = SearchMessages { query: "something".into(), conversation: None, before: None, limit: 9 };
        assert_eq!(scene.service(search).expect("a key may").rows.len(), 1);
        assert_eq!(waiting(scene), 0);
    }),
    (
        "a community that is half erased is found once nobody goes on with it, until nothing is left",
        |scene| {
            scene.lobby(&["ann"]);
            let found = |untouched_since| {
                let all = scene.store.ask(HalfErasedCommunities { untouched_since }).expect("it can be read");
                all.contains(&scene.community)
            };
            assert!(!found(scene.now()), "nobody erases it");
            let mut done = false;
            while !done {
                let begun = scene.now();
                done = scene.service(EraseCommunity).expect("a key may").done;
                assert!(!found(begun), "somebody goes on with it");
                assert_eq!(found(scene.now()), !done);
            }
        },
    ),
    ("people and rooms of a community that is being erased can do nothing to keep it", |scene| {
        let room = scene.lobby(&["ann"]);
        scene.send("ann", room, "first");
        for nth in 0.. {
            let part = scene.service(EraseCommunity).expect("a key may");
            if part.done {
                break;
            }
            // People who are still connected may write until the room is gone; that is erased, too.
            let _ = scene.try_send("ann", room, &format!("still here {nth}"));
            assert!(nth < 100, "it ends");
        }
        assert!(scene.try_send("ann", room, "after all").is_err());
        let ban = ImposeSanction {
            person: person("ann"),
            conversation: None,
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        assert!(scene.service(ban).is_err());
        assert_eq!(
            scene.ask("ann", EraseCommunity),
            Err(Failure::Refused(Refusal::NotPermitted(Action::Administer)))
        );
        scene.service(CreateCommunity { settings: Settings::named("Again") }).expect("its name is free");
        assert_eq!(scene.export(None).len(), 1, "nothing of the former one is in it");
    }),
    ("people export what there is of them and nothing else", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        scene.send("ann", room, "of ann");
        scene.send("bob", room, "of bob");
        assert!(scene.ask("ann", Export { person: Some(person("bob")), after: None }).is_err());
        assert!(scene.ask("ann", Export { person: None, after: None }).is_err());
        let own = json(&scene.export(Some("ann")));
        assert!(own.contains("of ann") && !own.contains("of bob"), "{own}");
    }),
];
