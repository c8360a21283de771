//! Tests the client against a small server that omits broadcasts, disconnects and refuses.

mod mending;
mod server;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::chat::messenger::command::Typed;
use crate::chat::messenger::news::{Change, News};
use server::{DIRECT, ROOM, Server};

struct Scene {
    client: Client,
    server: Server,
    now: Instant,
    news: Vec<News>,
    targets: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let (place, _) =
            Place::parse("ws://h/c/default/r/lobby", None).expect("a stored room").expect("a room");
        let identity = Identity { token: None, is_guest: false, name: "Ann".into() };
        let now = Instant::now();
        let client = Client::new(place, identity, "p".into(), now);
        Self { client, server: Server::default(), now, news: Vec::new(), targets: Vec::new() }
    }

    fn in_the_room() -> Self {
        let mut scene = Self::new();
        scene.settle();
        assert!(scene.client.is_in());
        scene.news.clear();
        scene
    }

    /// Lets both exchange messages until none is in flight.
    fn settle(&mut self) {
        // Far more than any test needs.
        const STEPS_MAX: usize = 10_000;
        for _ in 0..STEPS_MAX {
            self.client.tick(self.now);
            let effects = self.client.effects();
            self.news.extend(effects.news);
            let is_quiet = effects.send.is_empty() && effects.open.is_none() && effects.close.is_none();
            if let Some(target) = effects.open {
                self.targets.push(target);
                self.server.connected();
                self.client.opened(self.now);
            }
            for text in effects.send {
                self.server.hear(&text);
            }
            if let Some(reason) = effects.close {
                self.server.forget_connection();
                self.client.lost(reason, self.now);
                continue;
            }
            let told = std::mem::take(&mut self.server.out);
            if is_quiet && told.is_empty() {
                return;
            }
            for text in told {
                self.client.heard(&text, self.now);
            }
        }
        panic!("it does not end");
    }

    fn cut(&mut self) {
        self.server.forget_connection();
        self.client.lost("cut".into(), self.now);
    }

    fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.settle();
    }

    fn typed(&mut self, line: &str) {
        match Typed::parse(line) {
            Ok(typed) => self.client.perform(typed, self.now),
            Err(problem) => self.client.misunderstood(problem),
        }
        self.settle();
    }

    fn told(&self, conversation: &str) -> Vec<u64> {
        let said = self.news.iter().filter_map(|news| match news {
            News::Said(message) if message.conversation == conversation => Some(message.seq),
            _ => None,
        });
        said.collect()
    }

    fn refusals(&self) -> Vec<String> {
        let refused = self.news.iter().filter_map(|news| match news {
            News::Refused { reason, .. } => Some(reason.clone()),
            _ => None,
        });
        refused.collect()
    }
}

#[test]
fn a_guest_comes_in_and_comes_back_as_the_same_one() {
    let mut scene = Scene::new();
    scene.settle();
    assert_eq!(scene.client.me().map(|me| me.name.as_str()), Some("Ann"));
    assert_eq!(scene.client.current(), Some(ROOM));
    scene.cut();
    scene.wait(1);
    assert!(scene.client.is_in());
    let base = "/socket/websocket?vsn=2.0.0&community=default";
    assert_eq!(scene.targets, [format!("{base}&name=Ann"), format!("{base}&token=guest-token")]);
}

#[test]
fn what_was_said_meanwhile_comes_once_and_in_order() {
    let mut scene = Scene::in_the_room();
    scene.server.say(ROOM, "bob", "one", true);
    scene.settle();
    scene.cut();
    for text in ["two", "three"] {
        scene.server.say(ROOM, "bob", text, true);
        scene.server.say(DIRECT, "bob", text, true);
    }
    scene.wait(1);
    scene.server.say(ROOM, "bob", "four", true);
    scene.settle();
    assert_eq!(scene.told(ROOM), [1, 2, 3, 4]);
    assert_eq!(scene.told(DIRECT), [1, 2]);
    assert_eq!(scene.client.tab.get(DIRECT).map(|row| row.unread), Some(2));
}

