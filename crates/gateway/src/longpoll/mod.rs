//! Long-polling: Phoenix's fall-back transport over plain HTTP requests. Reference section 5.
//!
//! The HTTP side is here; a session's state lives in its shard.

mod body;
mod cors;
mod respond;

pub(crate) use body::BODIES_KIB_MAX;
pub(crate) use respond::{Place, respond};
