//! How a topic stands with the bus, at its home.

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
    /// Publications that the bus has not answered yet: their topics, and who waits to hear of them.
    pub(crate) appends: BTreeMap<AppendToken, (Arc<str>, Option<Box<AppendOwner>>)>,
    /// Nodes whose leases stand.
    pub(crate) live: BTreeSet<NodeId>,
    /// Topics of which a node that died may have acknowledged what nobody heard of.
    pub(crate) verify: VecDeque<Arc<str>>,
    pub(crate) announced: Announced,
    pub(crate) heads: Heads,
    pub(crate) unanswered: Unanswered,
    /// Topics of which something could not be read, and when it is asked for again.
    retries: BTreeSet<Arc<str>>,
    retry_due: Option<Micros>,
    /// The bus is away: until when the people of other nodes are believed to be there.
    pub(crate) believed_until: Option<Micros>,
    /// Topics that are to be subscribed again.
    pub(crate) resubscribe: VecDeque<Arc<str>>,
}

impl BusState {
    /// Something of this topic could not be read.
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

    /// When something is to be told to other nodes or asked for again, or nobody of theirs is believed to be there any more.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.heads.deadline().into_iter().chain(self.retry_due).chain(self.believed_until).min()
    }
}

/// The subscription of a topic with members on this node.
#[derive(Default)]
pub(crate) struct Link {
    pub(crate) state: LinkState,
    /// Shards that wait to hear that publications reach this node.
    pub(crate) waiting: Vec<(ShardIndex, InterestEpoch)>,
    /// Whether there were members while the bus was away. Those of an ephemeral topic are told when it is back.
    pub(crate) was_severed: bool,
    /// Before this, members of an ephemeral topic missed nothing that they were not told of. None until the bus has confirmed
    /// the subscription: there are no members, or they are told then.
    pub(crate) told: Option<Micros>,
}

impl Link {
    /// Of a topic with members while the bus is away.
    pub(crate) fn severed() -> Link {
        Link { was_severed: true, ..Link::default() }
    }

    /// Whether members of an ephemeral topic are to be told of what another node lost so long ago: then it counts as told, with
    /// everything before it, whoever lost that.
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
    /// The bus is away, or the topic's turn has not come.
    #[default]
    Off,
    /// The bus has not confirmed yet.
    Requested(SubscriptionId),
    On,
}

/// A recoverable topic whose order is the bus's.
#[derive(Default)]
pub(crate) struct Upstream {
    /// The question for what follows the newest publication here.
    pub(crate) missing: Option<ReadToken>,
    /// The question for what stands before the oldest, and from where.
    pub(crate) older: Option<(ReadToken, u64)>,
    /// Whether the bus has nothing that is older.
    pub(crate) complete: bool,
    /// Shards that wait for what is older, and from where.
    pub(crate) asked: Vec<(ShardIndex, u64)>,
    held: BTreeMap<u64, Ordered>,
    held_bytes: usize,
}

impl Upstream {
    pub(crate) fn new(complete: bool) -> Upstream {
        Upstream { complete, ..Upstream::default() }
    }

    /// Keeps a publication until what is missing before it is there. Past the bound the newest are dropped: they are
    /// asked for again.
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

    /// What was held, oldest first.
    pub(crate) fn take_held(&mut self) -> impl Iterator<Item = Ordered> + use<> {
        self.held_bytes = 0;
        std::mem::take(&mut self.held).into_values()
    }

    /// Forgets every question.
    pub(crate) fn disconnect(&mut self) -> Vec<(ShardIndex, u64)> {
        (self.missing, self.older) = (None, None);
        drop(self.take_held());
        std::mem::take(&mut self.asked)
    }
}
