//! What becomes of changes whose requesters were told that the outcome is unknown.

use super::{Asker, answer};
use crate::audience::{DOUBTED_CHANGES_MAX, DeviceId, DoubtedChange};
use crate::channels::connection::Me;
use crate::channels::turns::Turns;
use crate::entrance::AllowedRooms;
use crate::messenger::{Messenger, Settings};
use crate::scene::{self, Held, RecordingOutlet, id, run, somebody};
use chat::verbs::{Append, Erase, ImposeSanction, OpenDirect, React};
use chat::{By, Conversation, Draft, Failure, Person, Revision, RoomName, SanctionKind, Seq};
use gateway::Payload;
use serde_json::{Value, json};
use std::sync::Arc;

/// Ann and Bob are in the lobby and have it open; Ann has sent `hi`, to which Bob has reacted.
struct Scene {
    messenger: Messenger,
    held: Arc<Held>,
    told: RecordingOutlet,
    lobby: Conversation,
    people: Vec<Person>,
}

impl Scene {
    async fn begin() -> Self {
        let ((messenger, held), told) = (scene::holding(), RecordingOutlet::default());
        messenger.tell_through(told.clone());
        let lobby = scene::community(&messenger, "one").await;
        let (name, mut people) = (RoomName::parse("lobby").expect("a name"), Vec::new());
        for (device, person) in ["ann", "bob"].into_iter().enumerate() {
            people.push(scene::person(&messenger, "one", person, &lobby).await);
            let (audience, device) = (&messenger.inner.audience, DeviceId(device as u64));
            audience.arrive(&id("one"), &somebody(person), device).expect("there is room");
            messenger.follow(&id("one"), &somebody(person)).await.expect("read");
            audience.open_room(&id("one"), lobby.id, &name, &somebody(person), device);
            audience.note_revision(&id("one"), lobby.id, Revision(0));
        }
        let scene = Self { messenger, held, told, lobby, people };
        let draft = Draft::text(None, "hi");
        let append = Append { conversation: scene.lobby.id, draft };
        scene.messenger.ask(&id("one"), scene::by("ann"), append).await.expect("said");
        scene.react("bob", "🎉", true).await.expect("reacted");
        scene.told.take();
        scene
    }

    /// A direct conversation of Ann and Bob, in which she has sent a message.
    async fn direct(&self) -> Conversation {
        let (one, open) = (id("one"), OpenDirect { with: somebody("bob") });
        let direct = self.messenger.ask(&one, scene::by("ann"), open).await.expect("opened");
        let append = Append { conversation: direct.id, draft: Draft::text(None, "psst") };
        self.messenger.ask(&one, scene::by("ann"), append).await.expect("said");
        direct
    }

    async fn react(&self, name: &str, emoji: &str, on: bool) -> Result<bool, Failure> {
        let react = React { conversation: self.lobby.id, seq: Seq(1), emoji: emoji.to_owned(), on };
        Ok(self.messenger.ask(&id("one"), scene::by(name), react).await?.changed)
    }

    /// Returns the answer to a client's request about the message while the store fails like this.
    async fn ask(&self, name: &str, event: &str, mut payload: Value, fail: fn(&Held)) -> Value {
        payload["conversation"] = json!(self.lobby.id);
        payload["seq"] = json!(1);
        let person = self.people.iter().find(|person| person.id == somebody(name)).expect("they are here");
        let (me, turns) = (Me::somebody(&id("one"), person.clone(), AllowedRooms::ALL), Turns::default());
        let asker = Asker { messenger: &self.messenger, me: &me, room: None, turns: &turns };
        let before = self.held.writes();
        self.held.hold();
        let asked = answer(&asker, event, Payload::Json(&payload.to_string())).expect("it is asked");
        let (answered, ()) = tokio::join!(asked.into_future(), async {
            // The reads that come first succeed.
            while self.held.writes() == before {
                self.held.commit();
                self.held.hold();
                tokio::task::yield_now().await;
            }
            fail(&self.held);
        });
        answered.unwrap_or_else(|fault| fault.json())
    }

    /// Returns what a round sends to the room.
    async fn round(&self) -> Vec<(String, Value)> {
        self.messenger.catch_up().await;
        let events = self.told.take().into_iter();
        let of_room = events.filter(|(topic, ..)| topic == "room:one/lobby");
        of_room.map(|(_, event, payload)| (event, serde_json::from_str(&payload).expect("JSON"))).collect()
    }
}

