//! Phoenix V2 text messages: `[join_ref, ref, topic, event, payload]`.

use crate::client::Client;
use serde_json::{Value, json};

impl Client {
    /// Joins and returns the reply's payload: `{"status": …, "response": …}`.
    pub fn join(&mut self, topic: &str) -> Value {
        self.ask_to_join(topic);
        self.reply("1", topic)
    }

    /// Asks to join and does not wait.
    pub fn ask_to_join(&mut self, topic: &str) {
        self.push("1", topic, "phx_join", &json!({}));
    }

    /// Sends a message whose ref is `reference`.
    pub fn push(&mut self, reference: &str, topic: &str, event: &str, payload: &Value) {
        self.text(&json!(["1", reference, topic, event, payload]).to_string());
    }

    /// Sends a message and returns the payload of its reply, whatever comes in between.
    pub fn ask(&mut self, reference: &str, topic: &str, event: &str, payload: &Value) -> Value {
        self.push(reference, topic, event, payload);
        self.reply(reference, topic)
    }

    /// Reads on to the reply to `reference`.
    pub fn reply(&mut self, reference: &str, topic: &str) -> Value {
        self.hear(|message| message[1] == reference && message[2] == topic && message[3] == "phx_reply")
    }

    /// Reads on to an event of a topic and returns its payload.
    pub fn event(&mut self, topic: &str, event: &str) -> Value {
        self.hear(|message| message[2] == topic && message[3] == event)
    }

    /// Whether the socket still works.
    pub fn heartbeat(&mut self) {
        self.text(r#"[null,"heartbeat","phoenix","heartbeat",{}]"#);
        assert_eq!(self.reply("heartbeat", "phoenix")["status"], "ok");
    }

    fn hear(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message: Value = serde_json::from_str(&self.message()).expect("JSON");
            if is_wanted(&message) {
                return message[4].clone();
            }
        }
    }
}
