//! The lobby and all other rooms: every member gets what one of them says. This module defines which messages and names
//! are allowed; who is present is up to presence.
//!
//! | event | payload | does |
//! |---|---|---|
//! | join | `{"name": "Ann", "presence": true, "key": "…"}`, all optional | joins; with `presence` the join is tracked |
//! | `new_msg` | `{"body": "…"}` | broadcasts `new_msg` `{"name", "body"}`, and replies when it is accepted |
//! | `new:msg` | `{"user": "…", "body": "…"}` | the same in the words of the old Phoenix chat example |
//! | `echo` | anything | replies ok with it |

use gateway::{Channel, Context, Joining, Outgoing, Payload};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The topics that [`Room`] handles.
pub(crate) const PATTERN: &str = "rooms:*";

const TOPIC_PREFIX: &str = "rooms:";
const ROOM_BYTES_MAX: usize = 128;
const BODY_BYTES_MAX: usize = 8192;
const NAME_CHARS_MAX: usize = 64;
const KEY_BYTES_MAX: usize = 64;
const RANDOM_KEY_BYTES: usize = 12;
const NAMELESS: &str = "anonymous";

/// One person in one room. A join without any information about the person costs one pointer.
#[derive(Default)]
pub(crate) struct Room {
    person: Option<Box<Person>>,
}

/// The information from a join.
struct Person {
    name: String,
    /// The key of the presence, if the join requested one.
    key: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JoinRequest {
    name: Option<String>,
    presence: bool,
    key: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    body: String,
}

/// A message in the format of Phoenix's early chat example.
#[derive(Deserialize, Serialize)]
struct OldMessage {
    user: Option<String>,
    body: String,
}

impl Channel for Room {
    fn join(&mut self, cx: &mut Context<'_>, payload: Payload<'_>) -> Joining {
        match admit(cx.topic(), payload) {
            Ok(person) => {
                self.person = person.map(Box::new);
                Joining::accept()
            }
            Err(reason) => Joining::refuse(reason),
        }
    }

    fn joined(&mut self, cx: &mut Context<'_>) {
        let Some(Person { name, key: Some(key) }) = self.person.as_deref() else { return };
        // An established join that has not tracked anything yet can track this.
        if let Err(error) = cx.track(key, json!({ "name": name })) {
            tracing::error!(%error, "a join could not be tracked");
        }
        cx.push_presence_state();
    }

    fn handle_in(&mut self, cx: &mut Context<'_>, event: &str, payload: Payload<'_>) {
        let outcome = match event {
            "new_msg" => match self.say(cx, payload) {
                Ok(()) => return,
                Err(reason) => Err(reason),
            },
            "new:msg" => say_as_of_old(cx, payload),
            "echo" => Ok(Outgoing::from(payload)),
            _ => Err("unknown event"),
        };
        match outcome {
            Ok(response) => cx.reply_ok(response),
            Err(reason) => cx.reply_error(json!({ "reason": reason })),
        }
    }
}

impl Room {
    fn say(&self, cx: &mut Context<'_>, payload: Payload<'_>) -> Result<(), &'static str> {
        let Message { body } = read(payload).ok_or("send {\"body\": \"…\"}")?;
        check_body(&body)?;
        let name = self.person.as_ref().map_or(NAMELESS, |person| &person.name);
        cx.broadcast_and_reply("new_msg", json!({ "name": name, "body": body }));
        Ok(())
    }
}

fn say_as_of_old(cx: &mut Context<'_>, payload: Payload<'_>) -> Result<Outgoing<'static>, &'static str> {
    let message: OldMessage = read(payload).ok_or("send {\"user\": \"…\", \"body\": \"…\"}")?;
    check_body(&message.body)?;
    message.user.as_deref().map_or(Ok(()), check_name)?;
    cx.broadcast("new:msg", json!(message));
    Ok(json!({ "msg": message.body }).into())
}

