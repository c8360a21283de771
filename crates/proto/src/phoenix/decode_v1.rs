//! V1 frames: `{"topic":…,"event":…,"payload":…,"ref":…}` with an optional `join_ref`. Other keys are ignored, and the
//! last of duplicate keys counts.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::raw_field::RawFields;
use super::scan::Scan;
use super::{DecodeError, Message};

/// Decodes the object in one pass over the text.
pub(super) fn decode(frame: &str) -> Result<Message<'_>, DecodeError> {
    if let Some(fields) = scan(frame) {
        return Ok(fields.plain_message());
    }
    let Object(fields) = serde_json::from_str(frame)?;
    fields.message()
}

/// Scans a message of the usual form: with its keys in the order in which phoenix.js writes them.
fn scan(frame: &str) -> Option<RawFields<'_>> {
    let mut scan = Scan::new(frame);
    let topic = scan.member(b'{', br#""topic""#)?;
    let event = scan.member(b',', br#""event""#)?;
    let payload = scan.member(b',', br#""payload""#)?;
    let reference = scan.member(b',', br#""ref""#)?;
    let join_ref = if scan.take_if(b'}') {
        "null"
    } else {
        let join_ref = scan.member(b',', br#""join_ref""#)?;
        scan.take(b'}')?;
        join_ref
    };
    scan.is_at_end().then_some(RawFields { join_ref, reference, topic, event, payload })
}

/// The members of an object found so far.
#[derive(Default)]
struct Found<'a> {
    topic: Option<&'a str>,
    event: Option<&'a str>,
    payload: Option<&'a str>,
    reference: Option<&'a str>,
    join_ref: Option<&'a str>,
}

impl<'a> Found<'a> {
    fn slot(&mut self, key: Key) -> Option<&mut Option<&'a str>> {
        match key {
            Key::Topic => Some(&mut self.topic),
            Key::Event => Some(&mut self.event),
            Key::Payload => Some(&mut self.payload),
            Key::Reference => Some(&mut self.reference),
            Key::JoinRef => Some(&mut self.join_ref),
            Key::Other => None,
        }
    }

    /// Returns all fields, or the name of one that is missing.
    fn fields(self) -> Result<RawFields<'a>, &'static str> {
        Ok(RawFields {
            topic: self.topic.ok_or("topic")?,
            event: self.event.ok_or("event")?,
            payload: self.payload.ok_or("payload")?,
            reference: self.reference.ok_or("ref")?,
            join_ref: self.join_ref.unwrap_or("null"),
        })
    }
}

/// The raw texts of the values.
struct Object<'a>(RawFields<'a>);

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
        let mut found = Found::default();
        while let Some(key) = entries.next_key()? {
            match found.slot(key) {
                Some(slot) => *slot = Some(entries.next_value::<&'de RawValue>()?.get()),
                None => drop(entries.next_value::<IgnoredAny>()?),
            }
        }
        found.fields().map(Object).map_err(A::Error::missing_field)
    }
}

impl Key {
    fn of(key: &str) -> Key {
        match key {
            "topic" => Key::Topic,
            "event" => Key::Event,
            "payload" => Key::Payload,
            "ref" => Key::Reference,
            "join_ref" => Key::JoinRef,
            _ => Key::Other,
        }
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
        Ok(Key::of(key))
    }
}
