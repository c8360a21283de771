//! V1 frames: `{"topic":…,"event":…,"payload":…,"ref":…}` with an optional `join_ref`. Other keys are ignored, and of
//! a key given twice the last counts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::raw_field::{name, payload, reference};
use super::{DecodeError, Message};

/// Decodes the object in one pass over the text.
pub(super) fn decode(frame: &str) -> Result<Message<'_>, DecodeError> {
    let object: Object<'_> = serde_json::from_str(frame)?;
    Ok(Message {
        join_ref: reference(object.join_ref)?,
        reference: reference(object.reference)?,
        topic: name(object.topic)?,
        event: name(object.event)?,
        payload: payload(object.payload)?,
    })
}

/// The raw texts of the values.
struct Object<'a> {
    topic: &'a str,
    event: &'a str,
    payload: &'a str,
    reference: &'a str,
    join_ref: &'a str,
}

enum Key {
    Topic,
    Event,
    Payload,
    Reference,
    JoinRef,
    Other,
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with topic, event, payload and ref")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let (mut topic, mut event, mut payload, mut reference, mut join_ref) = (None, None, None, None, None);
        while let Some(key) = entries.next_key()? {
            let slot = match key {
                Key::Topic => &mut topic,
                Key::Event => &mut event,
                Key::Payload => &mut payload,
                Key::Reference => &mut reference,
                Key::JoinRef => &mut join_ref,
                Key::Other => {
                    entries.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *slot = Some(entries.next_value::<&'de RawValue>()?.get());
        }
        Ok(Object {
            topic: topic.ok_or_else(|| A::Error::missing_field("topic"))?,
            event: event.ok_or_else(|| A::Error::missing_field("event"))?,
            payload: payload.ok_or_else(|| A::Error::missing_field("payload"))?,
            reference: reference.ok_or_else(|| A::Error::missing_field("ref"))?,
            join_ref: join_ref.unwrap_or("null"),
        })
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            "topic" => Key::Topic,
            "event" => Key::Event,
            "payload" => Key::Payload,
            "ref" => Key::Reference,
            "join_ref" => Key::JoinRef,
            _ => Key::Other,
        })
    }
}