/// Who asks for what, and what is announced.
fn requests() -> [(&'static str, &'static str, Value, Value); 4] {
    [
        ("ann", "msg:edit", json!({"text": "ho"}), json!({"text": "ho", "revision": 2})),
        ("ann", "msg:delete", json!({}), json!({"text": "", "revision": 2})),
        (
            "ann",
            "react",
            json!({"emoji": " 👍 "}),
            json!({"person": "ann", "emoji": "👍", "on": true, "revision": 2,
                   "reactions": [{"emoji": "🎉", "count": 1}, {"emoji": "👍", "count": 1}]}),
        ),
        (
            "bob",
            "react",
            json!({"emoji": "🎉", "on": false}),
            json!({"person": "bob", "emoji": "🎉", "on": false, "revision": 2, "reactions": []}),
        ),
    ]
}

#[test]
fn what_was_stored_while_its_asker_could_not_be_told_is_told_to_the_room_once() {
    run(async {
        for (name, event, payload, expected) in requests() {
            let scene = Scene::begin().await;
            let answer = scene.ask(name, event, payload.clone(), Held::lose).await;
            assert_eq!(answer["code"], "unavailable", "{event}: {answer}");
            assert_eq!(answer["details"]["outcome"], "unknown", "{event}: {answer}");
            assert!(scene.told.take().is_empty(), "{event}: nobody knows it yet");
            // Repeating it is harmless and no news: that it is stored has still to be announced.
            let again = scene.ask(name, event, payload, Held::commit).await;
            assert_eq!(again["changed"], false, "{event}: {again}");
            let told = scene.round().await;
            let [(told_event, told_payload)] = &*told else { panic!("{event}: {told:?}") };
            assert_eq!(told_event, event);
            for (member, value) in expected.as_object().expect("an object") {
                assert_eq!(&told_payload[member], value, "{member} of {told_payload}");
            }
            assert!(scene.round().await.is_empty(), "{event} is told once");
        }
    });
}

#[test]
fn what_was_not_stored_is_told_to_nobody_until_it_is_repeated() {
    run(async {
        for (name, event, payload, _) in requests() {
            let scene = Scene::begin().await;
            let answer = scene.ask(name, event, payload.clone(), Held::cut).await;
            assert_eq!(answer["details"]["outcome"], "unknown", "{event}: {answer}");
            assert!(scene.round().await.is_empty(), "{event}");
            let again = scene.ask(name, event, payload, Held::commit).await;
            assert_eq!(again["changed"], true, "{event}: {again}");
            assert_eq!(scene.told.events(), [("room:one/lobby".to_owned(), event.to_owned())]);
        }
    });
}

#[test]
fn what_somebody_who_comes_reads_first_the_others_are_told_all_the_same() {
    run(async {
        let scene = Scene::begin().await;
        scene.ask("ann", "msg:edit", json!({"text": "ho"}), Held::lose).await;
        scene.messenger.inner.audience.note_revision(&id("one"), scene.lobby.id, Revision(2));
        let told = scene.round().await;
        assert!(matches!(&*told, [(event, _)] if event == "msg:edit"), "{told:?}");
    });
}

#[test]
fn what_was_told_later_is_not_followed_by_what_is_older() {
    run(async {
        let scene = Scene::begin().await;
        scene.ask("ann", "react", json!({"emoji": "👍"}), Held::lose).await;
        assert_eq!(scene.react("bob", "👍", true).await, Ok(true));
        let told = scene.told.take();
        let [(_, _, payload)] = &*told else { panic!("{told:?}") };
        let payload: Value = serde_json::from_str(payload).expect("JSON");
        assert_eq!(payload["revision"], 3, "clients see that 2 is missing");
        assert!(scene.round().await.is_empty());
    });
}

#[test]
fn what_the_store_cannot_say_yet_is_asked_again() {
    run(async {
        let scene = Scene::begin().await;
        scene.ask("ann", "react", json!({"emoji": "👍"}), Held::lose).await;
        scene.held.hold();
        tokio::join!(scene.messenger.catch_up(), async {
            while scene.held.count() == 0 {
                tokio::task::yield_now().await;
            }
            scene.held.cut();
        });
        assert!(scene.told.take().is_empty());
        let told = scene.round().await;
        assert!(matches!(&*told, [(event, _)] if event == "react"), "{told:?}");
    });
}

