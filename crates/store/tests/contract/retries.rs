//! A message that is sent again is stored once.

use crate::Case;
use crate::scene::{Scene, client_id};
use chat::verbs::{Append, Appended, Around, Delete, EditText};
use chat::*;
use std::sync::mpsc;

fn send(
    scene: &Scene,
    by: &str,
    conversation: ConversationId,
    id: &str,
    text: &str,
) -> Result<Appended, Failure> {
    scene.ask(by, Append { conversation, draft: Draft::text(client_id(id), text) })
}

pub(crate) const CASES: &[Case] = &[
    ("a retry returns the original and stores nothing", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        let first = send(scene, "ann", room, "a", "x").expect("she may");
        scene.send("bob", room, "between");
        let again = send(scene, "ann", room, "a", "x").expect("it is the same");
        assert!(!first.repeated && again.repeated);
        assert_eq!(first.message, again.message);
        assert_eq!(scene.page("ann", room, Around::Newest, 10).conversation.last, Seq(2));
    }),
    ("a retry after an edit or a deletion is still the same message", |scene| {
        let room = scene.lobby(&["ann"]);
        send(scene, "ann", room, "a", "x").expect("she may");
        let edit = EditText { conversation: room, seq: Seq(1), text: "y".into(), mentions: vec![] };
        scene.ask("ann", edit).expect("it is hers");
        assert_eq!(send(scene, "ann", room, "a", "x").expect("it is the same").message.text, "y");
        scene.ask("ann", Delete { conversation: room, seq: Seq(1) }).expect("it is hers");
        assert!(send(scene, "ann", room, "a", "x").expect("it is the same").message.deleted.is_some());
    }),
    ("one id is for one text in one conversation", |scene| {
        let room = scene.lobby(&["ann", "bob"]);
        let other = scene.room(Kind::Public, "other", &["ann"]);
        send(scene, "ann", room, "a", "x").expect("she may");
        let reused = Err(Failure::Conflict(Conflict::ClientIdReused));
        assert_eq!(send(scene, "ann", room, "a", "y"), reused);
        assert_eq!(send(scene, "ann", other, "a", "x"), reused);
        assert!(send(scene, "bob", room, "a", "y").is_ok(), "ids are each sender's own");
    }),
    ("retries that come with the original in one batch are one message", |scene| {
        let room = scene.lobby(&["ann"]);
        let (answer, answers) = mpsc::channel();
        for _ in 0..50 {
            let call = scene.call(By::Person(crate::scene::person("ann")));
            let answer = answer.clone();
            let append = Append { conversation: room, draft: Draft::text(client_id("same"), "x") };
            scene.store.submit_verb(call.ask(append), move |outcome| {
                answer.send(outcome).expect("the test waits");
            });
        }
        let all: Vec<Appended> = answers.iter().take(50).map(|outcome| outcome.expect("she may")).collect();
        assert_eq!(all.iter().filter(|appended| !appended.repeated).count(), 1);
        assert!(all.iter().all(|appended| appended.message == all[0].message));
        assert_eq!(scene.page("ann", room, Around::Newest, 10).conversation.last, Seq(1));
    }),
];
