//! The interface between the hub and a bus between nodes.
//!
//! Nodes do not exchange messages about topics directly; an engine such as Redis or NATS carries them. Without a bus
//! ([`HubConfig::bus`](crate::HubConfig)) there is one node, and none of these effects is made.
//!
//! Every effect is made by a topic's home shard, and every event goes to that shard; an event without a topic goes to
//! every shard of the node, and the answer to a token to the shard that made the token. What a bus guarantees:
//!
//! - It is away until it reports [`BusEvent::Up`]. While it is away it accepts only [`BusEffect::Publish`], the only
//!   effect that is made then. No effect that it accepted earlier is answered after [`BusEvent::Down`].
//! - If a publication on an ephemeral topic did not reach the other nodes, or may not have, it remembers the topic and
//!   the time, and informs the other nodes by [`BusEvent::Lost`] as soon as it can.
//! - On a recoverable topic it assigns each publication its place. After [`BusEvent::Subscribed`], and not before, it
//!   delivers every later publication to the node, including the node's own. If it loses some, `previous` or a head
//!   shows it.
//! - A node has a lease that the bus renews while it is up. When a lease expires, the bus has none of the node's people
//!   any more, and informs every node by [`BusEvent::Leases`].
//! - It delivers dismissals to every other node that it reaches, whatever that node has subscribed to, and stores none.
//!   The same holds for messages of the program around the hubs ([`BusEffect::Tell`]), in the order in which a node
//!   sent them; they come from the program and go to it, and no hub takes part.
//! - When it loses the order itself, for example by a restart without the newest data, it begins another epoch.

use crate::dismissal::Dismissal;
use crate::place::{Place, Position};
use crate::presence::PhxRef;
use crate::publication::{AppendError, Draft, Publication};
use std::sync::Arc;

/// A node, from its start to its end. A restarted node is a new one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u64);

/// Distinguishes a node's subscriptions to one topic, so that a late answer does not confirm a newer request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubscriptionId(pub u32);

/// Identifies an append of one shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AppendToken(pub u32);

/// Identifies a read of one shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReadToken(pub u32);

/// A request from a topic's home to the bus.
#[derive(Debug, Clone)]
pub enum BusEffect {
    /// A publication on an ephemeral topic of this node, for the other nodes. Also made while the bus is away.
    Publish(Arc<Publication>),
    /// A draft to be ordered and stored.
    Append {
        /// The draft.
        draft: Box<Draft>,
        /// Identifies it in the answer.
        token: AppendToken,
    },
    /// This node now has members on the topic, or has none left.
    Interest {
        /// The topic.
        topic: Arc<str>,
        /// The subscription; `None` when there are no members left.
        on: Option<SubscriptionId>,
    },
    /// Requests part of a history.
    ReadHistory {
        /// The topic.
        topic: Arc<str>,
        /// Which part.
        span: Span,
        /// Identifies the request.
        token: ReadToken,
    },
    /// The positions of topics that this node has learned since the last time, for nodes that missed the newest
    /// publication.
    Heads(Vec<(Arc<str>, Position)>),
    /// This node's people on a topic changed: the bus stores the change under this node's lease and informs the other
    /// nodes.
    Present {
        /// The topic.
        topic: Arc<str>,
        /// The version of this change; a node's newest change has its highest version.
        version: u64,
        /// The version of the change before it on this topic; 0 if there is none.
        previous: u64,
        /// What changed.
        change: Box<PresenceChange>,
    },
    /// All of this node's people on a topic, which replace what the bus has under its lease; the other nodes are
    /// informed by [`BusEvent::PresenceHead`].
    People {
        /// The topic.
        topic: Arc<str>,
        /// The version that this list reflects.
        version: u64,
        /// Everybody.
        people: Vec<PresenceMeta>,
    },
    /// Requests the people of all nodes with a valid lease.
    ReadPeople {
        /// The topic.
        topic: Arc<str>,
    },
    /// The newest versions of this node's people, for topics where they changed since the last time.
    PresenceHeads(Vec<(Arc<str>, u64)>),
    /// Something that has to end on the other nodes, too.
    Dismiss(Dismissal),
    /// A message of the program itself, outside of any topic, to all other nodes.
    Tell(Arc<[u8]>),
}

/// One meta of one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceMeta {
    /// The person's key.
    pub key: Box<str>,
    /// Identifies the meta.
    pub reference: PhxRef,
    /// The JSON that clients see, with its refs.
    pub json: Box<str>,
}

/// A person came, left, or changed (which is both in one).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceChange {
    /// The meta that was removed.
    pub left: Option<(Box<str>, PhxRef)>,
    /// The meta that was added.
    pub joined: Option<PresenceMeta>,
}

/// The people of one node on one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePeople {
    /// Which node.
    pub node: NodeId,
    /// The version that this list reflects.
    pub version: u64,
    /// Everybody.
    pub people: Vec<PresenceMeta>,
}