/// Decides on a join. Returns the person; `None` if the join contains no information.
fn admit(topic: &str, payload: Payload<'_>) -> Result<Option<Person>, &'static str> {
    let room = topic.strip_prefix(TOPIC_PREFIX).unwrap_or_default();
    if room.is_empty() || room.len() > ROOM_BYTES_MAX || room.chars().any(char::is_control) {
        return Err("the name of a room must have 1 to 128 bytes and no control characters");
    }
    let request = match payload {
        Payload::Json(text) if text.trim_start().starts_with('{') => serde_json::from_str(text)
            .map_err(|_| "name and key must be strings, presence must be true or false")?,
        // Load generators join with arbitrary payloads.
        Payload::Json(_) | Payload::Binary(_) => JoinRequest::default(),
    };
    if request.name.is_none() && !request.presence {
        return Ok(None);
    }
    let name = request.name.unwrap_or_else(|| NAMELESS.to_owned());
    check_name(&name)?;
    let key = match (request.presence, request.key) {
        (false, _) => None,
        (true, None) => Some(random_key()?),
        (true, Some(key)) if (1..=KEY_BYTES_MAX).contains(&key.len()) => Some(key),
        (true, Some(_)) => return Err("a presence key must have 1 to 64 bytes"),
    };
    Ok(Some(Person { name, key }))
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let sound = (1..=NAME_CHARS_MAX).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if sound { Ok(()) } else { Err("a name must have 1 to 64 characters and no control characters") }
}

fn check_body(body: &str) -> Result<(), &'static str> {
    let sound = (1..=BODY_BYTES_MAX).contains(&body.len());
    if sound { Ok(()) } else { Err("a message must have 1 to 8192 bytes") }
}

fn read<'de, T: Deserialize<'de>>(payload: Payload<'de>) -> Option<T> {
    match payload {
        Payload::Json(text) => serde_json::from_str(text).ok(),
        Payload::Binary(_) => None,
    }
}

fn random_key() -> Result<String, &'static str> {
    let mut bytes = [0; RANDOM_KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(|_| "no presence key could be generated")?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(topic: &str, payload: &str) -> Result<Option<(String, Option<String>)>, &'static str> {
        Ok(admit(topic, Payload::Json(payload))?.map(|person| (person.name, person.key)))
    }

    #[test]
    fn a_join_says_who_it_is_or_nothing() {
        for payload in ["{}", "null", "\"x\"", r#"{"user": 7}"#, r#"{"presence": false}"#] {
            assert_eq!(admitted("rooms:lobby", payload), Ok(None), "{payload}");
        }
        let ann = || "Ann".to_owned();
        assert_eq!(admitted("rooms:lobby", r#"{"name": "Ann"}"#), Ok(Some((ann(), None))));
        let present = r#"{"name": "Ann", "presence": true, "key": "k1"}"#;
        assert_eq!(admitted("rooms:1", present), Ok(Some((ann(), Some("k1".into())))));
    }

    #[test]
    fn who_is_present_without_a_key_gets_one_of_their_own() {
        let key = || match admitted("rooms:lobby", r#"{"presence": true}"#) {
            Ok(Some((name, Some(key)))) if name == NAMELESS => key,
            other => panic!("{other:?}"),
        };
        assert_eq!(key().len(), 2 * RANDOM_KEY_BYTES);
        assert_ne!(key(), key());
    }

    #[test]
    fn a_bad_room_name_or_key_is_refused() {
        let long_room = format!("rooms:{}", "x".repeat(ROOM_BYTES_MAX + 1));
        let long_name = format!(r#"{{"name": "{}"}}"#, "x".repeat(NAME_CHARS_MAX + 1));
        let table = [
            ("rooms:", "{}"),
            (long_room.as_str(), "{}"),
            ("rooms:a\nb", "{}"),
            ("rooms:lobby", long_name.as_str()),
            ("rooms:lobby", r#"{"name": ""}"#),
            ("rooms:lobby", r#"{"name": 7}"#),
            ("rooms:lobby", r#"{"presence": "yes"}"#),
            ("rooms:lobby", r#"{"presence": true, "key": ""}"#),
        ];
        for (topic, payload) in table {
            assert!(admitted(topic, payload).is_err(), "{topic:?} {payload}");
        }
    }

    #[test]
    fn a_body_is_bounded() {
        assert!(check_body("").is_err());
        assert!(check_body(&"x".repeat(BODY_BYTES_MAX)).is_ok());
        assert!(check_body(&"x".repeat(BODY_BYTES_MAX + 1)).is_err());
    }
}
