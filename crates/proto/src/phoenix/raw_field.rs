//! The fields of a message from the raw texts of their JSON values. What is no Unicode text is refused here.

use super::{DecodeError, Name, Payload, Ref, json};

/// A `ref` or `join_ref`.
pub(super) fn reference(raw: &str) -> Result<Ref, DecodeError> {
    Ref::parse(raw).filter(|_| json::surrogates_are_paired(raw)).ok_or(DecodeError::NotJson)
}

/// A topic or an event.
pub(super) fn name(raw: &str) -> Result<Name<'_>, DecodeError> {
    if raw.starts_with('"') {
        return json::text_of_string(raw).map(Name::Text).ok_or(DecodeError::NotJson);
    }
    json::surrogates_are_paired(raw).then_some(Name::Other(raw)).ok_or(DecodeError::NotJson)
}

/// A payload, which stays as it is.
pub(super) fn payload(raw: &str) -> Result<Payload<'_>, DecodeError> {
    json::surrogates_are_paired(raw).then_some(Payload::Json(raw)).ok_or(DecodeError::NotJson)
}
