//! An outage of the bus, of this node's or of another's, as the members of an ephemeral topic are told of it: by a `gap` without
//! a place, as nobody counts what they missed, or whether it was anything.
//!
//! Where the topic's queue is full the gap is owed, and queued as soon as there is room. Its number among the topic's
//! publications is taken at once, so that it is for those who were members when the bus came back, and for nobody who
//! joins after that.

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

/// Topics whose queue had no room for a gap, and the gap's number. One gap tells of all outages before it.
#[derive(Default)]
pub(crate) struct OwedGaps(BTreeMap<TopicId, Sequence>);

impl OwedGaps {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The topic is gone.
    pub(crate) fn forget(&mut self, id: TopicId) {
        self.0.remove(&id);
    }
}

impl Hub {
    /// Home only: something that another node published on an ephemeral topic did not reach this one, whose bus was there.
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

    /// Home only: publications of other nodes may be lost to members of an ephemeral topic, and nobody keeps them.
    pub(crate) fn tell_severed_shards(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let interested = self.directory.home(topic).map_or_else(Vec::new, |home| home.interested.to_vec());
        for shard in interested {
            let message = ShardMessage::Severed { topic: topic.clone() };
            self.send_to_shard(shard, message, Class::Control, out);
        }
    }

    /// What other nodes published on an ephemeral topic may be lost to the members here.
    pub(crate) fn severed(&mut self, topic: &str) {
        let Some(&id) = self.topic_ids.get(topic) else { return };
        let topic = &mut self.topics[id.0 as usize];
        if topic.members() == 0 {
            return;
        }
        let sequence = topic.take_sequence();
        self.counters.gaps += 1;
        self.owed_gaps.0.insert(id, sequence);
        self.tell_owed_gap(id);
    }

    /// Queues the gap that a topic owes, if it does and there is room.
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
