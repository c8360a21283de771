//! Many concurrent requests, in many conversations.

use crate::Case;
use crate::scene::{Scene, client_id, person, texts};
use chat::verbs::{Append, Appended, Around, Leave};
use chat::*;
use std::sync::mpsc::{Receiver, channel};

const ROOMS: usize = 8;
/// Enough that a store with two writing connections splits them.
const EACH: usize = 50;

pub(crate) const CASES: &[Case] = &[
    ("what is said in many conversations at once has its order in each", order),
    ("who leaves behind many messages has said all of them, and says no more", leaving),
    ("a client id that is used in two conversations at once is one message's", twice),
];

fn rooms(scene: &Scene, people: &[&str]) -> Vec<ConversationId> {
    scene.people(people);
    (0..ROOMS).map(|nth| scene.room(Kind::Public, &format!("room-{nth}"), people)).collect()
}

/// Submits without waiting for the answer.
fn ask<C>(scene: &Scene, by: &str, command: C) -> Receiver<Result<<Asked<C> as Verb>::Answer, Failure>>
where
    Asked<C>: Verb,
{
    let (answer, answered) = channel();
    let call = scene.call(By::Person(person(by)));
    scene.store.submit_verb(call.ask(command), move |outcome| answer.send(outcome).expect("the test waits"));
    answered
}

fn say(scene: &Scene, room: ConversationId, id: &str, text: &str) -> Receiver<Result<Appended, Failure>> {
    ask(scene, "ann", Append { conversation: room, draft: Draft::text(client_id(id), text) })
}

fn said(answered: &Receiver<Result<Appended, Failure>>) -> Result<Appended, Failure> {
    answered.recv().expect("every request is answered")
}

/// Sends the same number of messages to each room, in turn.
fn crowd(scene: &Scene, rooms: &[ConversationId]) -> Vec<Receiver<Result<Appended, Failure>>> {
    let say =
        |nth: usize| say(scene, rooms[nth % ROOMS], &format!("id-{nth}"), &format!("text {}", nth / ROOMS));
    (0..ROOMS * EACH).map(say).collect()
}

fn order(scene: &Scene) {
    let rooms = rooms(scene, &["ann"]);
    for answered in crowd(scene, &rooms) {
        said(&answered).expect("she may");
    }
    let sent: Vec<String> = (0..EACH).map(|nth| format!("text {nth}")).collect();
    for room in rooms {
        let page = scene.page("ann", room, Around::Newest, 2 * EACH);
        let (places, read): (Vec<u64>, Vec<&str>) = texts(&page).into_iter().unzip();
        assert_eq!(read, sent);
        assert_eq!(places, (1..=EACH as u64).collect::<Vec<_>>());
    }
}

fn leaving(scene: &Scene) {
    let rooms = rooms(scene, &["ann", "bob"]);
    let before = crowd(scene, &rooms);
    let left: Vec<_> = rooms.iter().map(|&conversation| ask(scene, "ann", Leave { conversation })).collect();
    let after: Vec<_> = rooms.iter().map(|&room| say(scene, room, "late", "one more")).collect();
    for answered in &before {
        said(answered).expect("she was in it");
    }
    for answered in &left {
        answered.recv().expect("every request is answered").expect("she may");
    }
    for answered in &after {
        assert!(said(answered).is_err(), "she is in it no more");
    }
}

fn twice(scene: &Scene) {
    let rooms = rooms(scene, &["ann"]);
    let crowd = crowd(scene, &rooms);
    // Each to two rooms, in one order and in the other.
    let pairs: Vec<_> = (0..ROOMS)
        .map(|nth| {
            let mut both = [rooms[nth], rooms[(nth + 1) % ROOMS]];
            if nth % 2 == 1 {
                both.reverse();
            }
            both.map(|room| say(scene, room, &format!("both-{nth}"), "the same"))
        })
        .collect();
    for answered in &crowd {
        said(answered).expect("she may");
    }
    for [first, second] in &pairs {
        assert!(said(first).is_ok(), "the first one is stored");
        let refused = said(second);
        assert!(matches!(refused, Err(Failure::Conflict(Conflict::ClientIdReused))), "{refused:?}");
    }
}
