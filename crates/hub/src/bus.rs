//! What the hub asks of a bus between nodes, and what a bus tells the hub.
//!
//! About topics nodes do not talk to each other; an engine such as Redis or NATS carries them. Without a bus
//! ([`HubConfig::bus`](crate::HubConfig)) there is one node and none of these effects is made.
//!
//! Every effect is made by a topic's home shard, and every event is given to it; an event without a topic goes to every
//! shard of the node, and the answer to a token to the shard that made it. What a bus owes the hub:
//!
//! - It is away until it says [`BusEvent::Up`]. While it is away it takes no effects, and none that it took before is
//!   answered after [`BusEvent::Down`]. Only [`BusEffect::Publish`] is made then, too.
//! - Of what was to be published on an ephemeral topic and reached no other node, or may have reached none, it remembers the
//!   topic and the time, and tells the other nodes by [`BusEvent::Lost`] as soon as it can.
//! - On a recoverable topic it gives each publication its place. After [`BusEvent::Subscribed`], and not before it, it
//!   tells the node of every later one, this node's own included, unless it loses some: then `previous` or a head shows it.
//! - A node has a lease that the bus renews while it is up. When a lease is over, the node's people are gone from the bus,
//!   and every node is told by [`BusEvent::Leases`].
//! - What is to end it tells every other node that it reaches, whatever that has subscribed, and keeps it for nobody. So it
//!   does with the words of the program around the hubs ([`BusEffect::Tell`]), those of one node in their order; they come
//!   from the program and are given to it, and no hub takes part.
//! - When it loses the order itself, as by a restart without the newest, it begins another epoch.

use crate::dismissal::Dismissal;
use crate::place::{Place, Position};
use crate::presence::PhxRef;
use crate::publication::{AppendError, Draft, Publication};
use std::sync::Arc;

/// A node, from its start to its end. A node that starts again is another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u64);

/// Tells a node's subscriptions to one topic apart, so that a late answer confirms nothing new.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SubscriptionId(pub u32);

/// Names an append of one shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AppendToken(pub u32);

/// Names a question of one shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ReadToken(pub u32);

/// What a home wants of the bus.
#[derive(Debug, Clone)]
pub enum BusEffect {
    /// Something was published on an ephemeral topic of this node, to go to the others. Made while the bus is away, too.
    Publish(Arc<Publication>),
    /// Something is to be ordered and kept.
    Append {
        /// What.
        draft: Box<Draft>,
        /// Names it, for the answer.
        token: AppendToken,
    },
    /// This node now has members on the topic, or has none left.
    Interest {
        /// The topic.
        topic: Arc<str>,
        /// The subscription; none when there are no members left.
        on: Option<SubscriptionId>,
    },
    /// Part of a history is wanted.
    ReadHistory {
        /// The topic.
        topic: Arc<str>,
        /// Which part.
        span: Span,
        /// Names the question.
        token: ReadToken,
    },
    /// Where topics stand that this node heard of since the last time: for nodes that missed the newest.
    Heads(Vec<(Arc<str>, Position)>),
    /// This node's people on a topic changed: keep it under this node's lease, and tell the other nodes.
    Present {
        /// The topic.
        topic: Arc<str>,
        /// Which change this is; the newest of a node has the highest.
        version: u64,
        /// The change before it on this topic; 0 if there is none.
        previous: u64,
        /// What changed.
        change: Box<PresenceChange>,
    },
    /// All of this node's people on a topic, in place of what the bus has under its lease; the other nodes are told by
    /// [`BusEvent::PresenceHead`].
    People {
        /// The topic.
        topic: Arc<str>,
        /// The change that they are as of.
        version: u64,
        /// Everybody.
        people: Vec<PresenceMeta>,
    },
    /// Who is there on the nodes whose leases stand.
    ReadPeople {
        /// The topic.
        topic: Arc<str>,
    },
    /// The newest changes of this node's people on topics where they changed since the last time.
    PresenceHeads(Vec<(Arc<str>, u64)>),
    /// Something is to end on the other nodes, too.
    Dismiss(Dismissal),
    /// Words of the program's own, outside of any topic, to all other nodes.
    Tell(Arc<[u8]>),
}

/// One meta of one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceMeta {
    /// The person.
    pub key: Box<str>,
    /// Names the meta.
    pub reference: PhxRef,
    /// As clients see it, with its refs.
    pub json: Box<str>,
}

