//! Memory of blocks, texts, lists and tables, as the allocator sizes them.

use hashbrown::HashTable;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the memory that the server's allocator uses for a block: 8 bytes, then steps of 16, and beyond 128 four
/// steps per power of two (jemalloc's size classes). Other allocators use about as much.
#[inline]
pub(crate) const fn block_bytes(bytes: usize) -> usize {
    match bytes {
        0 => 0,
        1..=8 => 8,
        9..=128 => bytes.next_multiple_of(16),
        bytes => bytes.next_multiple_of(bytes.next_power_of_two() / 8),
    }
}

/// Blocks of at least this size have pages of their own; pages that were never written take no memory.
const PAGED_BYTES_MIN: usize = 128 << 10;

/// Returns the memory of a list with room for `capacity_bytes` that holds `filled_bytes` now and took `before` so far.
#[inline]
pub(crate) fn list_bytes(capacity_bytes: usize, filled_bytes: usize, before: usize) -> usize {
    if capacity_bytes < PAGED_BYTES_MIN {
        return block_bytes(capacity_bytes);
    }
    filled_bytes.max(before.min(capacity_bytes))
}

/// Returns the size of a shared text's block, which starts with two reference counts.
#[inline]
pub(crate) fn shared_text_bytes(text: &Arc<str>) -> usize {
    block_bytes(2 * size_of::<usize>() + text.len())
}

/// Returns the memory of a hash table: its buckets, of which it fills seven eighths, with one byte each for the hash.
pub(crate) fn table_bytes<K, V, S>(table: &HashMap<K, V, S>) -> usize {
    buckets(table.capacity()) * (size_of::<(K, V)>() + 1)
}

/// Returns the memory of a hash table that stores only slab places or slots.
pub(crate) fn places_bytes(table: &HashTable<u32>) -> usize {
    buckets(table.capacity()) * (size_of::<u32>() + 1)
}

fn buckets(capacity: usize) -> usize {
    if capacity == 0 { 0 } else { (capacity * 8 / 7).next_power_of_two() }
}

/// The memory of a topic besides its entry in the table of topics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct TopicBytes {
    /// The list of its members.
    pub(crate) members: u32,
    /// Waiting publications, including their queue.
    pub(crate) publications: u32,
}

impl TopicBytes {
    /// Every topic stores these, so each takes only four bytes; a larger number counts as the largest that fits.
    pub(crate) fn of(members: usize, publications: usize) -> TopicBytes {
        let [members, publications] =
            [members, publications].map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX));
        TopicBytes { members, publications }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_comes_in_steps_that_grow_with_it() {
        let table = [
            (0, 0),
            (1, 8),
            (8, 8),
            (9, 16),
            (100, 112),
            (128, 128),
            (129, 160),
            (256, 256),
            (257, 320),
            (1000, 1024),
        ];
        for (bytes, expected) in table {
            assert_eq!(block_bytes(bytes), expected, "{bytes}");
        }
    }

    #[test]
    fn a_large_list_takes_what_it_ever_filled() {
        for (capacity, filled, before, expected) in [
            (1000, 10, 0, 1024),
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
