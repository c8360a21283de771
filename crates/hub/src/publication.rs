//! One message to all members of a topic, before anyone encoded it.

use crate::class::Class;
use crate::ids::{ConnectionKey, JoinInstance, Micros, ShardIndex};
use crate::outgoing::Outgoing;
use crate::place::{Place, PublisherId};
use crate::splice;
use proto::phoenix::Ref;
use std::sync::Arc;

/// Shared by the shards of a node; each encodes it once per dialect that its members speak.
#[derive(Debug, PartialEq, Eq)]
pub struct Publication {
    /// Where to.
    pub topic: Arc<str>,
    /// The event's name.
    pub event: Box<str>,
    /// JSON text or bytes; on a recoverable topic an object with its offset.
    pub payload: Outgoing<'static>,
    /// When the message that caused it was received: what processing time is counted from.
    pub received: Micros,
    /// Where it stands in the topic's order; none for what no history keeps.
    pub place: Option<Box<Place>>,
}

/// A publication on a recoverable topic that has no place yet. Its payload is a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Where to.
    pub topic: Arc<str>,
    /// The event's name.
    pub event: Box<str>,
    /// The payload, without its offset.
    pub payload: Outgoing<'static>,
    /// When the message that caused it was received.
    pub received: Micros,
    /// Who is not to be given it.
    pub except: Option<PublisherId>,
}

/// The join whose client waits to hear that its publication was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendOwner {
    pub(crate) shard: ShardIndex,
    pub(crate) key: ConnectionKey,
    pub(crate) instance: JoinInstance,
    /// Of the message that is answered with it.
    pub(crate) reference: Ref,
}

/// Why a publication was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AppendError {
    /// Too much waits for the topic's home, or for the bus.
    Overloaded,
    /// The bus is away. Whether it had taken the publication before is not known.
    Unavailable,
}

impl Publication {
    /// What may become of it between shards.
    pub(crate) fn class(&self) -> Class {
        if self.place.is_some() { Class::Durable } else { Class::Ephemeral }
    }
}

impl Draft {
    pub(crate) fn at(self, place: Place) -> Publication {
        let Draft { topic, event, payload, received, except: _ } = self;
        let payload = splice::with_offset(payload, place.offset);
        Publication { topic, event, payload, received, place: Some(Box::new(place)) }
    }
}

impl AppendError {
    /// The `reason` that the client is told.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            AppendError::Overloaded => "overloaded",
            AppendError::Unavailable => "unavailable",
        }
    }
}

/// The event that closes every socket whose id equals the topic.
pub(crate) const DISCONNECT_EVENT: &str = "disconnect";
