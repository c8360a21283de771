//! Encoders for the messages of a server and of a client. Each encoder appends the body of one WebSocket message,
//! without frame header, and returns its kind; after an error nothing has been appended.
//!
//! JSON payloads are copied unchanged: they must be valid JSON text, and an object where clients expect one.

use std::fmt;

use super::{FrameKind, Message, Name, Payload, Ref, Version, encode_binary, encode_text};

/// Why a message cannot be encoded for a client of that version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// A field of a binary frame is longer than the 255 bytes that its length byte can express.
    TooLong {
        /// Which field.
        field: Field,
        /// Its length in bytes.
        len: usize,
    },
    /// V1 has no binary frames.
    BinaryOnV1,
}

/// A field that a binary frame prefixes with its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the protocol")]
pub enum Field {
    JoinRef,
    Ref,
    Topic,
    Event,
    Status,
}

/// Encodes a reply, `phx_reply`, to the message that carried `reference`. `status` is `ok`, `error`, or a handler's
/// choice.
pub fn encode_reply(
    version: Version,
    out: &mut Vec<u8>,
    join_ref: &Ref,
    reference: &Ref,
    topic: &Name<'_>,
    status: &str,
    response: Payload<'_>,
) -> Result<FrameKind, EncodeError> {
    match (version, response) {
        (Version::V1, Payload::Json(response)) => {
            encode_text::reply_v1(out, reference, topic, status, response)
        }
        (Version::V2, Payload::Json(response)) => {
            encode_text::reply_v2(out, join_ref, reference, topic, status, response);
        }
        (Version::V1, Payload::Binary(_)) => return Err(EncodeError::BinaryOnV1),
        (Version::V2, Payload::Binary(response)) => {
            encode_binary::reply(out, join_ref, reference, topic, status, response)?;
            return Ok(FrameKind::Binary);
        }
    }
    Ok(FrameKind::Text)
}

/// Encodes a message to one channel instance, identified by `join_ref`; it has no ref.
pub fn encode_push(
    version: Version,
    out: &mut Vec<u8>,
    join_ref: &Ref,
    topic: &str,
    event: &str,
    payload: Payload<'_>,
) -> Result<FrameKind, EncodeError> {
    match (version, payload) {
        (Version::V1, Payload::Json(payload)) => {
            encode_text::message_v1(out, &Ref::NULL, topic, event, payload)
        }
        (Version::V2, Payload::Json(payload)) => {
            encode_text::message_v2(out, join_ref, &Ref::NULL, topic, event, payload);
        }
        (Version::V1, Payload::Binary(_)) => return Err(EncodeError::BinaryOnV1),
        (Version::V2, Payload::Binary(payload)) => {
            encode_binary::push(out, join_ref, topic, event, payload)?;
            return Ok(FrameKind::Binary);
        }
    }
    Ok(FrameKind::Text)
}

/// Encodes a message to everyone in a topic: without join_ref and ref, so that all clients of a version share its
/// bytes.
pub fn encode_broadcast(
    version: Version,
    out: &mut Vec<u8>,
    topic: &str,
    event: &str,
    payload: Payload<'_>,
) -> Result<FrameKind, EncodeError> {
    match (version, payload) {
        (Version::V2, Payload::Binary(payload)) => {
            encode_binary::broadcast(out, topic, event, payload)?;
            Ok(FrameKind::Binary)
        }
        (_, Payload::Json(_)) | (Version::V1, Payload::Binary(_)) => {
            encode_push(version, out, &Ref::NULL, topic, event, payload)
        }
    }
}

/// Encodes the end of a channel instance, `phx_close` or `phx_error`: both refs are its join_ref. V1 has only the ref,
/// which is then `null` for a client that joined without a join_ref. `payload` is JSON text.
pub fn encode_lifecycle(
    version: Version,
    out: &mut Vec<u8>,
    join_ref: &Ref,
    topic: &str,
    event: &str,
    payload: &str,
) -> FrameKind {
    match version {
        Version::V1 => encode_text::message_v1(out, join_ref, topic, event, payload),
        Version::V2 => encode_text::message_v2(out, join_ref, join_ref, topic, event, payload),
    }
    FrameKind::Text
}

/// Encodes a message as a client sends it: what [`decode`](super::decode) reads.
pub fn encode_message(
    version: Version,
    out: &mut Vec<u8>,
    message: &Message<'_>,
) -> Result<FrameKind, EncodeError> {
    match (version, message.payload) {
        (Version::V1, Payload::Json(payload)) => encode_text::client_v1(out, message, payload),
        (Version::V2, Payload::Json(payload)) => encode_text::client_v2(out, message, payload),
        (Version::V1, Payload::Binary(_)) => return Err(EncodeError::BinaryOnV1),
        (Version::V2, Payload::Binary(payload)) => {
            encode_binary::client_push(out, message, payload)?;
            return Ok(FrameKind::Binary);
        }
    }
    Ok(FrameKind::Text)
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::TooLong { field, len } => {
                write!(f, "{field:?} of {len} bytes in a binary frame, where 255 is the most")
            }
            EncodeError::BinaryOnV1 => f.write_str("a binary payload for a V1 client"),
        }
    }
}

impl std::error::Error for EncodeError {}
