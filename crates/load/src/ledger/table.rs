//! A table that grows while it is read, without a lock.

use std::sync::OnceLock;

/// Rooms of one run on one machine.
pub const ROOMS_MAX: u32 = (1 << FIRST_SEGMENT_BITS) << (SEGMENTS - 1);

const FIRST_SEGMENT_BITS: u32 = 6;
const SEGMENTS: usize = 19;

/// Entries by dense numbers, written once each. Entries never move: each segment is as long as all before it
/// together, and is made when its first entry is.
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

    /// Writes an entry, which must not be there yet.
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

/// The first segment has the first 64 numbers, the second the next 64, each further one twice as many.
fn place_of(number: u32) -> (usize, usize) {
    let segment = (u32::BITS - (number >> FIRST_SEGMENT_BITS).leading_zeros()) as usize;
    let first = if segment == 0 { 0 } else { (1usize << FIRST_SEGMENT_BITS) << (segment - 1) };
    (segment, number as usize - first)
}
