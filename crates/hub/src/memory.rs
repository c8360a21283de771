//! The memory of a hub by component, counted when it changes and never by a walk.
//!
//! Each part stores the size at which it was last counted, so that a change costs one subtraction; a shard's counters
//! are the sums. Blocks count as the allocator sizes them, tables by their capacity.

use crate::hub::Hub;
use crate::ids::TopicId;
use crate::sizes::{TopicBytes, places_bytes, shared_text_bytes};
use crate::topic::{Topic, rare_bytes};

/// Memory of one shard's hub by component, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The connections' slots, occupied or not.
    pub connections: u64,
    /// State that only some connections have: a socket id, assigns, further joins, waiting frames and joins.
    pub extras: u64,
    /// The channels of established joins. What a channel itself points to belongs to the application.
    pub channels: u64,
    /// The topics' tables and names, and the directory.
    pub topics: u64,
    /// The topics' lists of members.
    pub members: u64,
    /// Publications that wait in topics, and the pool of memory for them.
    pub publications: u64,
    /// The people who are present.
    pub presence: u64,
    /// The histories of recoverable topics, and the state of shards that follow them.
    pub histories: u64,
}

impl Memory {
    fn exchange(&mut self, before: TopicBytes, after: TopicBytes) {
        exchange(&mut self.members, before.members, after.members);
        exchange(&mut self.publications, before.publications, after.publications);
    }
}

/// Replaces a part's previous size in the sum by its current one.
fn exchange(sum: &mut u64, before: impl Into<u64>, after: impl Into<u64>) {
    *sum = *sum + after.into() - before.into();
}

impl Hub {
    /// Recounts a topic after a change to its members or publications.
    pub(crate) fn recount_topic(&mut self, id: TopicId) {
        if let Some(topic) = self.topics.get_mut(id.0 as usize) {
            let after = topic.bytes();
            let before = std::mem::replace(&mut topic.accounted, after);
            self.memory.exchange(before, after);
        }
    }

    /// Recounts the state by which a shard follows a recoverable topic, after a change to it.
    pub(crate) fn recount_follow(&mut self, id: TopicId) {
        let topic = self.topics.get_mut(id.0 as usize);
        if let Some(follow) = topic.and_then(|topic| topic.follow_mut()) {
            let after = follow.bytes() + rare_bytes();
            let before = std::mem::replace(&mut follow.accounted, after);
            exchange(&mut self.memory.histories, before as u64, after as u64);
        }
    }

    /// Removes a topic from the counts.
    pub(crate) fn discount_topic(&mut self, topic: &Topic) {
        self.memory.exchange(topic.accounted, TopicBytes::default());
        self.memory.histories -= topic.follow().map_or(0, |follow| follow.accounted as u64);
        self.memory.topics -= shared_text_bytes(&topic.name) as u64;
    }

    /// Returns the memory it takes now. Adds up what was counted; walks no connection or topic.
    pub fn memory(&self) -> Memory {
        Memory {
            connections: self.connections.bytes() as u64,
            extras: (self.connections.extra_bytes() + places_bytes(&self.identities) + self.join_line.bytes())
                as u64,
            topics: self.memory.topics + self.topic_table_bytes() as u64,
            publications: self.memory.publications + self.spare_backlogs.bytes() as u64,
            presence: self.memory.presence + self.directory.presence_bytes() as u64,
            histories: self.memory.histories + (self.archive.bytes() + self.archive.table_bytes()) as u64,
            ..self.memory
        }
    }

    /// Returns whether everything that was counted has been removed again; tables keep their capacity.
    pub(crate) fn nothing_is_counted(&self) -> bool {
        self.memory == Memory::default()
            && self.connections.extra_bytes() == 0
            && self.directory.presence_bytes() == 0
            && self.archive.bytes() == 0
    }

    /// Returns the memory of the tables of topics, here and at home.
    fn topic_table_bytes(&self) -> usize {
        self.topics.bytes() + self.directory.table_bytes() + self.owners.bytes() + self.active.bytes()
    }
}
