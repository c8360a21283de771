//! Builds the fields of a message from the raw texts of their JSON values. Rejects what is not valid Unicode text.

use std::borrow::Cow;

use super::{DecodeError, Message, Name, Payload, Ref, json};

/// The raw texts of a message's values.
pub(super) struct RawFields<'a> {
    pub(super) join_ref: &'a str,
    pub(super) reference: &'a str,
    pub(super) topic: &'a str,
    pub(super) event: &'a str,
    pub(super) payload: &'a str,
}

impl<'a> RawFields<'a> {
    /// Returns the message; its strings may contain escapes.
    pub(super) fn message(&self) -> Result<Message<'a>, DecodeError> {
        Ok(Message {
            join_ref: reference(self.join_ref)?,
            reference: reference(self.reference)?,
            topic: name(self.topic)?,
            event: name(self.event)?,
            payload: payload(self.payload)?,
        })
    }

    /// Returns the message, whose fields must not contain escapes.
    pub(super) fn plain_message(&self) -> Message<'a> {
        Message {
            join_ref: Ref::plain(self.join_ref),
            reference: Ref::plain(self.reference),
            topic: plain_name(self.topic),
            event: plain_name(self.event),
            payload: Payload::Json(self.payload),
        }
    }
}

/// Parses a `ref` or `join_ref`.
fn reference(raw: &str) -> Result<Ref, DecodeError> {
    Ref::parse(raw).filter(|_| json::surrogates_are_paired(raw)).ok_or(DecodeError::NotJson)
}

/// Parses a topic or an event.
fn name(raw: &str) -> Result<Name<'_>, DecodeError> {
    if raw.starts_with('"') {
        return json::text_of_string(raw).map(Name::Text).ok_or(DecodeError::NotJson);
    }
    json::surrogates_are_paired(raw).then_some(Name::Other(raw)).ok_or(DecodeError::NotJson)
}

/// Checks a payload, which stays as it is.
fn payload(raw: &str) -> Result<Payload<'_>, DecodeError> {
    json::surrogates_are_paired(raw).then_some(Payload::Json(raw)).ok_or(DecodeError::NotJson)
}

fn plain_name(raw: &str) -> Name<'_> {
    let text = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    text.map_or(Name::Other(raw), |text| Name::Text(Cow::Borrowed(text)))
}
