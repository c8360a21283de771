//! Outages of the bus, seen by this node or another one. The members of an ephemeral topic get a `gap` without a place,
//! as nobody counts what they missed, or whether they missed anything.
//!
//! While the topic's queue is full the gap is owed, and is queued as soon as there is room. Its sequence is taken at
//! once, so that the members at the time when the bus came back get it, and members who join later do not.

use crate::bus::NodeId;
use crate::class::Class;
use crate::effect::Effects;
use crate::event::ShardMessage;
use crate::hub::Hub;
use crate::ids::Sequence;
use crate::ids::TopicId;
use std::collections::BTreeMap;
use std::sync::Arc;

const SEVERED: &str = r#"{"reason":"bus"}"#;

/// Topics whose queue had no room for a gap, and the gap's sequence. One gap covers all outages before it.
#[derive(Default)]
pub(crate) struct OwedGaps(BTreeMap<TopicId, Sequence>);

impl OwedGaps {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets a topic that is gone.
    pub(crate) fn forget(&mut self, id: TopicId) {
        self.0.remove(&id);
    }
}

impl Hub {
    /// Home only: handles the loss of a publication that another node made on an ephemeral topic while this node's bus
    /// was up.
    pub(crate) fn lost_elsewhere(&mut self, topic: &Arc<str>, node: NodeId, age_us: u64, out: &mut Effects) {
        let is_here = self.config.bus != Some(node) && self.directory.is_home_of(topic);
        if !is_here || self.is_recoverable(topic) {
            return;
        }
        let now = self.now;
        let link = self.directory.home_mut(topic).link.as_deref_mut();
        if link.is_some_and(|link| link.tells_loss(age_us, now)) {
            self.tell_severed_shards(topic, out);
        }
    }

    /// Home only: informs the shards that publications of other nodes on an ephemeral topic may be lost, as nobody
    /// stores them.
    pub(crate) fn tell_severed_shards(&mut self, topic: &Arc<str>, out: &mut Effects) {
        for shard in self.shards_with_members(topic) {
            let message = ShardMessage::BusOutage { topic: topic.clone() };
            self.send_to_shard(shard, message, Class::Control, out);
        }
    }

    /// Handles that notice on a shard with members.
    pub(crate) fn severed(&mut self, topic: &str) {
        let Some(id) = self.topic_named(topic) else { return };
        let topic = &mut self.topics[id.0 as usize];
        if topic.members() == 0 {
            return;
        }
        let sequence = topic.take_sequence();
        self.counters.gaps += 1;
        self.owed_gaps.0.insert(id, sequence);
        self.tell_owed_gap(id);
    }

    /// Queues the gap that a topic owes, if any and if there is room.
    pub(crate) fn tell_owed_gap(&mut self, id: TopicId) {
        let Some(&sequence) = self.owed_gaps.0.get(&id) else { return };
        let is_for_somebody = self.topics[id.0 as usize].has_members_before(sequence);
        if is_for_somebody && !self.enqueue_as(id, self.gap(id, SEVERED.into()), sequence) {
            return;
        }
        self.owed_gaps.forget(id);
        self.counters.gaps_told += u64::from(is_for_somebody);
    }
}
