//! The five fields that every Phoenix message has, and the entry to the decoders.

use std::borrow::Cow;
use std::fmt;

use super::{Ref, Version, decode_binary, decode_v1, decode_v2};

/// A message as a client sends it, borrowing from the frame that carried it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// Identifies the join instance that the message belongs to.
    pub join_ref: Ref,
    /// Chosen by the client for this message and echoed in the reply.
    pub reference: Ref,
    /// For example `room:7`.
    pub topic: Name<'a>,
    /// For example `phx_join`.
    pub event: Name<'a>,
    /// What the event carries.
    pub payload: Payload<'a>,
}

/// A topic or an event: normally text. A JSON value of another type is kept raw, because Phoenix echoes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name<'a> {
    /// The text, escapes resolved.
    Text(Cow<'a, str>),
    /// The JSON text of a value that is not a string.
    Other(&'a str),
}

/// What a message carries, opaque to the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// The text of one JSON value.
    Json(&'a str),
    /// Any bytes; V2 only.
    Binary(&'a [u8]),
}

/// The two kinds of WebSocket messages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FrameKind {
    /// A text message.
    Text,
    /// A binary message.
    Binary,
}

/// Why the body of a WebSocket message is not a Phoenix message. Phoenix closes such a socket with 1011.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// A text, or a name in a binary frame, is not UTF-8.
    NotUtf8,
    /// Begins like a message, but is not one JSON value; or contains a lone surrogate.
    NotJson,
    /// Not V2's array of at least five elements, or not V1's object with its four keys.
    Shape,
    /// A binary frame that is shorter than its header says.
    Truncated,
    /// A binary frame of a kind that clients may not send.
    Kind(u8),
}

/// Decodes the body of one WebSocket message.
///
/// V1 ignores the kind of frame: JSON in a binary frame is accepted, as Phoenix does and Tsung needs.
pub fn decode<'a>(version: Version, kind: FrameKind, frame: &'a [u8]) -> Result<Message<'a>, DecodeError> {
    match (version, kind) {
        (Version::V1, _) => decode_v1::decode(text(frame)?),
        (Version::V2, FrameKind::Text) => decode_v2::decode(text(frame)?),
        (Version::V2, FrameKind::Binary) => decode_binary::decode(frame),
    }
}

fn text(frame: &[u8]) -> Result<&str, DecodeError> {
    simdutf8::basic::from_utf8(frame).map_err(|_| DecodeError::NotUtf8)
}

impl<'a> Name<'a> {
    /// Returns the text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Name::Text(text) => Some(text),
            Name::Other(_) => None,
        }
    }
}

impl<'a> From<&'a str> for Name<'a> {
    fn from(text: &'a str) -> Self {
        Name::Text(Cow::Borrowed(text))
    }
}

impl From<serde_json::Error> for DecodeError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_data() { DecodeError::Shape } else { DecodeError::NotJson }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DecodeError::NotUtf8 => f.write_str("text that is not UTF-8"),
            DecodeError::NotJson => f.write_str("not one valid JSON value"),
            DecodeError::Shape => f.write_str("JSON of another shape than a message"),
            DecodeError::Truncated => f.write_str("a binary frame shorter than its header says"),
            DecodeError::Kind(kind) => write!(f, "a binary frame of kind {kind}"),
        }
    }
}

impl std::error::Error for DecodeError {}
