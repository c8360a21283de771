//! What a hub's memory is made of, counted when it changes and never by going through it.
//!
//! Each part keeps what it was last counted at, so that a change costs one subtraction; what stands in a shard's
//! counters is the sum. Blocks are counted as the allocator gives them, tables by their capacity.

use crate::hub::Hub;
use crate::ids::TopicId;
use crate::topic::Topic;
use std::collections::HashMap;
use std::sync::Arc;

/// Memory of one shard's hub by component, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Memory {
    /// The connections' slots, taken or not.
    pub connections: u64,
    /// What only some connections have: a socket id, assigns, further joins, frames and joins that wait.
    pub extras: u64,
    /// The channels of joins that stand. What a channel itself points to is the application's.
    pub channels: u64,
    /// The topics' tables and names, and the directory.
    pub topics: u64,
    /// The topics' lists of members.
    pub members: u64,
    /// Publications that wait in topics, and what was kept for such.
    pub publications: u64,
    /// The people who are present.
    pub presence: u64,
    /// The histories of recoverable topics, and what shards keep to follow them.
    pub histories: u64,
}

/// Memory that an allocator takes for a block: its header, and 16-byte steps from 32 on.
pub(crate) const fn block_bytes(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        bytes if bytes <= 24 => 32,
        bytes => (bytes + 8).next_multiple_of(16),
    }
}

/// Blocks from this size on have pages of their own, of which those that were never filled take no memory.
const PAGED_BYTES_MIN: usize = 128 << 10;

/// Memory of a list with room for `capacity_bytes` that holds `filled_bytes` now and took `before` so far.
pub(crate) fn list_bytes(capacity_bytes: usize, filled_bytes: usize, before: usize) -> usize {
    if capacity_bytes < PAGED_BYTES_MIN {
        return block_bytes(capacity_bytes);
    }
    filled_bytes.max(before.min(capacity_bytes))
}

/// The block of a text that is shared: its two counts stand in front.
pub(crate) fn shared_text_bytes(text: &Arc<str>) -> usize {
    block_bytes(2 * size_of::<usize>() + text.len())
}

/// A hash table's buckets, of which it fills seven eighths, with a byte of each for the hash.
pub(crate) fn table_bytes<K, V, S>(table: &HashMap<K, V, S>) -> usize {
    match table.capacity() {
        0 => 0,
        capacity => (capacity * 8 / 7).next_power_of_two() * (size_of::<(K, V)>() + 1),
    }
}

/// What a topic takes beside its place in the table of topics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TopicBytes {
    /// The list of its members.
    pub(crate) members: usize,
    /// Publications that wait, with the list that they wait in.
    pub(crate) publications: usize,
}

impl Memory {
    fn exchange(&mut self, before: TopicBytes, after: TopicBytes) {
        exchange(&mut self.members, before.members, after.members);
        exchange(&mut self.publications, before.publications, after.publications);
    }
}

/// Puts what a part takes now in place of what it took.
fn exchange(sum: &mut u64, before: usize, after: usize) {
    *sum = *sum + after as u64 - before as u64;
}

impl Hub {
    /// Counts a topic again, after a change to its members or publications.
    pub(crate) fn recount_topic(&mut self, id: TopicId) {
        if let Some(topic) = self.topics.get_mut(id.0 as usize) {
            let after = topic.bytes();
            let before = std::mem::replace(&mut topic.accounted, after);
            self.memory.exchange(before, after);
        }
    }

    /// Counts what follows a recoverable topic again, after a change to it.
    pub(crate) fn recount_follow(&mut self, id: TopicId) {
        let topic = self.topics.get_mut(id.0 as usize);
        if let Some(follow) = topic.and_then(|topic| topic.follow.as_deref_mut()) {
            let after = follow.bytes();
            let before = std::mem::replace(&mut follow.accounted, after);
            exchange(&mut self.memory.histories, before, after);
        }
    }

    /// Counts a topic out that is gone.
    pub(crate) fn discount_topic(&mut self, topic: &Topic) {
        self.memory.exchange(topic.accounted, TopicBytes::default());
        self.memory.histories -= topic.follow.as_deref().map_or(0, |follow| follow.accounted as u64);
        self.memory.topics -= shared_text_bytes(&topic.name) as u64;
    }

    /// What it takes now. Reads what was counted, and no connection or topic.
    pub fn memory(&self) -> Memory {
        Memory {
            connections: self.connections.bytes() as u64,
            extras: (self.connections.extra_bytes() + table_bytes(&self.identities) + self.join_line.bytes())
                as u64,
            topics: self.memory.topics + self.topic_table_bytes() as u64,
            publications: self.memory.publications + self.spare_backlogs.bytes() as u64,
            presence: self.memory.presence + self.directory.presence_bytes() as u64,
            histories: self.memory.histories + (self.archive.bytes() + self.archive.table_bytes()) as u64,
            ..self.memory
        }
    }

    /// Whether all that was counted in was counted out; tables keep their capacity.
    pub(crate) fn nothing_is_counted(&self) -> bool {
        self.memory == Memory::default()
            && self.connections.extra_bytes() == 0
            && self.directory.presence_bytes() == 0
            && self.archive.bytes() == 0
    }

    /// The tables of topics, here and at home, and the topics' names.
    fn topic_table_bytes(&self) -> usize {
        // An entry of the slab says beside its value whether it is vacant.
        let place = size_of::<Topic>() + size_of::<usize>();
        let places = list_bytes(self.topics.capacity() * place, self.topic_places * place, 0);
        let owners = self.owners.bytes() + self.active.bytes();
        places + table_bytes(&self.topic_ids) + owners + self.directory.table_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_a_header_and_comes_in_steps() {
        let table = [(0, 0), (1, 32), (24, 32), (25, 48), (40, 48), (41, 64), (1000, 1008)];
        for (bytes, expected) in table {
            assert_eq!(block_bytes(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn a_large_list_takes_what_it_ever_filled() {
        for (capacity, filled, before, expected) in [
            (1000, 10, 0, 1008),
            (1 << 20, 1000, 0, 1000),
            (1 << 20, 1000, 500_000, 500_000),
            (1 << 18, 1000, 500_000, 1 << 18),
        ] {
            assert_eq!(list_bytes(capacity, filled, before), expected, "{capacity} {filled} {before}");
        }
    }

    #[test]
    fn a_table_is_as_large_as_its_buckets() {
        let mut table: HashMap<u64, u64> = HashMap::new();
        assert_eq!(table_bytes(&table), 0);
        table.extend((0..100).map(|number| (number, number)));
        assert_eq!(table_bytes(&table), 128 * 17);
    }
}
