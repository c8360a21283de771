//! Changes for which the server broadcasts only the revision.

use super::*;
use crate::chat::messenger::thread::Mending;

impl Scene {
    /// Bob's message in the room was edited without a broadcast.
    fn with_an_edit() -> Self {
        let mut scene = Self::in_the_room();
        scene.server.say(ROOM, "bob", "one", true);
        scene.settle();
        scene.server.edit(ROOM, 1, "uno");
        scene
    }

    /// Returns the texts of messages that changed without a broadcast.
    fn meanwhile(&self) -> Vec<&str> {
        let changed = self.news.iter().filter_map(|news| match news {
            News::Changed { message, change: Change::Meanwhile } => Some(message.text.as_str()),
            _ => None,
        });
        changed.collect()
    }
}

#[test]
fn a_change_that_was_not_told_is_asked_for_when_the_room_says_how_far_it_has_come() {
    let mut scene = Scene::with_an_edit();
    scene.news.clear();
    for news in [1, 0] {
        scene.server.describe();
        scene.settle();
        scene.wait(2);
        let told = std::mem::take(&mut scene.news);
        let is_edited = |news: &News| matches!(news, News::Changed { message, .. } if message.text == "uno");
        assert!(told.len() == news && told.iter().all(is_edited), "{told:?}");
    }
}

#[test]
fn changes_that_are_heard_of_while_others_are_on_their_way_are_asked_for_after_them() {
    let mut scene = Scene::with_an_edit();
    scene.server.describe();
    scene.settle();
    scene.now += Duration::from_secs(2);
    scene.client.tick(scene.now);
    for text in scene.client.effects().send {
        scene.server.hear(&text);
    }
    let answer = std::mem::take(&mut scene.server.out);
    assert_eq!(answer.len(), 1, "{answer:?}");
    scene.server.edit(ROOM, 1, "eins");
    scene.server.describe();
    scene.server.out.extend(answer);
    scene.settle();
    assert_eq!(scene.meanwhile(), ["uno", "eins"]);
}

#[test]
fn changes_that_were_refused_are_asked_for_again_by_and_by() {
    let mut scene = Scene::with_an_edit();
    scene.server.describe();
    scene.settle();
    scene.server.refuse_next("busy", json!({}));
    scene.wait(2);
    scene.wait(2);
    assert_eq!(scene.meanwhile(), [""; 0]);
    scene.wait(1);
    assert_eq!(scene.meanwhile(), ["uno"]);
    assert_eq!(
        scene.client.thread(ROOM).map(|thread| (thread.mending, thread.futile)),
        Some((Mending::No, 0))
    );

    scene.server.edit(ROOM, 1, "eins");
    scene.server.describe();
    let mut tries = 0;
    for _ in 0..100 {
        scene.server.refuse_next("busy", json!({}));
        scene.wait(3);
        tries += u32::from(!scene.server.refuses_next());
    }
    assert_eq!(tries, 21);
}

#[test]
fn everybody_who_has_a_room_open_asks_for_changes_at_a_moment_of_their_own() {
    let waits = |prefix: String| {
        let mut scene = Scene::with_an_edit();
        scene.client.outbox = Outbox::new(prefix);
        scene.server.describe();
        let began = scene.now;
        scene.settle();
        while scene.meanwhile().is_empty() {
            scene.now += Duration::from_millis(100);
            scene.settle();
        }
        scene.now.duration_since(began)
    };
    let waits: Vec<Duration> = (0..100).map(|number| waits(format!("p{number}"))).collect();
    assert!(waits.iter().all(|wait| *wait <= Duration::from_secs(2)), "{waits:?}");
    for tenth in 0..10 {
        let from = Duration::from_millis(200) * tenth;
        let within = waits.iter().filter(|wait| (from..from + Duration::from_millis(200)).contains(*wait));
        assert!(within.count() < 30, "{waits:?}");
    }
}
