//! Servers with a room behind each path that relay what they receive. There is no standard for the format: JSON objects
//! are interpreted by the usual keys, anything else is text.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::chat::conversation::{Effects, Event, Said};

const NAME_KEYS: [&str; 8] = ["name", "user", "username", "sender", "from", "author", "nick", "nickname"];
const BODY_KEYS: [&str; 6] = ["body", "message", "text", "msg", "content", "data"];
/// Maximum number of names remembered.
const NAMES_MAX: usize = 500;

/// A conversation with such a server, which does not report presence: everybody who has spoken is considered present.
#[derive(Debug)]
pub(super) struct Plain {
    as_text: bool,
    name: String,
    heard: BTreeSet<String>,
}

impl Plain {
    pub(super) fn new(as_text: bool, name: String) -> Self {
        Self { as_text, name, heard: BTreeSet::new() }
    }

    /// Sends a message and returns what its echo would be.
    pub(super) fn say(&mut self, body: &str, effects: &mut Effects) -> Said {
        if self.as_text {
            effects.send.push(body.to_owned());
            return Said { name: String::new(), body: body.to_owned() };
        }
        effects.send.push(json!({ "name": self.name, "body": body }).to_string());
        Said { name: self.name.clone(), body: body.to_owned() }
    }

    pub(super) fn heard(&mut self, text: &str, effects: &mut Effects) -> Option<Said> {
        let said = read(text);
        if !said.name.is_empty() && self.heard.len() < NAMES_MAX && self.heard.insert(said.name.clone()) {
            effects.tell.push(Event::People(self.heard.iter().cloned().collect()));
        }
        Some(said)
    }

    pub(super) fn lost(&mut self) {
        self.heard.clear();
    }
}

fn read(text: &str) -> Said {
    match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => match said(&fields) {
            Some(said) => said,
            None => Said { name: String::new(), body: text.to_owned() },
        },
        Ok(Value::String(body)) => Said { name: String::new(), body },
        Ok(_) | Err(_) => Said { name: String::new(), body: text.to_owned() },
    }
}

/// Returns the message in an object, if it has a body under one of the usual keys.
pub(super) fn said(fields: &Map<String, Value>) -> Option<Said> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| fields.get(*key)?.as_str()).map(str::to_owned);
    Some(Said { name: text(&NAME_KEYS).unwrap_or_default(), body: text(&BODY_KEYS)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_forms_are_understood_and_the_rest_is_text() {
        let table = [
            (r#"{"name":"Ann","body":"hi"}"#, "Ann", "hi"),
            (r#"{"username":"Ann","message":"hi","sent":1}"#, "Ann", "hi"),
            (r#"{"text":"hi"}"#, "", "hi"),
            (r#"{"count":3}"#, "", r#"{"count":3}"#),
            (r#""hi""#, "", "hi"),
            ("hi", "", "hi"),
            ("7", "", "7"),
            (r#"{"name":"#, "", r#"{"name":"#),
        ];
        for (text, name, body) in table {
            assert_eq!(read(text), Said { name: name.into(), body: body.into() }, "{text}");
        }
    }

    #[test]
    fn who_spoke_is_there() {
        let mut plain = Plain::new(false, "Me".into());
        let mut effects = Effects::default();
        for name in ["Bob", "Ann", "Bob"] {
            plain.heard(&json!({ "name": name, "body": "hi" }).to_string(), &mut effects);
        }
        let lists = [vec!["Bob".to_owned()], vec!["Ann".into(), "Bob".into()]].map(Event::People);
        assert_eq!(effects.tell, lists);
    }
}
