//! The inputs of a hub.

use crate::bus::BusEvent;
use crate::channel::Answer;
use crate::dismissal::Dismissal;
use crate::frames::Dialect;
use crate::history::Excerpt;
use crate::ids::{ConnectionKey, InterestEpoch, MountIndex, ShardIndex, Ticket};
use crate::outgoing::Outgoing;
use crate::place::Position;
use crate::presence::{PhxRef, PresenceOwner};
use crate::publication::{AppendError, AppendOwner, Draft, Publication};
use crate::tasks::TaskOwner;
use proto::phoenix::FrameKind;
use std::any::Any;
use std::sync::Arc;

/// A connection that passed its mount's checks.
pub struct NewConnection {
    /// Its key; the driver chooses the slot.
    pub key: ConnectionKey,
    /// Which routes and limits apply.
    pub mount: MountIndex,
    /// How messages to it are encoded.
    pub dialect: Dialect,
    /// The id by which `disconnect` finds it.
    pub socket_id: Option<Box<str>>,
    /// What the connect callback assigned, for the channels of this socket.
    pub assigns: Option<Arc<dyn Any + Send + Sync>>,
}

/// One input to a hub.
pub enum Event<'a> {
    /// A connection opened.
    Opened(NewConnection),
    /// A whole message arrived.
    Frame {
        /// The connection.
        key: ConnectionKey,
        /// Text or binary.
        kind: FrameKind,
        /// Its bytes; text has been checked to be UTF-8.
        bytes: &'a [u8],
        /// Whether someone waits until it has been handled.
        ticket: Ticket,
    },
    /// A connection is gone.
    Closed(ConnectionKey),
    /// Another shard, or this one, posted a message.
    Shard(ShardMessage),
    /// A full mailbox refused a message of [`Class::Durable`](crate::Class::Durable) that this shard posted.
    Refused(ShardMessage),
    /// A spawned task finished.
    Answer {
        /// The task's owner.
        owner: TaskOwner,
        /// Its result.
        answer: Answer,
    },
    /// The bus between nodes reports something.
    Bus(BusEvent),
    /// Time passed: due at [`Hub::deadline`](crate::Hub::deadline), harmless at any time.
    Tick,
}

/// Why a shard requests part of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Its members miss something.
    CatchUp,
    /// Joins recover.
    Recovery,
}

/// A message between shards of one node.
#[derive(Debug, Clone)]
pub enum ShardMessage {
    /// To a topic's home: distribute this publication. `origin` has served its own members already.
    Publish {
        /// The shard that published, if one did.
        origin: Option<ShardIndex>,
        /// The publication.
        publication: Arc<Publication>,
    },
    /// From a topic's home to a shard with members.
    Deliver(Arc<Publication>),
    /// To a topic's home: this shard now has members, or has none left.
    Interest {
        /// The topic.
        topic: Arc<str>,
        /// The shard.
        shard: ShardIndex,
        /// Whether there are members.
        on: bool,
        /// Identifies the shard's request.
        epoch: InterestEpoch,
    },
    /// From a topic's home: publications now reach you.
    InterestConfirmed {
        /// The topic.
        topic: Arc<str>,
        /// The request that is answered.
        epoch: InterestEpoch,
        /// The position of a recoverable topic; `None` if it is not known now, or the topic is ephemeral.
        position: Option<Position>,
    },
    /// To a recoverable topic's home: order this draft, store it and distribute it.
    Append {
        /// The draft.
        draft: Box<Draft>,
        /// The message that waits for the result.
        owner: Option<Box<AppendOwner>>,
    },
    /// From a recoverable topic's home to the publisher's shard: the result of an append.
    Appended {
        /// The message that waits for the result.
        owner: Box<AppendOwner>,
        /// The publication's position, or why it was refused.
        result: Result<Position, AppendError>,
    },
    /// To a recoverable topic's home: send this shard part of the history.
    HistoryWanted {
        /// The topic.
        topic: Arc<str>,
        /// The shard that asks.
        shard: ShardIndex,
        /// Everything above this offset.
        since: u64,
        /// The purpose.
        wanted: Wanted,
    },
    /// From a recoverable topic's home: a part of the history.
    History {
        /// The topic.
        topic: Arc<str>,
        /// The purpose of the request.
        wanted: Wanted,
        /// The part.
        excerpt: Box<Excerpt>,
    },
    /// From a recoverable topic's home: its position.
    Head {
        /// The topic.
        topic: Arc<str>,
        /// Its newest publication.
        position: Position,
    },
    /// From an ephemeral topic's home: the bus was away while there were members and is back, or another node's bus
    /// was.
    BusOutage {
        /// The topic.
        topic: Arc<str>,
    },
    /// To a topic's home: a join tracks a presence.
    Track {
        /// The topic.
        topic: Arc<str>,
        /// The person's key.
        key: Box<str>,
        /// The new meta's ref.
        reference: PhxRef,
        /// The meta that it replaces.
        previous: Option<PhxRef>,
        /// The meta as a JSON object.
        meta: Box<str>,
    },
    /// To a topic's home: a presence ended.
    Untrack {
        /// The topic.
        topic: Arc<str>,
        /// The person's key.
        key: Box<str>,
        /// The meta's ref.
        reference: PhxRef,
    },
    /// To a topic's home: send the presence state to this join.
    PresenceWanted {
        /// The topic.
        topic: Arc<str>,
        /// The join that asks.
        owner: PresenceOwner,
    },
    /// From a topic's home: the presence state.
    PresenceState {
        /// The join that asked.
        owner: PresenceOwner,
        /// The event to push: `presence_state`, or `presence_count` for a crowd.
        event: &'static str,
        /// The push's payload.
        json: Arc<str>,
    },
    /// To every shard of the node, which informs the other nodes: end this.
    Dismiss(Dismissal),
    /// To a topic's home: a publication by code outside any channel.
    PublishNow {
        /// The topic.
        topic: Arc<str>,
        /// The event.
        event: Box<str>,
        /// The payload.
        payload: Outgoing<'static>,
        /// Only for the members on this node: it goes neither to the bus nor into the topic's order.
        here: bool,
    },
}
