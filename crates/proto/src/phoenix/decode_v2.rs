//! V2 text frames: `[join_ref, ref, topic, event, payload]`. Elements after the fifth are ignored, as in Phoenix.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::raw_field::RawFields;
use super::scan::Scan;
use super::{DecodeError, Message};

/// Decodes the array in one pass over the text.
pub(super) fn decode(frame: &str) -> Result<Message<'_>, DecodeError> {
    if let Some(fields) = scan(frame) {
        return Ok(fields.plain_message());
    }
    let Five([join_ref, reference, topic, event, payload]) = serde_json::from_str(frame)?;
    RawFields { join_ref, reference, topic, event, payload }.message()
}

/// Scans a message of the usual form.
fn scan(frame: &str) -> Option<RawFields<'_>> {
    let mut scan = Scan::new(frame);
    let mut element = |before| {
        scan.take(before)?;
        scan.value()
    };
    let fields = RawFields {
        join_ref: element(b'[')?,
        reference: element(b',')?,
        topic: element(b',')?,
        event: element(b',')?,
        payload: element(b',')?,
    };
    scan.take(b']')?;
    scan.is_at_end().then_some(fields)
}

/// The raw texts of the first five elements.
struct Five<'a>([&'a str; 5]);

impl<'de> Deserialize<'de> for Five<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(FiveVisitor)
    }
}

struct FiveVisitor;

impl<'de> Visitor<'de> for FiveVisitor {
    type Value = Five<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of five")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut five = [""; 5];
        for (at, slot) in five.iter_mut().enumerate() {
            let raw: Option<&'de RawValue> = elements.next_element()?;
            *slot = raw.ok_or_else(|| A::Error::invalid_length(at, &self))?.get();
        }
        while elements.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Five(five))
    }
}
