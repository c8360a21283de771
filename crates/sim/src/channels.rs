//! The channels that simulated clients join. Each event of a client makes its room use one part of the interface.

use crate::journal::{ClientId, JoinId, Journal, Mark, Note, PublicationId, Published};
use hub::{Channel, ChannelFactory, Context, Ended, Info, Joining, Outgoing, ReplyTo, Task};
use proto::phoenix::Payload;
use serde_json::{Value, json};
use std::panic::resume_unwind;

/// The events of publications; the second is the one that intercepting rooms handle themselves.
pub(crate) const PUBLISHED: &str = "published";
pub(crate) const INTERCEPTED: &str = "intercepted";

/// The most tasks that one join may have running.
pub(crate) const TASKS_MAX: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RoomKind {
    Plain,
    /// Handles [`INTERCEPTED`] publications itself.
    Intercepting,
    /// Tracks each client that joins and tells it who is present.
    Present,
}

/// Creates the rooms of one kind.
pub(crate) struct Rooms {
    pub(crate) kind: RoomKind,
    pub(crate) journal: Journal,
}

impl ChannelFactory for Rooms {
    fn make(&self, _topic: &str) -> Box<dyn Channel> {
        Box::new(Room {
            kind: self.kind,
            journal: self.journal.clone(),
            join: JoinId(0),
            options: Value::Null,
            waiting: Vec::new(),
        })
    }
}

/// What the connect callback would leave for a socket's channels.
pub(crate) struct Assigns(pub(crate) ClientId);

struct Room {
    kind: RoomKind,
    journal: Journal,
    join: JoinId,
    /// The join's payload: what this room must do beyond answering.
    options: Value,
    /// Messages to answer when the task with that number is done.
    waiting: Vec<(u64, ReplyTo)>,
}

/// The result of a task: its number.
struct Done(u64);

/// Ends a handler as a panic does, without the panic hook's lines on standard error.
fn panic_quietly() -> ! {
    resume_unwind(Box::new("planned by the simulation"))
}

fn task(number: u64, panics: bool) -> Task {
    match panics {
        true => Task::blocking(|| -> Done { panic_quietly() }),
        false if number % 2 == 1 => Task::called(move |finish| finish.with(Done(number))),
        false => Task::future(async move { Done(number) }),
    }
}

impl Channel for Room {
    fn join(&mut self, _cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        let Payload::Json(text) = payload else { return Joining::refuse("no options") };
        self.options = serde_json::from_str(text).unwrap_or_default();
        self.join = JoinId(self.options["join"].as_u64().unwrap_or_default() as u32);
        match self.options["mode"].as_str() {
            Some("accept" | "die") => Joining::Accept(json!({"join": self.join.0}).into()),
            Some("crash") => panic_quietly(),
            Some("later" | "later refuse" | "later crash") => Joining::Later(task(0, false)),
            Some("later panic") => Joining::Later(task(0, true)),
            _ => Joining::refuse("wanted"),
        }
    }

    fn join_answered(&mut self, _cx: &mut Context<'_>, _answer: Info) -> Joining {
        match self.options["mode"].as_str() {
            Some("later") => Joining::Accept(json!({"join": self.join.0}).into()),
            Some("later crash") => panic_quietly(),
            _ => Joining::refuse("wanted"),
        }
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        self.journal.note(Note::Joined { join: self.join });
        if self.kind == RoomKind::Present {
            let state_first = self.options["state first"] == true;
            if state_first {
                cx.push_presence_state();
            }
            let key = self.options["key"].as_str().unwrap_or_default().to_owned();
            self.track(cx, &key);
            if !state_first {
                cx.push_presence_state();
            }
        }
        if self.options["greet"] == true {
            self.publish(cx, PUBLISHED, false);
        }
        if self.options["mode"] == "die" {
            self.die();
        }
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let Payload::Json(text) = payload else {
            self.publish_bytes(cx);
            return cx.reply_ok(payload);
        };
        let options: Value = serde_json::from_str(text).unwrap_or_default();
        match event {
            "echo" => cx.reply_ok(payload),
            "deny" => cx.reply_error(payload),
            "quiet" => {}
            "bytes" => cx.reply_ok(vec![1, 2, 3]),
            "defer" => {
                let number = self.keep(cx);
                cx.spawn(task(number, options["panics"] == true));
            }
            "hold" => {
                let number = self.keep(cx);
                cx.hold(task(number, options["panics"] == true));
            }
            "hold twice" => {
                // Nobody uses the first task's answer; the client's next message waits for both.
                cx.hold(task(0, false));
                let number = self.keep(cx);
                cx.hold(task(number, options["panics"] == true));
            }
            "overwork" => (0..=TASKS_MAX).for_each(|_| cx.spawn(task(0, false))),
            "stop" => cx.stop(),
            "reply and stop" => {
                cx.reply_ok(Outgoing::empty());
                cx.stop();
            }
            "fail" => cx.fail(),
            _ if self.does(cx, event, &options) => cx.reply_ok(Outgoing::empty()),
            _ => self.die(),
        }
    }

    fn handle_info(&mut self, cx: &mut Context<'_>, info: Info) {
        let Ok(done) = info.downcast::<Done>() else { return };
        if let Some(at) = self.waiting.iter().position(|(number, _)| *number == done.0) {
            let (_, message) = self.waiting.remove(at);
            cx.reply_to(&message, "ok", Outgoing::empty());
        }
    }

