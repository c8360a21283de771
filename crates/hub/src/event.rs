//! What happens to a hub.

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
    /// Its name; the slot is chosen by the driver.
    pub key: ConnectionKey,
    /// Which routes and limits apply.
    pub mount: MountIndex,
    /// How it is written to.
    pub dialect: Dialect,
    /// What `disconnect` knows it by.
    pub socket_id: Option<Box<str>>,
    /// What the connect callback learned, for the channels of this socket.
    pub assigns: Option<Arc<dyn Any + Send + Sync>>,
}

/// One input.
pub enum Event<'a> {
    /// A connection opened.
    Opened(NewConnection),
    /// A whole message arrived.
    Frame {
        /// From whom.
        key: ConnectionKey,
        /// Text or binary.
        kind: FrameKind,
        /// Its bytes; text has been checked to be UTF-8.
        bytes: &'a [u8],
        /// Whether someone waits for its hand-over.
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
        /// Whose it was.
        owner: TaskOwner,
        /// What it brought.
        answer: Answer,
    },
    /// The bus between nodes says something.
    Bus(BusEvent),
    /// Time passed: due at [`Hub::deadline`](crate::Hub::deadline), harmless at any time.
    Tick,
}

/// What a shard wants a part of a history for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// Its members miss something.
    CatchUp,
    /// Joins recover.
    Recovery,
}

/// What shards of one node tell each other.
#[derive(Debug, Clone)]
pub enum ShardMessage {
    /// To a topic's home: distribute this. `origin` has served its own members already.
    Publish {
        /// The shard that published, if one did.
        origin: Option<ShardIndex>,
        /// What.
        publication: Arc<Publication>,
    },
    /// From a topic's home to a shard with members.
    Deliver(Arc<Publication>),
    /// To a topic's home: this shard has members from now on, or has none left.
    Interest {
        /// The topic.
        topic: Arc<str>,
        /// Who.
        shard: ShardIndex,
        /// Whether there are members.
        on: bool,
        /// Which of the shard's requests this is.
        epoch: InterestEpoch,
    },
    /// From a topic's home: publications reach you from now on.
    InterestTaken {
        /// The topic.
        topic: Arc<str>,
        /// Which request is answered.
        epoch: InterestEpoch,
        /// Where a recoverable topic stands; none if it is not known now, or the topic is ephemeral.
        position: Option<Position>,
    },
    /// To a recoverable topic's home: give this its place, keep and distribute it.
    Append {
        /// What.
        draft: Box<Draft>,
        /// Who waits to hear of it.
        owner: Option<Box<AppendOwner>>,
    },
    /// From a recoverable topic's home to the publisher's shard: it was accepted, or why not.
    Appended {
        /// Who waits to hear of it.
        owner: Box<AppendOwner>,
        /// Its own position.
        result: Result<Position, AppendError>,
    },
    /// To a recoverable topic's home: give this shard a part of the history.
    HistoryWanted {
        /// The topic.
        topic: Arc<str>,
        /// Who asks.
        shard: ShardIndex,
        /// What stands above this offset.
        since: u64,
        /// What for.
        wanted: Wanted,
    },
    /// From a recoverable topic's home: a part of the history.
    History {
        /// The topic.
        topic: Arc<str>,
        /// What it was asked for.
        wanted: Wanted,
        /// The part.
        excerpt: Box<Excerpt>,
    },
    /// From a recoverable topic's home: where it stands.
    Head {
        /// The topic.
        topic: Arc<str>,
        /// Its newest publication.
        position: Position,
    },
    /// From an ephemeral topic's home: the bus was away while there were members, and is back; or another node's was.
    Severed {
        /// The topic.
        topic: Arc<str>,
    },
    /// To a topic's home: someone is here.
    Track {
        /// The topic.
        topic: Arc<str>,
        /// Under which key.
        key: Box<str>,
        /// The new meta's ref.
        reference: PhxRef,
        /// The meta that it replaces.
        previous: Option<PhxRef>,
        /// The meta as a JSON object.
        meta: Box<str>,
    },
    /// To a topic's home: someone is gone.
    Untrack {
        /// The topic.
        topic: Arc<str>,
        /// Under which key.
        key: Box<str>,
        /// Which meta.
        reference: PhxRef,
    },
    /// To a topic's home: tell this join who is there.
    PresenceWanted {
        /// The topic.
        topic: Arc<str>,
        /// Who asks.
        owner: PresenceOwner,
    },
    /// From a topic's home: who is there.
    PresenceState {
        /// Who asked.
        owner: PresenceOwner,
        /// The event to push: `presence_state`, or `presence_count` for a crowd.
        event: &'static str,
        /// The push's payload.
        json: Arc<str>,
    },
    /// To every shard of the node, which tells the other nodes: end this.
    Dismiss(Dismissal),
    /// To a topic's home: code outside any channel publishes this.
    PublishNow {
        /// The topic.
        topic: Arc<str>,
        /// The event.
        event: Box<str>,
        /// The payload.
        payload: Outgoing<'static>,
        /// For the members on this node alone: neither the bus nor the topic's order hears of it.
        here: bool,
    },
}