/// Part of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    /// The messages after `since`, from the oldest on: as many as the bus chooses to return at once, at least one.
    Oldest {
        /// The offset.
        since: u64,
    },
    /// The messages after `since` up to `until`; if they exceed these bounds, the newest of them.
    Newest {
        /// The offset.
        since: u64,
        /// The last offset that is wanted.
        until: u64,
        /// Maximum number of messages.
        messages_max: usize,
        /// Maximum size of their payloads, in bytes.
        bytes_max: usize,
    },
}

/// A publication with the place that the bus assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// Its own position.
    pub position: Position,
    /// The offset of the publication before it; 0 if it is the first.
    pub previous: u64,
    /// What was published.
    pub draft: Draft,
}

/// Part of a history: everything after `from` up to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusHistory {
    /// The topic's position.
    pub head: Position,
    /// Greater than the requested offset if the history or the bounds leave out the messages in between.
    pub from: u64,
    /// The last message's offset, or the head's if there is none later.
    pub to: u64,
    /// Oldest first.
    pub ordered: Vec<Ordered>,
}

/// A notification from the bus.
#[derive(Debug, Clone)]
pub enum BusEvent {
    /// The bus is available (again).
    Up,
    /// The bus is away.
    Down,
    /// From now on the node gets publications on the topic.
    Subscribed {
        /// The topic.
        topic: Arc<str>,
        /// The request that is answered.
        subscription: SubscriptionId,
        /// The position of a recoverable topic.
        position: Option<Position>,
    },
    /// A publication was ordered and stored, or was refused.
    Appended {
        /// The append that is answered.
        token: AppendToken,
        /// The publication's position, or why it was refused.
        result: Result<Position, AppendError>,
    },
    /// A publication on an ephemeral topic of a node.
    Delivered {
        /// The node; publications from this node itself are ignored.
        node: NodeId,
        /// The publication.
        publication: Arc<Publication>,
    },
    /// Publications of a node on an ephemeral topic were lost, or may have been.
    Lost {
        /// The topic.
        topic: Arc<str>,
        /// The node; losses of this node itself are ignored.
        node: NodeId,
        /// How long ago the last of them was lost, in microseconds; too short by the time that this event took.
        age_us: u64,
    },
    /// A publication on a recoverable topic of any node.
    Ordered(Box<Ordered>),
    /// Part of a history.
    History {
        /// The topic.
        topic: Arc<str>,
        /// The request that is answered.
        token: ReadToken,
        /// The part; `None` if it could not be read.
        history: Option<Box<BusHistory>>,
    },
    /// Another node reports a topic's position.
    Head {
        /// The topic.
        topic: Arc<str>,
        /// Its newest publication.
        position: Position,
    },
    /// Another node's people on a topic changed.
    Present {
        /// The topic.
        topic: Arc<str>,
        /// Which node.
        node: NodeId,
        /// As in [`BusEffect::Present`].
        version: u64,
        /// As there.
        previous: u64,
        /// What changed.
        change: Box<PresenceChange>,
    },
    /// Another node reports its newest version on a topic.
    PresenceHead {
        /// The topic.
        topic: Arc<str>,
        /// Which node.
        node: NodeId,
        /// The version of its newest change.
        version: u64,
    },
    /// The answer to [`BusEffect::ReadPeople`].
    People {
        /// The topic.
        topic: Arc<str>,
        /// The people of every node that has a lease; `None` if they could not be read.
        nodes: Option<Vec<NodePeople>>,
    },
    /// The nodes with a valid lease; sent after [`BusEvent::Up`] and whenever one is added or expires.
    Leases(Vec<NodeId>),
    /// Another node ended something that has to end here, too. Goes to every shard.
    Dismissed(Dismissal),
    /// A message from another node's program. Goes to the program, not to a shard.
    Told {
        /// Which node.
        node: NodeId,
        /// The message.
        words: Arc<[u8]>,
    },
}

impl BusEvent {
    /// Returns the topic to whose home the event goes; `None` if it goes to every shard or is the answer to a token.
    pub fn topic(&self) -> Option<&Arc<str>> {
        match self {
            BusEvent::Up
            | BusEvent::Down
            | BusEvent::Appended { .. }
            | BusEvent::Leases(_)
            | BusEvent::Dismissed(_)
            | BusEvent::Told { .. } => None,
            BusEvent::Subscribed { topic, .. }
            | BusEvent::Lost { topic, .. }
            | BusEvent::History { topic, .. }
            | BusEvent::Head { topic, .. }
            | BusEvent::Present { topic, .. }
            | BusEvent::PresenceHead { topic, .. }
            | BusEvent::People { topic, .. } => Some(topic),
            BusEvent::Delivered { publication, .. } => Some(&publication.topic),
            BusEvent::Ordered(ordered) => Some(&ordered.draft.topic),
        }
    }
}

impl Ordered {
    /// Converts it to the form in which this node's members get it.
    pub(crate) fn into_publication(self) -> Publication {
        let Ordered { position: Position { epoch, offset }, previous, draft } = self;
        let except = draft.except;
        draft.at(Place { epoch, offset, previous, except })
    }

    /// Returns the memory it takes while it waits, in bytes, without the allocator's overhead.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Ordered>() + self.draft.payload.len() + self.draft.event.len()
    }
}