/// A person came, went, or changed, which is both in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresenceChange {
    /// The meta that is gone.
    pub left: Option<(Box<str>, PhxRef)>,
    /// The meta that is there.
    pub joined: Option<PresenceMeta>,
}

/// The people of one node on one topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePeople {
    /// Which node.
    pub node: NodeId,
    /// The change that they are as of.
    pub version: u64,
    /// Everybody.
    pub people: Vec<PresenceMeta>,
}

/// Part of a history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Span {
    /// What stands above `since`, from the oldest on: as much as the bus likes to give at once, at least one.
    Oldest {
        /// The offset.
        since: u64,
    },
    /// What stands above `since` and up to `until`; if that is more than these bounds, the newest of it.
    Newest {
        /// The offset.
        since: u64,
        /// The last offset that is wanted.
        until: u64,
        /// Bound of the messages.
        messages_max: usize,
        /// Bound of their payloads, in bytes.
        bytes_max: usize,
    },
}

/// A publication with the place that the bus gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// Its own position.
    pub position: Position,
    /// The offset of the publication before it; 0 if it is the first.
    pub previous: u64,
    /// What was published.
    pub draft: Draft,
}

/// Part of a history: everything that stands above `from` and up to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusHistory {
    /// Where the topic stands.
    pub head: Position,
    /// Above the offset that was asked for if the history has less, or the bounds.
    pub from: u64,
    /// The last one's offset, or the head's if there is none later.
    pub to: u64,
    /// Oldest first.
    pub ordered: Vec<Ordered>,
}

/// What a bus says.
#[derive(Debug, Clone)]
pub enum BusEvent {
    /// It is there (again).
    Up,
    /// It is away.
    Down,
    /// The node is told of publications on the topic from now on.
    Subscribed {
        /// The topic.
        topic: Arc<str>,
        /// Which request is answered.
        subscription: SubscriptionId,
        /// Where a recoverable topic stands.
        position: Option<Position>,
    },
    /// A publication was ordered and kept, or why not.
    Appended {
        /// Which.
        token: AppendToken,
        /// Its own position.
        result: Result<Position, AppendError>,
    },
    /// Published on an ephemeral topic of a node.
    Delivered {
        /// Of which; what comes from this node itself is passed over.
        node: NodeId,
        /// What.
        publication: Arc<Publication>,
    },
    /// Something that a node published on an ephemeral topic is lost to the others, or may be.
    Lost {
        /// The topic.
        topic: Arc<str>,
        /// Which node; what comes from this node itself is passed over.
        node: NodeId,
        /// How long ago the last of it was lost, in microseconds; too short by as long as this event was on its way.
        age_us: u64,
    },
    /// Published on a recoverable topic of any node.
    Ordered(Box<Ordered>),
    /// Part of a history.
    History {
        /// The topic.
        topic: Arc<str>,
        /// Which question is answered.
        token: ReadToken,
        /// The part; none if it could not be read.
        history: Option<Box<BusHistory>>,
    },
    /// Another node says where a topic stands.
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
    /// Another node says how far its people on a topic have changed.
    PresenceHead {
        /// The topic.
        topic: Arc<str>,
        /// Which node.
        node: NodeId,
        /// Its newest change.
        version: u64,
    },
    /// Who is there.
    People {
        /// The topic.
        topic: Arc<str>,
        /// The people of every node that has a lease; none if they could not be read.
        nodes: Option<Vec<NodePeople>>,
    },
    /// The nodes whose leases stand, told after [`BusEvent::Up`] and whenever one comes or goes.
    Leases(Vec<NodeId>),
    /// Another node has ended something, and it is to end here, too. Told to every shard.
    Dismissed(Dismissal),
    /// Another node's program has said this. Told to the program, and to no shard.
    Told {
        /// Which node.
        node: NodeId,
        /// What it said.
        words: Arc<[u8]>,
    },
}

impl BusEvent {
    /// Whose home the event is for; `None` for every shard, and for what a token tells.
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
    /// As it goes to the members of this node.
    pub(crate) fn into_publication(self) -> Publication {
        let Ordered { position: Position { epoch, offset }, previous, draft } = self;
        let except = draft.except;
        draft.at(Place { epoch, offset, previous, except })
    }

    /// What it takes while it waits, without allocators' parts.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Ordered>() + self.draft.payload.len() + self.draft.event.len()
    }
}
