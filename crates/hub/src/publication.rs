//! One message to all members of a topic, before it is encoded.

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
    /// The topic.
    pub topic: Arc<str>,
    /// The event's name.
    pub event: Box<str>,
    /// JSON text or bytes; on a recoverable topic an object that contains its offset.
    pub payload: Outgoing<'static>,
    /// When the message that caused it was received; processing time is measured from here.
    pub received: Micros,
    /// Its place in the topic's order; `None` if it is not stored in a history.
    pub place: Option<Box<Place>>,
}

/// A publication on a recoverable topic that has no place yet. Its payload is a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The topic.
    pub topic: Arc<str>,
    /// The event's name.
    pub event: Box<str>,
    /// The payload, without its offset.
    pub payload: Outgoing<'static>,
    /// When the message that caused it was received.
    pub received: Micros,
    /// The publisher that does not get it.
    pub except: Option<PublisherId>,
}

/// The join whose client waits for the result of its publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendOwner {
    pub(crate) shard: ShardIndex,
    pub(crate) key: ConnectionKey,
    pub(crate) instance: JoinInstance,
    /// The ref of the message that the result answers.
    pub(crate) reference: Ref,
}

/// Why a publication was not accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AppendError {
    /// Too much is waiting for the topic's home, or for the bus.
    Overloaded,
    /// The bus is away. It is unknown whether it had already accepted the publication.
    Unavailable,
}

impl Publication {
    /// Returns what may happen to it between shards.
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
    /// Returns the `reason` for the client.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            AppendError::Overloaded => "overloaded",
            AppendError::Unavailable => "unavailable",
        }
    }
}

/// The event that closes every socket whose id equals the topic.
pub(crate) const DISCONNECT_EVENT: &str = "disconnect";