#[test]
fn a_message_that_was_not_told_is_asked_for() {
    let mut scene = Scene::in_the_room();
    scene.server.say(ROOM, "bob", "unheard", false);
    scene.server.say(ROOM, "bob", "heard", true);
    scene.settle();
    assert_eq!(scene.told(ROOM), [1, 2]);
}

#[test]
fn what_was_said_and_not_answered_is_sent_again_as_the_same_message() {
    let mut scene = Scene::in_the_room();
    scene.server.swallows_answers = true;
    scene.typed("once");
    scene.server.swallows_answers = false;
    scene.cut();
    scene.wait(1);
    assert_eq!(scene.server.texts(ROOM), ["once"]);
    assert_eq!(scene.told(ROOM), [1]);
    assert!(scene.client.is_settled());
}

#[test]
fn what_comes_too_soon_is_sent_by_itself_when_it_may() {
    let mut scene = Scene::in_the_room();
    scene.server.refuse_next("slow_mode", json!({"retry_after_ms": 3000}));
    scene.typed("first");
    scene.typed("second");
    assert!(matches!(scene.news.last(), Some(News::Held { .. })), "{:?}", scene.news);
    assert_eq!(scene.server.texts(ROOM), [""; 0]);
    scene.wait(4);
    assert_eq!(scene.server.texts(ROOM), ["first", "second"]);
    assert_eq!(scene.client.refused(), 0);
}

#[test]
fn what_is_refused_is_told_with_the_reason_and_what_is_behind_it_goes_on() {
    let mut scene = Scene::in_the_room();
    let fields = json!({"fields": [{"field": "text", "code": "too_long", "message": "at most 8192 bytes"}]});
    scene.server.refuse_next("invalid", fields);
    scene.typed("long");
    scene.typed("short");
    assert_eq!(scene.refusals(), ["invalid; text: at most 8192 bytes"]);
    assert_eq!(scene.server.texts(ROOM), ["short"]);
    scene.typed("/serach x");
    assert!(scene.refusals()[1].contains("did you mean /search?"));
    assert_eq!(scene.client.refused(), 2);
}

#[test]
fn a_room_that_one_may_not_enter_ends_it_with_the_reason() {
    let mut scene = Scene::new();
    scene.server.refuse_next("not_found", json!({}));
    scene.settle();
    let ended =
        scene.news.iter().any(|news| matches!(news, News::Ended { reason } if reason.contains("not_found")));
    assert!(ended, "{:?}", scene.news);
    scene.wait(60);
    assert_eq!(scene.targets.len(), 1);
}

#[test]
fn a_guests_token_that_is_good_no_more_makes_a_new_guest_and_a_hosts_ends_it() {
    let mut scene = Scene::in_the_room();
    scene.cut();
    scene.server.refuse_next("token_expired", json!({}));
    scene.wait(1);
    scene.wait(30);
    assert!(scene.client.is_in() && scene.targets.last().is_some_and(|target| target.ends_with("name=Ann")));

    let mut scene = Scene::new();
    scene.client.identity.token = Some("of-the-site".into());
    scene.server.refuse_next("token_expired", json!({}));
    scene.settle();
    assert_eq!(scene.client.link(), Link::Ended);
}

#[test]
fn another_room_that_does_not_open_leaves_one_where_one_was() {
    let mut scene = Scene::in_the_room();
    scene.server.refuse_next("not_found", json!({}));
    scene.typed("/join secret");
    assert_eq!((scene.client.room_name(), scene.client.current()), ("lobby", Some(ROOM)));
    assert!(scene.client.is_in());
    scene.typed("still here");
    assert_eq!(scene.server.texts(ROOM), ["still here"]);
}

#[test]
fn a_direct_conversation_is_opened_by_name_and_answered_there() {
    let mut scene = Scene::in_the_room();
    scene.server.say(ROOM, "bob", "hi", true);
    scene.settle();
    scene.typed("/dm Bob | psst");
    assert_eq!(scene.client.current(), Some(DIRECT));
    scene.typed("there?");
    assert_eq!(scene.server.texts(DIRECT), ["psst", "there?"]);
    scene.server.say(DIRECT, "bob", "yes", true);
    scene.settle();
    scene.client.seen();
    scene.settle();
    assert_eq!(scene.client.tab.get(DIRECT).map(|row| (row.read, row.unread)), Some((3, 0)));
    scene.typed("/dm nobody here");
    assert!(scene.refusals()[0].contains("nobody named"), "{:?}", scene.refusals());
}