    fn intercepts(&self) -> &'static [&'static str] {
        if self.kind == RoomKind::Intercepting { &[INTERCEPTED] } else { &[] }
    }

    /// The number of a publication determines whether it is withheld from the client, and whether it ends the room.
    fn handle_out(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let Some(id) = publication_of(payload) else { return };
        let pushed = id.0 % 5 != 0;
        self.journal.note(Note::HandedOut { join: self.join, id, pushed });
        if pushed {
            cx.push(event, payload);
        }
        match id.0 % 20 {
            10 => self.die(),
            0 => cx.stop(),
            _ => {}
        }
    }

    fn terminate(&mut self, cx: &mut Context<'_>, _reason: Ended) {
        self.journal.note(Note::Ended { join: self.join });
        if self.options["farewell"] == true {
            cx.push("bye", json!({}));
            self.publish(cx, PUBLISHED, false);
        }
    }
}

impl Room {
    /// Handles the events that affect others and are then answered. Returns `false` for an unknown event.
    fn does(&self, cx: &mut Context<'_>, event: &str, options: &Value) -> bool {
        let text_of = |name: &str| options[name].as_str().unwrap_or_default();
        match event {
            "publish" => self.publish(cx, PUBLISHED, false),
            "publish from" => self.publish(cx, PUBLISHED, true),
            "publish intercepted" => self.publish(cx, INTERCEPTED, false),
            "publish to" => {
                let (note, payload) = self.published(cx, text_of("topic"), PUBLISHED, false);
                self.journal.note(note);
                cx.broadcast_to(text_of("topic"), PUBLISHED, payload);
            }
            "several" => {
                cx.push("first", json!({}));
                self.publish(cx, PUBLISHED, false);
                cx.push("third", json!({}));
            }
            "track" => self.track(cx, text_of("key")),
            "update" => self.update(cx, text_of("key")),
            "untrack" => self.untrack(cx, text_of("key")),
            "list" => cx.push_presence_state(),
            "kick" => {
                self.journal.note(Note::Kicked { socket_id: text_of("socket").into() });
                cx.broadcast_to(text_of("socket"), "disconnect", json!({}));
            }
            _ => return false,
        }
        true
    }

    /// Panics while the join is in effect: the hub ends it and calls this room no more.
    fn die(&self) -> ! {
        self.journal.note(Note::Ended { join: self.join });
        panic_quietly()
    }

    /// Keeps the current message until the task with the returned number is done.
    fn keep(&mut self, cx: &Context<'_>) -> u64 {
        let number = self.journal.number();
        self.waiting.push((number, cx.defer()));
        number
    }

    fn publish(&self, cx: &mut Context<'_>, event: &str, from: bool) {
        let (note, payload) = self.published(cx, cx.topic(), event, from);
        self.journal.note(note);
        match from {
            true => cx.broadcast_from(event, payload),
            false => cx.broadcast(event, payload),
        }
    }

    fn publish_bytes(&self, cx: &mut Context<'_>) {
        let (mut note, _) = self.published(cx, cx.topic(), PUBLISHED, false);
        let Note::Published(published) = &mut note else { return };
        published.binary = true;
        let bytes = published.id.0.to_be_bytes().to_vec();
        self.journal.note(note);
        cx.broadcast(PUBLISHED, bytes);
    }

    fn published(&self, cx: &Context<'_>, topic: &str, event: &str, from: bool) -> (Note, Value) {
        let id = PublicationId(self.journal.number());
        let publisher = cx.assigns::<Assigns>().map(|assigns| assigns.0);
        let intercepted = event == INTERCEPTED;
        let topic = topic.to_owned();
        let published = Published { id, topic, publisher, from, intercepted, binary: false };
        (Note::Published(published), payload_of(id))
    }

    fn track(&self, cx: &mut Context<'_>, key: &str) {
        let mark = Mark(self.journal.number());
        if cx.track(key, json!({"mark": mark.0})).is_ok() {
            self.journal.note(Note::Tracked { join: self.join, key: key.into(), mark });
        }
    }

    fn untrack(&self, cx: &mut Context<'_>, key: &str) {
        if cx.untrack(key).is_ok() {
            self.journal.note(Note::Untracked { join: self.join, key: key.into() });
        }
    }

    fn update(&self, cx: &mut Context<'_>, key: &str) {
        let mark = Mark(self.journal.number());
        if cx.update(key, json!({"mark": mark.0})).is_ok() {
            self.journal.note(Note::Tracked { join: self.join, key: key.into(), mark });
        }
    }
}

/// Returns a publication's payload. The text is long enough to be compressed if compression was negotiated.
pub(crate) fn payload_of(id: PublicationId) -> Value {
    json!({"publication": id.0, "text": "what everybody on this topic should hear"})
}

/// Returns the number in a publication's payload.
pub(crate) fn publication_of(payload: Payload<'_>) -> Option<PublicationId> {
    match payload {
        Payload::Json(text) => {
            serde_json::from_str::<Value>(text).ok()?["publication"].as_u64().map(PublicationId)
        }
        Payload::Binary(bytes) => Some(PublicationId(u64::from_be_bytes(bytes.try_into().ok()?))),
    }
}
