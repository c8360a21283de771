//! One message to all members of a topic, before anyone encoded it.

use crate::ids::Micros;
use crate::outgoing::Outgoing;
use std::sync::Arc;

/// Shared by the shards of a node; each encodes it once per dialect that its members speak.
#[derive(Debug, PartialEq, Eq)]
pub struct Publication {
    /// Where to.
    pub topic: Arc<str>,
    /// The event's name.
    pub event: Box<str>,
    /// JSON text or bytes.
    pub payload: Outgoing<'static>,
    /// When the message that caused it was received: what processing time is counted from.
    pub received: Micros,
}

/// The event that closes every socket whose id equals the topic.
pub(crate) const DISCONNECT_EVENT: &str = "disconnect";
