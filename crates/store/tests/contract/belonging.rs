//! Memberships of many people at once.

use crate::Case;
use crate::scene::{Scene, person};
use chat::verbs::*;
use chat::*;

fn read(scene: &Scene, names: &[&str]) -> MembershipsPage {
    let people = names.iter().map(|name| person(name)).collect();
    scene.service(MembershipsOf { people, after: None, limit: limits::MEMBERSHIPS_MAX }).expect("a key may")
}

/// Each row's person, conversation and newest message.
fn lines(page: &MembershipsPage) -> Vec<(&str, ConversationId, u64)> {
    page.rows.iter().map(|row| (row.person.as_str(), row.conversation, row.last.0)).collect()
}

fn ban(name: &str, conversation: Option<ConversationId>) -> ImposeSanction {
    let (person, kind) = (person(name), SanctionKind::Ban);
    ImposeSanction { person, conversation, kind, until: None, reason: String::new() }
}

pub(crate) const CASES: &[Case] = &[
    ("what many people are in is told of all of them at once, and of nobody else", |scene| {
        let lobby = scene.lobby(&["ann", "bob", "cid"]);
        let direct = scene.direct("ann", "bob");
        scene.send("cid", lobby, "hello");
        let beside = scene.beside();
        beside.lobby(&["ann", "bob"]);
        let page = read(scene, &["bob", "ann", "bob"]);
        let mut expected = [("ann", lobby, 1), ("ann", direct, 0), ("bob", lobby, 1), ("bob", direct, 0)];
        expected.sort_unstable();
        assert_eq!(lines(&page), expected);
        assert!(page.rows.iter().all(|row| row.kind.is_room() == (row.conversation == lobby)));
        assert_eq!((page.kept_out.len(), page.next), (0, None));
        assert!(read(scene, &[]).rows.is_empty());
    }),
    ("what many people are in comes in pages, whatever happens between them", |scene| {
        let (lobby, den) = (scene.lobby(&["ann", "bob"]), scene.room(Kind::Public, "den", &["ann", "bob"]));
        let mut expected = [("ann", lobby), ("ann", den), ("bob", lobby), ("bob", den)];
        expected.sort_unstable();
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let people = ["ann", "bob"].map(person).to_vec();
            let page = scene.service(MembershipsOf { people, after, limit: 1 }).expect("a key may");
            found.extend(page.rows.iter().map(|row| (row.person.to_string(), row.conversation)));
            after = page.next;
            if after.is_none() {
                break;
            }
            // The list of conversations, ordered by activity, would now have it first.
            scene.send("ann", expected[3].1, "hello");
        }
        assert_eq!(found, expected.map(|(name, id)| (name.to_owned(), id)));
    }),
    ("of what many people are in they may not read all, and who may not come in is in nothing", |scene| {
        let lobby = scene.lobby(&["ann", "bob", "cid"]);
        let den = scene.room(Kind::Private, "den", &["bob"]);
        scene.guest("gus");
        scene.join("gus", lobby);
        scene.service(ban("bob", Some(lobby))).expect("a key may");
        scene.service(ban("cid", None)).expect("a key may");
        let everybody = ["ann", "bob", "cid", "gus", "nob"];
        let page = read(scene, &everybody);
        assert_eq!(lines(&page), [("ann", lobby, 0), ("bob", den, 0), ("gus", lobby, 0)]);
        assert_eq!(page.kept_out, ["cid", "nob"].map(person));
        let settings = Settings { guests: GuestPolicy::Refused, ..Settings::named("A community") };
        scene.service(ChangeCommunity { settings }).expect("a key may");
        assert_eq!(lines(&read(scene, &everybody)), [("ann", lobby, 0), ("bob", den, 0)]);
    }),
    ("only keys ask what many people are in, and not of too many at once", |scene| {
        scene.lobby(&["ann"]);
        let of = |count: usize| MembershipsOf { people: vec![person("ann"); count], after: None, limit: 9 };
        let refused = scene.ask("ann", of(1));
        assert!(matches!(refused, Err(Failure::Refused(Refusal::NotPermitted(_)))));
        assert!(scene.service(of(limits::MEMBERSHIPS_PEOPLE_MAX)).is_ok());
        let too_many = scene.service(of(limits::MEMBERSHIPS_PEOPLE_MAX + 1));
        assert!(matches!(too_many, Err(Failure::Invalid(_))));
    }),
];
