//! Communities, their keys, and their isolation from each other.

use crate::Case;
use crate::scene::{Scene, client_id, json, person};
use chat::verbs::*;
use chat::*;

pub(crate) const CASES: &[Case] = &[
    ("a community's name is taken once", |scene| {
        let again = scene.service(CreateCommunity { settings: Settings::named("Again") });
        assert_eq!(again, Err(Failure::Conflict(Conflict::NameTaken)));
        assert_eq!(scene.service(ReadCommunity).expect("it is there").settings.name, "A community");
    }),
    ("a community can be created with its first room: both, or nothing", |scene| {
        let other = Scene::without_community(scene.store.clone());
        let settings = Settings::named("With a room");
        let room = CreateRoom::public(RoomName::parse("hall").expect("a name"), "Hall");
        let wrong = FurnishCommunity {
            settings: settings.clone(),
            room: CreateRoom { slow_mode_s: u32::MAX, ..room.clone() },
        };
        assert!(matches!(other.service(wrong), Err(Failure::Invalid(_))));
        assert_eq!(other.service(ReadCommunity), Err(Failure::Absent(Thing::Community)));
        let furnish = FurnishCommunity { settings, room };
        let (_, hall) = other.service(furnish.clone()).expect("it is new");
        let name = RoomName::parse("hall").expect("a name");
        assert_eq!(other.service(FindRoom { name }), Ok(hall));
        assert_eq!(other.service(furnish), Err(Failure::Conflict(Conflict::NameTaken)));
    }),
    ("communities are listed in pages", |scene| {
        let beside = scene.beside();
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let listed = scene.store.ask(Communities { after, limit: 2 }).expect("it can be read");
            seen.extend(listed.rows.into_iter().map(|community| community.id));
            after = listed.next;
            if after.is_none() {
                break;
            }
        }
        assert!(seen.contains(&scene.community) && seen.contains(&beside.community));
        assert!(seen.is_sorted());
    }),
    ("settings come back as they were written, and wrong ones are named", |scene| {
        let settings = Settings {
            origins: vec!["https://example.org".into(), "http://localhost:4000".into()],
            look: Look { color: Some("#00aaff".into()), logo_url: None, locale: Some("pt-BR".into()) },
            guests: GuestPolicy::Read,
            history_days: Some(7),
            ..Settings::named("Other")
        };
        scene.service(ChangeCommunity { settings: settings.clone() }).expect("a key may");
        assert_eq!(scene.service(ReadCommunity).expect("it is there").settings, settings);
        let wrong = Settings {
            origins: vec!["example.org/path".into()],
            look: Look { color: Some("blue".into()), ..Look::default() },
            ..Settings::named("")
        };
        let Err(Failure::Invalid(problems)) = scene.service(ChangeCommunity { settings: wrong }) else {
            panic!("it is invalid");
        };
        let fields: Vec<&str> = problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields, ["name", "origins[0]", "look.color"]);
    }),
    ("a community says itself how it is, and nobody but the operator what it may use", |scene| {
        let limits =
            CommunityLimits { people_online: Some(9), history_days: Some(30), ..CommunityLimits::default() };
        let given = Settings { limits, ..Settings::named("Given") };
        scene.service(ChangeCommunity { settings: given }).expect("a key may");
        scene.people(&["ann", "olga"]);
        let profile = Profile { role: Some(Role::Owner), ..crate::scene::profile("olga") };
        scene.ask("olga", Meet { profile }).expect("she may come");
        let own = |name: &str| Settings { guests: GuestPolicy::Refused, ..Settings::named(name) };
        let change = |settings, names_limits| ChangeOwnSettings { settings, names_limits };
        let refused = Err(Failure::Refused(Refusal::NotPermitted(Action::Administer)));
        assert_eq!(scene.ask("ann", change(own("Hers"), false)).map(drop), refused);
        assert_eq!(scene.ask("olga", ChangeCommunity { settings: own("Hers") }).map(drop), refused);
        for changed in [
            scene.ask("olga", change(own("Hers"), false)),
            scene.service(change(Settings { limits, ..own("Hers") }, true)),
        ] {
            let changed = changed.expect("it is theirs to say");
            assert_eq!(changed.community.settings, Settings { limits, ..own("Hers") });
        }
        let more = Settings { limits: CommunityLimits { people_online: None, ..limits }, ..own("Theirs") };
        assert_eq!(scene.ask("olga", change(more.clone(), true)).map(drop), refused);
        assert_eq!(scene.service(change(more, true)).map(drop), refused);
        let read = scene.service(ReadCommunity).expect("it is there").settings;
        assert_eq!(read, Settings { limits, ..own("Hers") });
    }),
    ("a key is found until it is revoked, by its own community", |scene| {
        let create = CreateKey {
            name: "server".into(),
            purpose: serde_json::json!({"scopes": ["send"]}),
            hash: vec![7; 32],
        };
        let key = scene.service(create.clone()).expect("a key may");
        scene.people(&["ann"]);
        assert!(scene.ask("ann", create).is_err());
        assert_eq!(scene.service(FindKey { key: key.id }).expect("it is there"), key);
        let absent = Err(Failure::Absent(Thing::Key));
        assert_eq!(scene.beside().service(FindKey { key: key.id }), absent);
        assert!(scene.service(RevokeKey { key: key.id }).expect("a key may").revoked.is_some());
        assert_eq!(scene.service(FindKey { key: key.id }), absent);
        assert_eq!(scene.service(Keys).expect("a key may").len(), 1);
    }),
    ("the key that was revoked first makes room for another", |scene| {
        let create = |name: String| CreateKey { name, purpose: serde_json::json!({}), hash: Vec::new() };
        let made: Vec<KeyId> = (0..limits::KEYS_MAX)
            .map(|nth| scene.service(create(format!("key {nth}"))).expect("a key may").id)
            .collect();
        let full = Err(Failure::Refused(Refusal::LimitReached { limit: "keys_max", max: 100 }));
        assert_eq!(scene.service(create("too many".into())), full);
        for key in [made[7], made[3]] {
            scene.wait_ms(1);
            scene.service(RevokeKey { key }).expect("a key may");
        }
        scene.service(create("one more".into())).expect("there is room");
        let kept = scene.service(Keys).expect("a key may");
        assert_eq!(kept.len(), limits::KEYS_MAX);
        let has = |id: KeyId| kept.iter().any(|key| key.id == id);
        assert!(!has(made[7]) && has(made[3]));
    }),
    ("nobody has a name that stands for nobody", |scene| {
        let meet = Meet { profile: crate::scene::profile("x") };
        for name in ["~erased", "~service", "~x"] {
            assert!(matches!(scene.ask(name, meet.clone()), Err(Failure::Invalid(_))), "{name}");
        }
    }),
    ("two communities with equal names see nothing of each other", no_leak),
];

