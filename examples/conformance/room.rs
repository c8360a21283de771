//! The channel of the conformance cases: one topic or event for each behaviour that they check.

use crate::Connected;
use gateway::{Channel, Context, Joining, Outgoing, Payload, Task};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Numbers of channel instances that started and ended.
#[derive(Default)]
pub(crate) struct Counts {
    joined: AtomicU64,
    terminated: AtomicU64,
}

impl Counts {
    pub(crate) fn json(&self) -> Value {
        json!({ "joined": self.joined.load(Relaxed), "terminated": self.terminated.load(Relaxed) })
    }
}

pub(crate) struct Room {
    counts: Arc<Counts>,
    /// The presence key of `room:pres`.
    key: Option<String>,
    stood: bool,
}

impl Room {
    pub(crate) fn new(counts: Arc<Counts>) -> Room {
        Room { counts, key: None, stood: false }
    }
}

impl Channel for Room {
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        match cx.topic() {
            "room:deny" => Joining::refuse("unauthorized"),
            "room:crash" => panic!("the fixture's join handler crashes on purpose"),
            "room:slow" => Joining::Later(pause(500)),
            "room:pres" => {
                self.key = object(payload)["key"].as_str().map(str::to_owned);
                Joining::accept()
            }
            _ => Joining::accept(),
        }
    }

    fn join_answered(&mut self, _: &mut Context<'_>, _: gateway::Info) -> Joining {
        Joining::accept()
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        self.counts.joined.fetch_add(1, Relaxed);
        self.stood = true;
        match cx.topic() {
            "room:after" => {
                cx.broadcast("user_entered", Outgoing::empty());
                cx.push("joined", json!({ "status": "connected" }));
            }
            "room:pres" => {
                if let Some(key) = &self.key {
                    cx.track(key, json!({ "n": 1 })).expect("a first track of an object");
                }
                cx.push_presence_state();
            }
            _ => {}
        }
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "echo" => cx.reply_ok(payload),
            "fail" => cx.reply_error(payload),
            "quiet" => {}
            "new_msg" => {
                cx.broadcast("new_msg", payload);
                cx.reply_ok(Outgoing::empty());
            }
            "shout" => {
                cx.broadcast_from("shout", payload);
                cx.reply_ok(Outgoing::empty());
            }
            "ic" => {
                cx.broadcast("ic", payload);
                cx.reply_ok(Outgoing::empty());
            }
            "many" => {
                cx.push("a", Outgoing::empty());
                cx.broadcast("b", Outgoing::empty());
                cx.push("c", Outgoing::empty());
                cx.reply_ok(Outgoing::empty());
            }
            "boom" => panic!("the fixture's handler crashes on purpose"),
            "stop" => cx.stop(),
            "stop_reply" => {
                cx.reply_ok(json!({ "bye": 1 }));
                cx.stop();
            }
            "bin" => {
                cx.push("pbin", Outgoing::binary(&[0, 1]));
                let mut response = bytes(payload);
                response.push(9);
                cx.reply_ok(response);
            }
            "bbin" => cx.broadcast("bbin", bytes(payload)),
            "upd" => {
                let key = self.key.clone().unwrap_or_default();
                match cx.update(&key, json!({ "n": 2 })) {
                    Ok(()) => cx.reply_ok(Outgoing::empty()),
                    Err(error) => cx.reply_error(json!({ "reason": error.to_string() })),
                }
            }
            "whoami" => {
                let connected =
                    cx.assigns::<Connected>().map(|it| (it.auth_token.clone(), it.params.clone()));
                let (token, params) = connected.unwrap_or_default();
                cx.reply_ok(json!({ "token": token, "id": cx.socket_id(), "params": params }));
            }
            "stuck" => cx.hold(pause(1000)),
            _ => cx.reply_error(json!({ "reason": "unknown event" })),
        }
    }

    fn intercepts(&self) -> &'static [&'static str] {
        &["ic"]
    }

    fn handle_out(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let mut changed = object(payload);
        changed["x"] = json!(1);
        cx.push(event, changed);
    }
}

/// Counts the end of a channel on drop, which also covers one that panicked and got no terminate call.
impl Drop for Room {
    fn drop(&mut self) {
        self.counts.terminated.fetch_add(u64::from(self.stood), Relaxed);
    }
}

fn pause(span_ms: u64) -> Task {
    Task::future(async move { tokio::time::sleep(Duration::from_millis(span_ms)).await })
}

fn object(payload: Payload<'_>) -> Value {
    let value = match payload {
        Payload::Json(text) => serde_json::from_str(text).unwrap_or_default(),
        Payload::Binary(_) => Value::Null,
    };
    if value.is_object() { value } else { json!({}) }
}

fn bytes(payload: Payload<'_>) -> Vec<u8> {
    match payload {
        Payload::Json(text) => text.as_bytes().to_vec(),
        Payload::Binary(bytes) => bytes.to_vec(),
    }
}
