//! Phoenix Channels, version 2.0.0: one topic, its messages, presence, and heartbeats.

use std::collections::BTreeMap;

use proto::phoenix::{FrameKind, Message, Payload, Ref, Version, decode, encode_message};
use serde_json::{Value, json};

use crate::chat::conversation::{Effects, Event, Said};
use crate::chat::plain;

const MESSAGE_EVENT: &str = "new_msg";
const SYSTEM_TOPIC: &str = "phoenix";
/// Maximum number of people listed; further ones are not shown.
const PEOPLE_MAX: usize = 10_000;
/// Maximum number of messages that may wait for their reply. Beyond it the oldest is assumed to have none.
const UNANSWERED_MAX: usize = 256;

/// A conversation on one topic.
#[derive(Debug)]
pub(super) struct Phoenix {
    topic: String,
    name: String,
    /// The last reference used, over all connections, so that a reply from an earlier connection never matches.
    reference: u64,
    join: u64,
    heartbeat: Option<u64>,
    unanswered: BTreeMap<u64, String>,
    /// Keyed by presence key: the references of the person's connections, each with its name.
    present: BTreeMap<String, BTreeMap<String, String>>,
}

impl Phoenix {
    pub(super) fn new(topic: String, name: String) -> Self {
        Self {
            topic,
            name,
            reference: 0,
            join: 0,
            heartbeat: None,
            unanswered: BTreeMap::new(),
            present: BTreeMap::new(),
        }
    }

    /// Joins the topic and asks to be listed.
    pub(super) fn opened(&mut self, effects: &mut Effects) {
        self.join = self.reference + 1;
        let payload = json!({ "name": self.name, "presence": true });
        let topic = self.topic.clone();
        self.push(&topic, "phx_join", &payload, effects);
    }

    /// Sends a message and returns what its echo would be.
    pub(super) fn say(&mut self, body: &str, effects: &mut Effects) -> Said {
        let payload = json!({ "name": self.name, "body": body });
        let topic = self.topic.clone();
        let reference = self.push(&topic, MESSAGE_EVENT, &payload, effects);
        if self.unanswered.len() == UNANSWERED_MAX {
            self.unanswered.pop_first();
        }
        self.unanswered.insert(reference, body.to_owned());
        Said { name: self.name.clone(), body: body.to_owned() }
    }

