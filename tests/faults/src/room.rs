//! A channel whose handlers do what the client asks for, be it good or bad.

use gateway::{Channel, Context, Ended, Info, Joining, Payload, ReplyTo, Task};
use serde_json::{Value, json};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

/// What one message of a flood carries.
pub const FLOOD_MESSAGE_BYTES: usize = 1000;

/// A channel ended: its topic and why.
pub type End = (String, Ended);

/// Holds back the decision on joins to topics with `late` in their name until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Lets all pass, now and later.
    pub fn open(&self) {
        let Gate(gate) = self;
        *gate.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        gate.1.notify_all();
    }

    fn pass(&self) {
        let Gate(gate) = self;
        let closed = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(gate.1.wait_while(closed, |open| !*open));
    }
}

/// One join. Topics choose how it begins and ends by a word in their name (`late`, `panics_in_join`, …), events what
/// it does in between.
pub struct Room {
    gate: Gate,
    ends: Option<Sender<End>>,
    panics_at_end: bool,
}

impl Room {
    /// A room that tells of its end where that is wanted.
    #[must_use]
    pub fn new(gate: Gate, ends: Option<Sender<End>>) -> Room {
        Room { gate, ends, panics_at_end: false }
    }
}

impl Channel for Room {
    fn join(&mut self, cx: &mut Context<'_>, _: Payload<'_>) -> Joining {
        self.panics_at_end = cx.topic().contains("panics_in_terminate");
        assert!(!cx.topic().contains("panics_in_join"), "as the topic says");
        if cx.topic().contains("late") {
            let gate = self.gate.clone();
            return Joining::Later(Task::blocking(move || gate.pass()));
        }
        Joining::accept()
    }

    fn join_answered(&mut self, _: &mut Context<'_>, _: Info) -> Joining {
        Joining::accept()
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        assert!(!cx.topic().contains("panics_once_joined"), "as the topic says");
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "echo" => cx.reply_ok(payload),
            "say" => cx.broadcast("said", payload),
            "shout" => cx.broadcast("shouted", payload),
            "track" => {
                cx.track("someone", json!({})).expect("once, and an object");
                cx.reply_ok(json!({}));
            }
            "flood" => flood(cx, payload),
            "panic" => panic!("as the client asked"),
            "panic_in_task" => cx.spawn(Task::blocking(|| panic!("as the client asked"))),
            "panic_in_call" => cx.spawn(Task::called(|_| panic!("as the client asked"))),
            "never_called" => cx.spawn(Task::called(drop)),
            "call" => {
                let to = cx.defer();
                cx.spawn(Task::called(|finish| drop(thread::spawn(move || finish.with(to)))));
            }
            "panic_in_info" => cx.spawn(Task::blocking(|| ())),
            _ => cx.reply_error(json!({ "reason": "unknown event" })),
        }
    }

    fn handle_info(&mut self, cx: &mut Context<'_>, info: Info) {
        match info.downcast::<ReplyTo>() {
            Ok(to) => cx.reply_to(&to, "ok", json!({ "called": true })),
            Err(_) => panic!("as the client asked"),
        }
    }

    fn intercepts(&self) -> &'static [&'static str] {
        &["shouted"]
    }

    fn handle_out(&mut self, _: &mut Context<'_>, _: &str, _: Payload<'_>) {
        panic!("as the client asked");
    }

    fn terminate(&mut self, cx: &mut Context<'_>, reason: Ended) {
        if let Some(ends) = &self.ends {
            // A test that is over does not listen.
            let _ = ends.send((cx.topic().to_owned(), reason));
        }
        assert!(!self.panics_at_end, "as the topic says");
    }
}

/// Pushes `{"messages": …}` of them at once.
fn flood(cx: &mut Context<'_>, payload: Payload<'_>) {
    let Payload::Json(text) = payload else { return };
    let wanted: Value = serde_json::from_str(text).expect("the test sends JSON");
    let filling = "x".repeat(FLOOD_MESSAGE_BYTES);
    for number in 0..wanted["messages"].as_u64().expect("a number") {
        cx.push("drop", json!({ "number": number, "filling": filling }));
    }
}
