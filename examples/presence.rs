//! Presence: each client of `rooms:NAME` is present under its name until it leaves.
//!
//! `cargo run --example presence`
#![allow(clippy::print_stdout, reason = "a program tells its user where it listens")]

use gateway::{Channel, Context, Gateway, Joining, Mount, OriginRule, Payload};
use serde_json::{Value, json};

#[derive(Default)]
struct Room {
    name: String,
}

impl Channel for Room {
    fn join(&mut self, _: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        let Payload::Json(text) = payload else { return Joining::refuse("a name is wanted") };
        match serde_json::from_str::<Value>(text)
            .ok()
            .and_then(|join| Some(join["name"].as_str()?.to_owned()))
        {
            Some(name) if !name.is_empty() => self.name = name,
            _ => return Joining::refuse("a name is wanted"),
        }
        Joining::accept()
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        if cx.track(&self.name, json!({ "away": false })).is_ok() {
            cx.push_presence_state();
        }
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, _: Payload<'_>) {
        let away = event == "away";
        match cx.update(&self.name, json!({ "away": away })) {
            Ok(()) => cx.reply_ok(json!({})),
            Err(error) => cx.reply_error(json!({ "reason": error.to_string() })),
        }
    }
}

fn main() -> Result<(), gateway::StartError> {
    let socket = Mount::channels("/socket").origins(OriginRule::Any).channel("rooms:*", Room::default);
    let running = Gateway::builder().listen(([127, 0, 0, 1], 4000)).mount(socket).start()?;
    println!("listening on {}", running.local_addresses()[0]);
    running.wait();
    Ok(())
}
