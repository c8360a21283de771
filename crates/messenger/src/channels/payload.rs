//! Payloads: parses requests, and formats refusals of joins.

use crate::fault::{ErrorCode, Fault};
use gateway::{Joining, Payload};
use serde::de::DeserializeOwned;

/// The reply that refuses a join.
pub(super) fn refuse(fault: &Fault) -> Joining {
    Joining::Refuse(fault.json().into())
}

/// Parses the payload of a request; `null` stands for an empty object.
pub(super) fn read<T: DeserializeOwned>(payload: Payload<'_>) -> Result<T, Fault> {
    let bad = |why: String| Fault::new(ErrorCode::BadPayload, why);
    match payload {
        Payload::Json(text) => {
            let text = if text.trim() == "null" { "{}" } else { text };
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))
        }
        Payload::Binary(_) => Err(bad("binary payloads are not accepted here: send JSON".to_owned())),
    }
}