fn no_leak(scene: &Scene) {
    let other = scene.beside();
    let den = scene.room(Kind::Private, "den", &["ann", "bob"]);
    let said = |scene: &Scene, room| {
        let draft = Draft { mentions: vec![person("bob")], ..Draft::text(client_id("same"), "secret words") };
        scene.ask("ann", Append { conversation: room, draft }).expect("she may")
    };
    let first = said(scene, den).message;
    // The same names and client id in the other community: nothing counts as a repetition of the first.
    let same = other.room(Kind::Private, "den", &["ann", "bob"]);
    assert!(!said(&other, same).repeated);
    assert_ne!(den, same);
    // Ids of the first community mean nothing there, neither to people nor to keys.
    let absent = Failure::Absent(Thing::Conversation);
    assert_eq!(other.ask("ann", ReadConversation { conversation: den }), Err(absent.clone()));
    assert_eq!(other.service(ReadConversation { conversation: den }), Err(absent.clone()));
    assert_eq!(other.try_send("ann", den, "x").map(drop), Err(absent.clone()));
    assert_eq!(
        other.service(Append { conversation: den, draft: Draft::text(None, "x") }).map(drop),
        Err(absent.clone())
    );
    let around = Around::Newest;
    assert_eq!(
        other.service(ReadPage { conversation: den, around, limit: 1 }).map(drop),
        Err(absent.clone())
    );
    let advance = Advance { conversation: den, delivered: Seq(1), read: Seq(1) };
    assert_eq!(other.ask("ann", advance).map(drop), Err(absent));
    assert_eq!(other.service(ReadMessage { message: first.id }), Err(Failure::Absent(Thing::Message)));
    let punish = ImposeSanction {
        person: person("ann"),
        conversation: None,
        kind: SanctionKind::Ban,
        until: None,
        reason: String::new(),
    };
    other.service(punish).expect("a key may");
    assert!(scene.try_send("ann", den, "still here").is_ok(), "a ban is one community's");
    // Lists, searches and exports contain only their own community.
    let search = |scene: &Scene| {
        let search = SearchMessages { query: "secret".into(), conversation: None, before: None, limit: 9 };
        scene.service(search).expect("a key may").rows
    };
    assert_eq!(search(scene), [first]);
    assert_eq!(search(&other).len(), 1);
    assert_eq!(scene.tab("bob", den).mentions, 1);
    assert_eq!(scene.service(People { after: None, limit: 9 }).expect("a key may").rows.len(), 2);
    let text = json(&other.export(None));
    assert!(text.contains(&same.to_string()) && !text.contains(&den.to_string()), "{text}");
}