    pub(super) fn is_settled(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// Sends a heartbeat. If the last one was not answered, ends the connection, as Phoenix's own client does.
    pub(super) fn beat(&mut self, effects: &mut Effects) {
        if self.heartbeat.is_some() {
            effects.end = Some("the server did not answer a heartbeat".into());
            return;
        }
        self.heartbeat = Some(self.push(SYSTEM_TOPIC, "heartbeat", &json!({}), effects));
    }

    pub(super) fn lost(&mut self, effects: &mut Effects) {
        let reason = "the connection ended before it was answered";
        let unanswered = std::mem::take(&mut self.unanswered);
        effects
            .tell
            .extend(unanswered.into_values().map(|body| Event::NotSent { body, reason: reason.to_owned() }));
        self.heartbeat = None;
        self.present.clear();
    }

    /// Handles a message from the server; returns it if it is a chat message.
    pub(super) fn heard(&mut self, text: &str, effects: &mut Effects) -> Option<Said> {
        let message = match decode(Version::V2, FrameKind::Text, text.as_bytes()) {
            Ok(message) => message,
            Err(error) => {
                effects.end =
                    Some(format!("the server does not speak Phoenix Channels 2.0.0 at this URL: {error}"));
                return None;
            }
        };
        let Payload::Json(payload) = message.payload else { return None };
        let payload: Value = serde_json::from_str(payload).unwrap_or_default();
        let event = message.event.as_text().unwrap_or_default();
        if event == "phx_reply" {
            self.answered(&message.reference, &payload, effects);
            return None;
        }
        if message.topic.as_text() != Some(&self.topic) {
            return None;
        }
        match event {
            "presence_state" => self.listed(&payload, effects),
            "presence_diff" => self.changed(&payload, effects),
            "presence_count" => effects.tell.extend(payload["count"].as_u64().map(Event::Crowd)),
            "phx_error" => effects.end = Some("the channel crashed on the server".into()),
            "phx_close" => effects.end = Some("the server closed the channel".into()),
            _ => return payload.as_object().and_then(plain::said),
        }
        None
    }

    fn answered(&mut self, reference: &Ref, payload: &Value, effects: &mut Effects) {
        let Ok(reference) = reference.as_json().trim_matches('"').parse::<u64>() else { return };
        let is_ok = payload["status"] == "ok";
        if self.heartbeat == Some(reference) {
            self.heartbeat = None;
        } else if reference == self.join && is_ok {
            effects.tell.push(Event::Joined);
        } else if reference == self.join {
            effects.end = Some(format!("cannot join {} as {}: {}", self.topic, self.name, reason(payload)));
        } else if let Some(body) = self.unanswered.remove(&reference).filter(|_| !is_ok) {
            effects.tell.push(Event::NotSent { body, reason: reason(payload) });
        }
    }

    /// Handles `presence_state`: `{KEY: {"metas": [{"phx_ref": …, "name": …}, …]}, …}`.
    fn listed(&mut self, payload: &Value, effects: &mut Effects) {
        self.present.clear();
        for (key, references) in entries(payload).take(PEOPLE_MAX) {
            self.present.insert(key, references);
        }
        effects.tell.push(Event::People(self.people()));
    }

    /// Handles `presence_diff`: `{"joins": STATE, "leaves": STATE}`. A person whose metadata changes both joins and
    /// leaves.
    fn changed(&mut self, payload: &Value, effects: &mut Effects) {
        let before: Vec<String> = self.present.keys().cloned().collect();
        for (key, references) in entries(&payload["joins"]) {
            if self.present.len() < PEOPLE_MAX || self.present.contains_key(&key) {
                let is_new = !self.present.contains_key(&key);
                let person = self.present.entry(key).or_default();
                person.extend(references);
                if is_new {
                    effects.tell.extend(person.values().next().cloned().map(Event::Arrived));
                }
            }
        }
        for (key, references) in entries(&payload["leaves"]) {
            let Some(person) = self.present.get_mut(&key) else { continue };
            person.retain(|reference, _| !references.contains_key(reference));
            if person.is_empty() {
                self.present.remove(&key);
                if before.contains(&key) {
                    effects.tell.extend(references.into_values().next().map(Event::Departed));
                }
            }
        }
        effects.tell.push(Event::People(self.people()));
    }

    fn people(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.present.values().filter_map(|references| references.values().next_back().cloned()).collect();
        names.sort_by_key(|name| name.to_lowercase());
        names
    }

    /// Sends a message and returns its reference.
    fn push(&mut self, topic: &str, event: &str, payload: &Value, effects: &mut Effects) -> u64 {
        self.reference += 1;
        let join_ref = if topic == SYSTEM_TOPIC { Ref::NULL } else { Ref::from_text(&self.join.to_string()) };
        let payload = payload.to_string();
        let message = Message {
            join_ref,
            reference: Ref::from_text(&self.reference.to_string()),
            topic: topic.into(),
            event: event.into(),
            payload: Payload::Json(&payload),
        };
        let mut text = Vec::new();
        match encode_message(Version::V2, &mut text, &message) {
            Ok(_) => effects.send.push(String::from_utf8_lossy(&text).into_owned()),
            Err(error) => effects.end = Some(format!("cannot encode a message: {error}")),
        }
        self.reference
    }
}

/// Returns the people in a presence payload: key, and names by reference.
fn entries(state: &Value) -> impl Iterator<Item = (String, BTreeMap<String, String>)> {
    state.as_object().into_iter().flatten().map(|(key, entry)| {
        let metas = entry["metas"].as_array().into_iter().flatten();
        let named = metas.map(|meta| {
            let name = meta["name"].as_str().unwrap_or(key).to_owned();
            (meta["phx_ref"].as_str().unwrap_or_default().to_owned(), name)
        });
        (key.clone(), named.collect())
    })
}

/// Returns the reason in an error reply: by convention `{"response": {"reason": …}}`.
fn reason(payload: &Value) -> String {
    match payload["response"]["reason"].as_str() {
        Some(reason) => reason.to_owned(),
        None => payload["response"].to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined() -> Phoenix {
        let mut phoenix = Phoenix::new("rooms:lobby".into(), "Ann".into());
        let mut effects = Effects::default();
        phoenix.opened(&mut effects);
        assert_eq!(effects.send, [r#"["1","1","rooms:lobby","phx_join",{"name":"Ann","presence":true}]"#]);
        assert_eq!(
            hear(&mut phoenix, r#"["1","1","rooms:lobby","phx_reply",{"status":"ok","response":{}}]"#).1.tell,
            [Event::Joined]
        );
        phoenix
    }

    fn hear(phoenix: &mut Phoenix, text: &str) -> (Option<Said>, Effects) {
        let mut effects = Effects::default();
        (phoenix.heard(text, &mut effects), effects)
    }

    fn people(names: &[&str]) -> Event {
        Event::People(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn messages_of_any_event_with_a_body_are_heard() {
        let mut phoenix = joined();
        for event in ["new_msg", "new:msg", "shout"] {
            let text = format!(r#"[null,null,"rooms:lobby","{event}",{{"user":"Bob","body":"hi"}}]"#);
            let (said, _) = hear(&mut phoenix, &text);
            assert_eq!(said, Some(Said { name: "Bob".into(), body: "hi".into() }), "{event}");
        }
        assert_eq!(hear(&mut phoenix, r#"[null,null,"rooms:other","new_msg",{"body":"hi"}]"#).0, None);
    }

    #[test]
    fn who_is_there_follows_state_and_diffs() {
        let mut phoenix = joined();
        let state = r#"[null,null,"rooms:lobby","presence_state",{"k1":{"metas":[{"phx_ref":"a","name":"bob"}]},"k2":{"metas":[{"phx_ref":"b","name":"Ann"}]}}]"#;
        assert_eq!(hear(&mut phoenix, state).1.tell, [people(&["Ann", "bob"])]);
        let comes = r#"[null,null,"rooms:lobby","presence_diff",{"joins":{"k3":{"metas":[{"phx_ref":"c","name":"Cy"}]}},"leaves":{}}]"#;
        assert_eq!(
            hear(&mut phoenix, comes).1.tell,
            [Event::Arrived("Cy".into()), people(&["Ann", "bob", "Cy"])]
        );
        let renames = r#"[null,null,"rooms:lobby","presence_diff",{"joins":{"k3":{"metas":[{"phx_ref":"d","name":"Di"}]}},"leaves":{"k3":{"metas":[{"phx_ref":"c","name":"Cy"}]}}}]"#;
        assert_eq!(hear(&mut phoenix, renames).1.tell, [people(&["Ann", "bob", "Di"])]);
        let goes = r#"[null,null,"rooms:lobby","presence_diff",{"joins":{},"leaves":{"k3":{"metas":[{"phx_ref":"d","name":"Di"}]}}}]"#;
        assert_eq!(hear(&mut phoenix, goes).1.tell, [Event::Departed("Di".into()), people(&["Ann", "bob"])]);
        assert_eq!(
            hear(&mut phoenix, r#"[null,null,"rooms:lobby","presence_count",{"count":70000}]"#).1.tell,
            [Event::Crowd(70_000)]
        );
    }

    #[test]
    fn a_message_that_was_refused_or_not_answered_is_told() {
        let mut phoenix = joined();
        let mut effects = Effects::default();
        phoenix.say("one", &mut effects);
        phoenix.say("two", &mut effects);
        let refusal =
            r#"["1","2","rooms:lobby","phx_reply",{"status":"error","response":{"reason":"too long"}}]"#;
        assert_eq!(
            hear(&mut phoenix, refusal).1.tell,
            [Event::NotSent { body: "one".into(), reason: "too long".into() }]
        );
        assert!(!phoenix.is_settled());
        let mut effects = Effects::default();
        phoenix.lost(&mut effects);
        assert!(
            matches!(effects.tell.as_slice(), [Event::NotSent { body, .. }] if body == "two"),
            "{effects:?}"
        );
    }

    #[test]
    fn what_ends_a_connection_is_said() {
        for (text, part) in [
            (
                r#"["1","1","rooms:lobby","phx_reply",{"status":"error","response":{"reason":"full"}}]"#,
                "full",
            ),
            (r#"["1","1","rooms:lobby","phx_error",{}]"#, "crashed"),
            (r#"["1","1","rooms:lobby","phx_close",{}]"#, "closed"),
            ("hello", "does not speak Phoenix"),
        ] {
            let end = hear(&mut joined(), text).1.end.expect(text);
            assert!(end.contains(part), "{end}");
        }
        let mut phoenix = joined();
        let mut effects = Effects::default();
        phoenix.beat(&mut effects);
        assert_eq!(effects.send, [r#"[null,"2","phoenix","heartbeat",{}]"#]);
        phoenix.beat(&mut effects);
        assert!(effects.end.is_some_and(|end| end.contains("heartbeat")));
    }
}
