//! V2 binary frames as a client sends them: a push, kind 0, the only kind that it may send.
//!
//! ```text
//! 00  J R T E  join_ref[J] ref[R] topic[T] event[E] payload[rest]      one byte per length
//! ```

use super::{DecodeError, Message, Name, Payload, Ref};

const KIND_PUSH: u8 = 0;

/// Decodes a push. A join_ref or ref of length zero is the empty string, not `null`, as in Phoenix.
pub(super) fn decode(frame: &[u8]) -> Result<Message<'_>, DecodeError> {
    let (&kind, rest) = frame.split_first().ok_or(DecodeError::Truncated)?;
    if kind != KIND_PUSH {
        return Err(DecodeError::Kind(kind));
    }
    let ([join_ref, reference, topic, event], rest) =
        rest.split_first_chunk().ok_or(DecodeError::Truncated)?;
    let (join_ref, rest) = split_text(rest, *join_ref)?;
    let (reference, rest) = split_text(rest, *reference)?;
    let (topic, rest) = split_text(rest, *topic)?;
    let (event, payload) = split_text(rest, *event)?;
    Ok(Message {
        join_ref: Ref::from_text(join_ref),
        reference: Ref::from_text(reference),
        topic: Name::from(topic),
        event: Name::from(event),
        payload: Payload::Binary(payload),
    })
}

fn split_text(bytes: &[u8], len: u8) -> Result<(&str, &[u8]), DecodeError> {
    let (text, rest) = bytes.split_at_checked(usize::from(len)).ok_or(DecodeError::Truncated)?;
    Ok((std::str::from_utf8(text).map_err(|_| DecodeError::NotUtf8)?, rest))
}
