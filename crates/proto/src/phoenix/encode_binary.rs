//! V2 binary frames as a server sends them, and a client's push; each length is one byte.
//!
//! ```text
//! 00  J T E    join_ref topic event payload          push
//! 01  J R T S  join_ref ref topic status payload     reply
//! 02  T E      topic event payload                   broadcast
//! 00  J R T E  join_ref ref topic event payload      push of a client
//! ```

use super::{EncodeError, Field, Message, Name, Ref};

const KIND_PUSH: u8 = 0;
const KIND_REPLY: u8 = 1;
const KIND_BROADCAST: u8 = 2;

pub(super) fn push(
    out: &mut Vec<u8>,
    join_ref: &Ref,
    topic: &str,
    event: &str,
    payload: &[u8],
) -> Result<(), EncodeError> {
    let join_ref = join_ref.as_text();
    write(
        out,
        KIND_PUSH,
        &[(Field::JoinRef, &join_ref), (Field::Topic, topic), (Field::Event, event)],
        payload,
    )
}

pub(super) fn reply(
    out: &mut Vec<u8>,
    join_ref: &Ref,
    reference: &Ref,
    topic: &Name<'_>,
    status: &str,
    payload: &[u8],
) -> Result<(), EncodeError> {
    let (join_ref, reference) = (join_ref.as_text(), reference.as_text());
    let fields = [
        (Field::JoinRef, &*join_ref),
        (Field::Ref, &*reference),
        (Field::Topic, text_of(topic)),
        (Field::Status, status),
    ];
    write(out, KIND_REPLY, &fields, payload)
}

pub(super) fn broadcast(
    out: &mut Vec<u8>,
    topic: &str,
    event: &str,
    payload: &[u8],
) -> Result<(), EncodeError> {
    write(out, KIND_BROADCAST, &[(Field::Topic, topic), (Field::Event, event)], payload)
}

pub(super) fn client_push(
    out: &mut Vec<u8>,
    message: &Message<'_>,
    payload: &[u8],
) -> Result<(), EncodeError> {
    let (join_ref, reference) = (message.join_ref.as_text(), message.reference.as_text());
    let fields = [
        (Field::JoinRef, &*join_ref),
        (Field::Ref, &*reference),
        (Field::Topic, text_of(&message.topic)),
        (Field::Event, text_of(&message.event)),
    ];
    write(out, KIND_PUSH, &fields, payload)
}

/// A name that is not text has no binary form of its own; its JSON text is used instead.
fn text_of<'a>(name: &'a Name<'_>) -> &'a str {
    match name {
        Name::Text(text) => text,
        Name::Other(raw) => raw,
    }
}

/// Writes kind, lengths, fields, payload. All lengths are checked before the first byte is appended.
fn write(out: &mut Vec<u8>, kind: u8, fields: &[(Field, &str)], payload: &[u8]) -> Result<(), EncodeError> {
    if let Some(&(field, text)) = fields.iter().find(|(_, text)| text.len() > usize::from(u8::MAX)) {
        return Err(EncodeError::TooLong { field, len: text.len() });
    }
    out.push(kind);
    out.extend(fields.iter().map(|(_, text)| text.len() as u8));
    for (_, text) in fields {
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(payload);
    Ok(())
}
