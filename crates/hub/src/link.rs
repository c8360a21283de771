//! A topic's state towards the bus, at its home.

use crate::bus::{AppendToken, NodeId, Ordered, ReadToken, SubscriptionId};
use crate::heads::Heads;
use crate::ids::{InterestEpoch, Micros, ShardIndex};
use crate::limits::{HELD_BYTES_MAX, HELD_MESSAGES_MAX, LOSS_MARGIN_US, RETRY_INTERVAL_US};
use crate::people::Announced;
use crate::publication::AppendOwner;
use crate::unanswered::Unanswered;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What a shard knows of the bus as a whole.
#[derive(Default)]
pub(crate) struct BusState {
    pub(crate) up: bool,
    pub(crate) subscriptions: u32,
    pub(crate) reads: u32,
    pub(crate) tokens: u32,
    /// Publications that the bus has not answered yet: their topics, and the messages that wait for the result.
    pub(crate) appends: BTreeMap<AppendToken, (Arc<str>, Option<Box<AppendOwner>>)>,
    /// Nodes with a valid lease.
    pub(crate) live: BTreeSet<NodeId>,
    /// Topics on which a dead node may have acknowledged publications that nobody received.
    pub(crate) verify: VecDeque<Arc<str>>,
    /// Topics with people of nodes that have lost their lease, or of which not all could be read for want of a lease.
    pub(crate) doubted: VecDeque<Arc<str>>,
    /// Nodes that have lost their lease while there were such topics. One may have a lease again.
    pub(crate) departed: BTreeSet<NodeId>,
    pub(crate) announced: Announced,
    pub(crate) heads: Heads,
    pub(crate) unanswered: Unanswered,
    /// Topics of which something could not be read, and when to request it again.
    retries: BTreeSet<Arc<str>>,
    retry_due: Option<Micros>,
    /// While the bus is away: until when the people of other nodes are assumed to be present.
    pub(crate) believed_until: Option<Micros>,
    /// Topics to be subscribed again.
    pub(crate) resubscribe: VecDeque<Arc<str>>,
}

impl BusState {
    /// Notes that something of this topic could not be read.
    pub(crate) fn retry(&mut self, topic: &Arc<str>, now: Micros) {
        self.retries.insert(topic.clone());
        self.retry_due.get_or_insert(now + RETRY_INTERVAL_US);
    }

    pub(crate) fn take_retries(&mut self, now: Micros) -> BTreeSet<Arc<str>> {
        if self.retry_due.is_none_or(|due| due > now) {
            return BTreeSet::new();
        }
        self.retry_due = None;
        std::mem::take(&mut self.retries)
    }

    /// Returns when heads or retries are due, or the people of other nodes are no longer assumed to be present.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.heads.deadline().into_iter().chain(self.retry_due).chain(self.believed_until).min()
    }
}

/// The subscription of a topic with members on this node.
#[derive(Default)]
pub(crate) struct Link {
    pub(crate) state: LinkState,
    /// Shards that wait for the confirmation that publications reach this node.
    pub(crate) waiting: Vec<(ShardIndex, InterestEpoch)>,
    /// Whether there were members while the bus was away. Those of an ephemeral topic get a gap when it is back.
    pub(crate) was_severed: bool,
    /// Members of an ephemeral topic have been informed of all losses before this time. `None` until the bus has
    /// confirmed the subscription: until then there are no members, or they will be informed then.
    pub(crate) told: Option<Micros>,
}

impl Link {
    /// The link of a topic with members while the bus is away.
    pub(crate) fn severed() -> Link {
        Link { was_severed: true, ..Link::default() }
    }

    /// Returns whether members of an ephemeral topic have to be informed of a loss of another node of this age. If so,
    /// that loss and everything before it count as told, whichever node lost it.
    pub(crate) fn tells_loss(&mut self, age_us: u64, now: Micros) -> bool {
        let is_news = self.told.is_some_and(|told| age_us <= now - told + LOSS_MARGIN_US);
        if is_news {
            self.told = Some(now);
        }
        is_news
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum LinkState {
    /// The bus is away, or the topic has not been subscribed again yet.
    #[default]
    Off,
    /// The bus has not confirmed the subscription yet.
    Requested(SubscriptionId),
    On,
}

/// The state of a recoverable topic that the bus orders.
#[derive(Default)]
pub(crate) struct Upstream {
    /// The pending read of what follows the newest publication here.
    pub(crate) missing: Option<ReadToken>,
    /// The pending read of what precedes the oldest publication here, and its start offset.
    pub(crate) older: Option<(ReadToken, u64)>,
    /// Whether the bus has nothing older.
    pub(crate) complete: bool,
    /// Shards that wait for older publications, and from which offset.
    pub(crate) asked: Vec<(ShardIndex, u64)>,
    held: BTreeMap<u64, Ordered>,
    held_bytes: usize,
}

impl Upstream {
    pub(crate) fn new(complete: bool) -> Upstream {
        Upstream { complete, ..Upstream::default() }
    }

    /// Holds a publication until what is missing before it has arrived. Beyond the bound the newest are dropped; they
    /// will be read again.
    pub(crate) fn hold(&mut self, ordered: Ordered) {
        self.held_bytes += ordered.bytes();
        let replaced = self.held.insert(ordered.position.offset, ordered);
        self.held_bytes -= replaced.map_or(0, |replaced| replaced.bytes());
        while self.held.len() > HELD_MESSAGES_MAX || (self.held_bytes > HELD_BYTES_MAX && self.held.len() > 1)
        {
            let Some((_, dropped)) = self.held.pop_last() else { return };
            self.held_bytes -= dropped.bytes();
        }
    }

    /// Takes the publications that were held, oldest first.
    pub(crate) fn take_held(&mut self) -> impl Iterator<Item = Ordered> + use<> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held).into_values()
    }

    /// Forgets all pending reads; returns the shards that waited for older publications.
    pub(crate) fn disconnect(&mut self) -> Vec<(ShardIndex, u64)> {
        (self.missing, self.older) = (None, None);
        drop(self.take_held());
        std::mem::take(&mut self.asked)
    }
}
