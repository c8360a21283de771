//! The channel of every topic of a simulated cluster.

use hub::{Channel, Context, Joining};
use proto::phoenix::Payload;
use serde_json::{Value, json};

/// Publishes what it is sent, to all or to the others, and answers when that is accepted. Tracks clients that join with
/// a key.
#[derive(Default)]
pub(super) struct Room {
    is_asked: bool,
    options: Value,
}

pub(super) const SAID: &str = "said";

impl Channel for Room {
    fn join(&mut self, _: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        // A panic here refuses the join, which no client accepts.
        assert!(!std::mem::replace(&mut self.is_asked, true), "a join is begun once");
        if let Payload::Json(text) = payload {
            self.options = serde_json::from_str(text).unwrap_or_default();
        }
        Joining::accept()
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        let Some(key) = self.options["key"].as_str() else { return };
        let tracked = cx.track(key, json!({ "mark": self.options["mark"] }));
        assert_eq!(tracked, Ok(()), "a join that stands tracks what it has not tracked");
        cx.push_presence_state();
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        match event {
            "say" => cx.broadcast_and_reply(SAID, payload),
            _ => cx.broadcast_from_and_reply(SAID, payload),
        }
    }
}