#[test]
fn changes_that_were_missed_are_made_up_for() {
    let mut scene = Scene::in_the_room();
    scene.server.say(DIRECT, "bob", "helo", true);
    scene.settle();
    scene.cut();
    scene.server.edit(DIRECT, 1, "hello");
    scene.wait(1);
    let is_changed = |news: &News| matches!(news, News::Changed { message, change: Change::Meanwhile } if message.text == "hello");
    assert!(scene.news.iter().any(is_changed), "{:?}", scene.news);
}

#[test]
fn a_store_that_began_anew_is_said_and_read_again() {
    let mut scene = Scene::in_the_room();
    scene.server.say(ROOM, "bob", "lost", true);
    scene.settle();
    scene.cut();
    scene.server.begin_anew();
    scene.server.say(ROOM, "bob", "new", true);
    scene.wait(1);
    let thread = scene.client.thread(ROOM).expect("the room's");
    assert_eq!(thread.messages().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["new"]);
    assert!(scene.news.iter().any(|news| matches!(news, News::Note(note) if note.contains("was reset"))));
}

#[test]
fn history_grows_to_the_beginning() {
    let mut scene = Scene::new();
    for number in 0..130 {
        scene.server.say(ROOM, "bob", &number.to_string(), true);
    }
    scene.settle();
    while scene.client.grow(ROOM) {
        scene.settle();
    }
    let thread = scene.client.thread(ROOM).expect("the room's");
    let seqs: Vec<u64> = thread.messages().map(|message| message.seq).collect();
    assert_eq!(seqs, (1..=130).collect::<Vec<_>>());
}

#[test]
fn a_conversation_that_is_opened_shows_what_was_before_the_news() {
    let mut scene = Scene::new();
    for text in ["one", "two"] {
        scene.server.say(DIRECT, "bob", text, true);
    }
    scene.settle();
    scene.server.say(DIRECT, "bob", "three", true);
    scene.settle();
    scene.typed("/open @Bob");
    let thread = scene.client.thread(DIRECT).expect("the conversation's");
    let texts: Vec<&str> = thread.messages().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["one", "two", "three"]);
}

#[derive(Clone, Debug)]
enum Step {
    Bob { told: bool },
    Ann,
    Cut,
    SwallowAnswers(bool),
    TooSoon,
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => any::<bool>().prop_map(|told| Step::Bob { told }),
        4 => Just(Step::Ann),
        2 => Just(Step::Cut),
        1 => any::<bool>().prop_map(Step::SwallowAnswers),
        1 => Just(Step::TooSoon),
        2 => Just(Step::Wait),
    ];
    proptest::collection::vec(step, 0..40)
}

proptest! {
    #[test]
    fn whatever_breaks_all_is_told_once_in_order_and_all_is_stored_once(steps in steps()) {
        let mut scene = Scene::in_the_room();
        let mut said = Vec::new();
        for step in steps {
            match step {
                Step::Bob { told } => scene.server.say(ROOM, "bob", "b", told),
                Step::Ann => {
                    let text = format!("a{}", said.len());
                    scene.client.perform(Typed::Say(text.clone()), scene.now);
                    said.push(text);
                }
                Step::Cut => scene.cut(),
                Step::SwallowAnswers(on) => scene.server.swallows_answers = on,
                Step::TooSoon => scene.server.refuse_next_message(),
                Step::Wait => scene.wait(1),
            }
        }
        scene.server.swallows_answers = false;
        scene.cut();
        for _ in 0..10 {
            scene.wait(31);
        }
        prop_assert!(scene.client.is_settled());
        prop_assert_eq!(scene.told(ROOM), (1..=scene.server.last(ROOM)).collect::<Vec<_>>());
        let of_ann: Vec<String> = scene.server.texts(ROOM).into_iter().filter(|text| text.starts_with('a')).collect();
        prop_assert_eq!(of_ann, said);
    }
}
