//! The payloads of messages: what a client asks, read; what refuses a join, written.

use crate::fault::{ErrorCode, Fault};
use gateway::{Joining, Payload};
use serde::de::DeserializeOwned;

/// The answer to a join that may not be.
pub(super) fn refuse(fault: &Fault) -> Joining {
    Joining::Refuse(fault.json().into())
}

/// The payload of a message; one without anything in it may be left out.
pub(super) fn read<T: DeserializeOwned>(payload: Payload<'_>) -> Result<T, Fault> {
    let bad = |why: String| Fault::new(ErrorCode::BadPayload, why);
    match payload {
        Payload::Json(text) => {
            let text = if text.trim() == "null" { "{}" } else { text };
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))
        }
        Payload::Binary(_) => Err(bad("bytes are not taken here: send JSON".to_owned())),
    }
}
