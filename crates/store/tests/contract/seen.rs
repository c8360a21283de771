//! When people were last here.

use crate::Case;
use crate::scene::{Scene, json, person, profile};
use chat::verbs::*;
use chat::*;

const MINUTE_MS: u64 = 60_000;

fn minute(number: u64) -> Moment {
    Moment::from_millis(number * MINUTE_MS)
}

fn note(scene: &Scene, name: &str, seen: Moment) {
    scene.service(NoteSeen { people: vec![(person(name), seen)] }).expect("a key may");
}

fn last_seen(scene: &Scene, by: &str, people: &[&str]) -> Vec<(String, Option<Moment>)> {
    let people = people.iter().map(|name| person(name)).collect();
    let seen = scene.ask(by, LastSeen { people }).expect("they may ask");
    seen.into_iter().map(|(person, seen)| (person.as_str().to_owned(), seen)).collect()
}

pub(crate) const CASES: &[Case] = &[
    ("when somebody was seen is kept to the minute and goes forward only", |scene| {
        scene.lobby(&["ann", "bob"]);
        assert_eq!(last_seen(scene, "ann", &["bob"]), [("bob".to_owned(), None)]);
        for moment in [minute(7).after_ms(59_999), minute(3)] {
            note(scene, "bob", moment);
            assert_eq!(last_seen(scene, "ann", &["bob"]), [("bob".to_owned(), Some(minute(7)))]);
        }
        // A person who returns may want to stay hidden, so that alone must not change the time.
        let renamed = Meet { profile: profile("Robert") };
        assert_eq!(scene.ask("bob", renamed).expect("he may come").seen, minute(7));
        note(scene, "nobody", minute(9));
        assert!(last_seen(scene, "ann", &["nobody"]).is_empty());
    }),
    ("only keys note when people were seen, and not of too many at once", |scene| {
        scene.lobby(&["ann"]);
        let people = vec![(person("ann"), minute(1))];
        let refused = scene.ask("ann", NoteSeen { people: people.clone() });
        assert!(matches!(refused, Err(Failure::Refused(Refusal::NotPermitted(_)))));
        let too_many = scene.service(NoteSeen { people: vec![people[0].clone(); limits::SEEN_MAX + 1] });
        assert!(matches!(too_many, Err(Failure::Invalid(_))));
        let too_many = scene.ask("ann", LastSeen { people: vec![person("ann"); limits::SEEN_MAX + 1] });
        assert!(matches!(too_many, Err(Failure::Invalid(_))));
    }),
    ("when somebody was seen is told to those who share a conversation with them", |scene| {
        let settings = Settings { people_find_each_other: true, ..Settings::named("A community") };
        scene.service(ChangeCommunity { settings }).expect("a key may");
        scene.lobby(&["ann", "bob"]);
        scene.people(&["cid"]);
        scene.direct("ann", "cid");
        for name in ["ann", "bob", "cid"] {
            note(scene, name, minute(5));
        }
        let known = |name: &str| (name.to_owned(), Some(minute(5)));
        let all = ["ann", "bob", "cid"];
        assert_eq!(last_seen(scene, "ann", &all), [known("ann"), known("bob"), known("cid")]);
        assert_eq!(last_seen(scene, "bob", &all), [known("ann"), known("bob")]);
        assert_eq!(last_seen(scene, "cid", &all), [known("ann"), known("cid")]);
        let seen = |by: &str, name| scene.ask(by, ReadPerson { person: person(name) }).map(|row| row.seen);
        assert_eq!(seen("cid", "bob"), Ok(Moment::default()), "he finds him, and no more");
        assert_eq!(seen("cid", "ann"), Ok(minute(5)));
        let by_key = scene.service(ReadPerson { person: person("bob") }).expect("a key may");
        assert_eq!(by_key.seen, minute(5));
        let beside = scene.beside();
        beside.lobby(&["ann", "bob"]);
        assert_eq!(last_seen(&beside, "ann", &["bob"]), [("bob".to_owned(), None)]);
    }),
    ("who is banned from the community learns nothing of who was seen", |scene| {
        scene.lobby(&["ann", "bob"]);
        note(scene, "ann", minute(5));
        let ban = ImposeSanction {
            person: person("bob"),
            conversation: None,
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        scene.service(ban).expect("a key may");
        assert!(last_seen(scene, "bob", &["ann"]).is_empty());
    }),
    ("when somebody was seen is exported with them and erased with them", |scene| {
        scene.lobby(&["ann", "bob"]);
        note(scene, "ann", minute(5));
        let written = format!(r#""seen":{}"#, minute(5).millis());
        assert!(json(&scene.export(Some("ann"))).contains(&written));
        scene.erase(&By::Service, "ann");
        note(scene, "ann", minute(6));
        assert!(last_seen(scene, "bob", &["ann"]).is_empty());
        assert!(!json(&scene.export(None)).contains(&written));
    }),
];
