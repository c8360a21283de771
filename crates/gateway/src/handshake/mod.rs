//! From a request's head to a socket or a refusal: the checks, in Phoenix's order, for shards and control plane alike.

mod checks;
mod head;
mod response;

pub(crate) use checks::{Accepted, Decision, Handshakes, Protocol, Rejection};
pub(crate) use head::Head;
pub(crate) use response::{RETRY_AFTER_SECONDS, refusal, switching_protocols};
