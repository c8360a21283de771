//! Payloads that a channel sends: JSON text or bytes.

use proto::phoenix::Payload;
use serde_json::Value;
use std::borrow::Cow;

/// An outgoing payload. JSON is text that is copied to the wire unchanged; it must be one valid JSON value.
///
/// ```
/// use hub::Outgoing;
/// use serde_json::json;
/// let from_value: Outgoing<'_> = json!({"body": "hi"}).into();
/// assert_eq!(from_value, Outgoing::json(r#"{"body":"hi"}"#));
/// let bytes: Outgoing<'_> = Outgoing::binary(&[0, 1]);
/// assert_ne!(bytes, Outgoing::empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing<'a> {
    /// JSON text, sent in a text frame.
    Json(Cow<'a, str>),
    /// Bytes, sent in a binary frame (V2 clients only).
    Binary(Cow<'a, [u8]>),
}

impl<'a> Outgoing<'a> {
    /// Returns the empty object.
    pub const fn empty() -> Self {
        Outgoing::Json(Cow::Borrowed("{}"))
    }

    /// Wraps JSON text.
    pub const fn json(text: &'a str) -> Self {
        Outgoing::Json(Cow::Borrowed(text))
    }

    /// Wraps bytes.
    pub const fn binary(bytes: &'a [u8]) -> Self {
        Outgoing::Binary(Cow::Borrowed(bytes))
    }

    /// Returns whether it is a JSON object; nothing else can be published on a recoverable topic. Checks only the
    /// braces.
    pub fn is_object(&self) -> bool {
        match self {
            Outgoing::Json(text) => inside(text).is_some(),
            Outgoing::Binary(_) => false,
        }
    }

    /// Returns the bytes of the text, or the binary.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Outgoing::Json(text) => text.as_bytes(),
            Outgoing::Binary(bytes) => bytes,
        }
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Returns it as the codec's payload type.
    pub fn as_payload(&self) -> Payload<'_> {
        match self {
            Outgoing::Json(text) => Payload::Json(text),
            Outgoing::Binary(bytes) => Payload::Binary(bytes),
        }
    }

    /// Converts it to an owned payload, which can outlive its sender.
    pub fn into_owned(self) -> Outgoing<'static> {
        match self {
            Outgoing::Json(text) => Outgoing::Json(Cow::Owned(text.into_owned())),
            Outgoing::Binary(bytes) => Outgoing::Binary(Cow::Owned(bytes.into_owned())),
        }
    }
}

impl<'a> From<Payload<'a>> for Outgoing<'a> {
    fn from(payload: Payload<'a>) -> Self {
        match payload {
            Payload::Json(text) => Outgoing::json(text),
            Payload::Binary(bytes) => Outgoing::binary(bytes),
        }
    }
}

impl From<Value> for Outgoing<'_> {
    fn from(value: Value) -> Self {
        Outgoing::Json(Cow::Owned(value.to_string()))
    }
}

impl From<&Value> for Outgoing<'_> {
    fn from(value: &Value) -> Self {
        Outgoing::Json(Cow::Owned(value.to_string()))
    }
}

impl From<Vec<u8>> for Outgoing<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Outgoing::Binary(Cow::Owned(bytes))
    }
}

/// Returns the text between the braces of a JSON object.
#[inline]
pub(crate) fn inside(text: &str) -> Option<&str> {
    text.trim().strip_prefix('{')?.strip_suffix('}').map(str::trim)
}
