//! An append-only table that can be read without a lock while it grows.

use std::sync::OnceLock;

/// Maximum number of rooms of one run on one machine.
pub const ROOMS_MAX: u32 = (1 << FIRST_SEGMENT_BITS) << (SEGMENTS - 1);

const FIRST_SEGMENT_BITS: u32 = 6;
const SEGMENTS: usize = 19;

/// Entries by dense index, each written once. Entries never move: each segment is as long as all segments before it
/// together, and is allocated with its first entry.
#[derive(Debug)]
pub(super) struct Table<T> {
    segments: [OnceLock<Box<[OnceLock<T>]>>; SEGMENTS],
}

impl<T> Table<T> {
    pub(super) fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; SEGMENTS] }
    }

    pub(super) fn entry(&self, number: u32) -> Option<&T> {
        let (segment, place) = place_of(number);
        self.segments.get(segment)?.get()?.get(place)?.get()
    }

    /// Writes an entry, which must not exist yet.
    ///
    /// # Panics
    /// If `number` is not below [`ROOMS_MAX`].
    pub(super) fn set(&self, number: u32, entry: T) {
        let (segment, place) = place_of(number);
        let entries = self.segments[segment].get_or_init(|| {
            let length = (1usize << FIRST_SEGMENT_BITS) << segment.saturating_sub(1);
            (0..length).map(|_| OnceLock::new()).collect()
        });
        let written = entries[place].set(entry);
        debug_assert!(written.is_ok(), "entry {number} is written once");
    }
}

/// Locates an index: the first segment has the first 64, the second the next 64, each further one twice as many.
fn place_of(number: u32) -> (usize, usize) {
    let segment = (u32::BITS - (number >> FIRST_SEGMENT_BITS).leading_zeros()) as usize;
    let first = if segment == 0 { 0 } else { (1usize << FIRST_SEGMENT_BITS) << (segment - 1) };
    (segment, number as usize - first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for number in 0..20_000 {
            let (segment, place) = place_of(number);
            if segment != expected.0 {
                expected = (expected.0 + 1, 0);
            }
            assert_eq!((segment, place), expected, "{number}");
            expected.1 += 1;
        }
        assert_eq!(place_of(ROOMS_MAX - 1).0, SEGMENTS - 1);
        assert_eq!(place_of(ROOMS_MAX).0, SEGMENTS);
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        let table = Table::new();
        assert_eq!(table.entry(0), None);
        for number in 0..1_000 {
            table.set(number, number * 3);
        }
        assert!((0..1_000).all(|number| table.entry(number) == Some(&(number * 3))));
        assert_eq!(table.entry(1_000), None);
        assert_eq!(table.entry(u32::MAX), None);
    }
}
