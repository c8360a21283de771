//! Two servers on one database: neither knows what the other is about to do.

use crate::scene::{Scene, texts};
use chat::verbs::{Around, ChangeRoom, EditText, ImposeSanction, Join, ReadConversation};
use chat::{Failure, Kind, Refusal, SanctionKind, Seq, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

/// How many messages each of them sends and edits.
const EACH: u64 = 100;

pub(crate) type Case = (&'static str, fn(&Scene, Arc<dyn Store>));

/// Runs on one server, with the other one beside it.
pub(crate) const CASES: &[Case] = &[
    ("places are dense and each given once, whichever server gives them", |scene, other| {
        let room = scene.lobby(&["ann", "bob"]);
        let other = scene.on(other);
        let send = |scene: &Scene, name: &str| -> Vec<u64> {
            let said = (0..EACH).map(|number| scene.send(name, room, &format!("{name} {number}")));
            said.map(|appended| appended.message.seq.0).collect()
        };
        let (anns, bobs) = thread::scope(|threads| {
            let ann = threads.spawn(|| send(scene, "ann"));
            let bob = threads.spawn(|| send(&other, "bob"));
            (ann.join().expect("all are sent"), bob.join().expect("all are sent"))
        });
        assert!(anns.is_sorted() && bobs.is_sorted(), "what one says stands in its order");
        let all: BTreeSet<u64> = anns.into_iter().chain(bobs).collect();
        assert_eq!(all, (1..=2 * EACH).collect());
        let [here, there] = [scene, &other].map(|scene| scene.page("ann", room, Around::Newest, 100));
        assert_eq!(texts(&here), texts(&there));
    }),
    ("what both change at once is changed by both, one after the other", |scene, other| {
        let room = scene.lobby(&["ann", "bob"]);
        let other = scene.on(other);
        let [anns, bobs] = ["ann", "bob"].map(|name| scene.send(name, room, "first").message.seq);
        let edit = |scene: &Scene, name: &str, seq: Seq| {
            for number in 0..EACH {
                let text = format!("{name} {number}");
                let edit = EditText { conversation: room, seq, text, mentions: Vec::new() };
                scene.ask(name, edit).unwrap_or_else(|failure| panic!("{name} {number}: {failure:?}"));
            }
        };
        thread::scope(|threads| {
            threads.spawn(|| edit(scene, "ann", anns));
            threads.spawn(|| edit(&other, "bob", bobs));
        });
        let (conversation, _) =
            scene.ask("ann", ReadConversation { conversation: room }).expect("she may read");
        assert_eq!(conversation.revision.0, 2 * EACH, "each edit has a revision of its own");
    }),
    ("what one forbids the other does not permit any more", |scene, other| {
        let room = scene.lobby(&["ann", "bob"]);
        let other = scene.on(other);
        other.send("bob", room, "hi");
        let ban = ImposeSanction {
            person: crate::scene::person("bob"),
            conversation: Some(room),
            kind: SanctionKind::Ban,
            until: None,
            reason: String::new(),
        };
        scene.service(ban).expect("a key may");
        let said = other.try_send("bob", room, "still here");
        assert!(matches!(said, Err(Failure::Refused(Refusal::Banned { .. }))), "{said:?}");
        let private = ChangeRoom { kind: Some(Kind::Private), ..ChangeRoom::of(room) };
        scene.service(private).expect("a key may");
        other.people(&["cat"]);
        let joined = other.ask("cat", Join { conversation: room, invitation: None });
        assert!(joined.is_err(), "{joined:?}");
    }),
];
