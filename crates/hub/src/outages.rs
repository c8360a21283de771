//! An outage of the bus, as the members of an ephemeral topic are told of it: by a `gap` without a place, as nobody counts
//! what they missed, or whether it was anything.
//!
//! Where the topic's queue is full the gap is owed, and queued as soon as there is room. Its number among the topic's
//! publications is taken at once, so that it is for those who were members when the bus came back, and for nobody who
//! joins after that.

use crate::backlog::Sequence;
use crate::hub::Hub;
use crate::ids::TopicId;
use std::collections::BTreeMap;

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
    /// The bus was away: what other nodes published on an ephemeral topic meanwhile is lost to the members here.
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