#[test]
fn where_too_many_are_unknown_the_room_is_told_how_far_it_has_come() {
    run(async {
        let scene = Scene::begin().await;
        scene.ask("ann", "react", json!({"emoji": "👍"}), Held::lose).await;
        for other in 0..DOUBTED_CHANGES_MAX {
            let change = DoubtedChange { seq: Seq(other as u64 + 2), reaction: None };
            scene.messenger.inner.audience.doubt_change(&id("one"), scene.lobby.id, &change);
        }
        let told = scene.round().await;
        let [(event, payload)] = &*told else { panic!("{told:?}") };
        assert_eq!((event.as_str(), &payload["revision"]), ("conversation:changed", &json!(2)));
        assert!(scene.round().await.is_empty());
    });
}

#[test]
fn who_reacted_and_may_not_come_in_any_more_does_not_keep_it_from_the_others() {
    run(async {
        let scene = Scene::begin().await;
        scene.ask("bob", "react", json!({"emoji": "👍"}), Held::lose).await;
        let (person, conversation, reason) = (somebody("bob"), Some(scene.lobby.id), String::new());
        let ban = ImposeSanction { person, conversation, kind: SanctionKind::Ban, until: None, reason };
        scene.messenger.ask(&id("one"), By::Service, ban).await.expect("banned");
        scene.messenger.catch_up().await;
        scene.told.take();
        let told = scene.round().await;
        let [(event, payload)] = &*told else { panic!("{told:?}") };
        assert_eq!((event.as_str(), &payload["revision"]), ("conversation:changed", &json!(2)));
    });
}

#[test]
fn those_of_a_direct_conversation_are_told_on_their_own_topics() {
    run(async {
        let scene = Scene::begin().await;
        let (one, messenger) = (id("one"), &scene.messenger);
        let direct = scene.direct().await;
        scene.held.hold();
        let react = React { conversation: direct.id, seq: Seq(1), emoji: "👍".to_owned(), on: true };
        let reacted = messenger.ask(&one, scene::by("bob"), react);
        scene.held.lose();
        assert!(matches!(reacted.await, Err(Failure::Unavailable(_))));
        scene.told.take();
        messenger.catch_up().await;
        let mut events = scene.told.events();
        events.sort();
        assert_eq!(events, ["ann", "bob"].map(|name| (format!("person:one/{name}"), "react".to_owned())));
    });
}

#[test]
fn in_a_direct_conversation_with_older_changes_what_was_not_stored_is_told_to_nobody() {
    run(async {
        let (scene, one) = (Scene::begin().await, id("one"));
        let direct = scene.direct().await;
        let react =
            |emoji: &str| React { conversation: direct.id, seq: Seq(1), emoji: emoji.to_owned(), on: true };
        scene.messenger.ask(&one, scene::by("bob"), react("🎉")).await.expect("reacted");
        // On a server that was started since, Ann's conversations are read as she comes online, or together with
        // others'.
        for (is_read_later, fail, told) in
            [(false, Held::cut as fn(&Held), 0), (true, Held::cut, 0), (true, Held::lose, 1)]
        {
            let (messenger, events) =
                (Messenger::new(scene.held.clone(), Settings::default()), RecordingOutlet::default());
            messenger.tell_through(events.clone());
            messenger.inner.audience.arrive(&one, &somebody("ann"), DeviceId(1)).expect("there is room");
            if is_read_later {
                messenger.inner.audience.follow_again(&one, &somebody("ann"));
                messenger.catch_up().await;
            } else {
                messenger.follow(&one, &somebody("ann")).await.expect("read");
            }
            scene.held.hold();
            let reacted = messenger.ask(&one, scene::by("bob"), react("👍"));
            fail(&scene.held);
            assert!(matches!(reacted.await, Err(Failure::Unavailable(_))));
            events.take();
            messenger.catch_up().await;
            assert_eq!(events.events(), vec![("person:one/ann".to_owned(), "react".to_owned()); told]);
        }
    });
}

#[test]
fn what_a_step_of_an_erasure_has_changed_the_room_is_told_though_nobody_knows_of_it() {
    run(async {
        for (fail, told) in [(Held::lose as fn(&Held), 1), (Held::cut, 0)] {
            let scene = Scene::begin().await;
            scene.held.hold();
            let erase = Erase { person: somebody("bob") };
            let erased = scene.messenger.ask(&id("one"), By::Service, erase);
            fail(&scene.held);
            assert!(matches!(erased.await, Err(Failure::Unavailable(_))));
            let events = scene.round().await;
            assert_eq!(events.len(), told, "{events:?}");
            for (event, payload) in events {
                assert_eq!((event.as_str(), &payload["revision"]), ("conversation:changed", &json!(2)));
            }
        }
    });
}
