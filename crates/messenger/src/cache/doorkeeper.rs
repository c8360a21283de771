//! Remembers approximately which keys were requested before, so that an entry can be stored only for those that are
//! requested again: most people come once and stay.
//!
//! A key has one byte, at a place that other keys share. A newer key overwrites an older one there, so what was
//! requested long ago is forgotten without a clock. A key that is forgotten, or mistaken for another, costs one read or
//! one entry.

use super::key::Digest;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// With a quarter of this number of keys, nine of ten are remembered.
const PLACES: usize = 1 << 19;

/// See the module.
pub(super) struct Doorkeeper {
    marks: Box<[AtomicU8]>,
}

impl Doorkeeper {
    pub(super) fn new() -> Self {
        // Memory that nobody has used yet is not touched.
        Self { marks: bytemuck::zeroed_slice_box(PLACES) }
    }

    /// Notes a request, and returns whether the key was requested before.
    pub(super) fn note(&self, key: &Digest) -> bool {
        let [place, mark] = key.0;
        // Zero marks places that were never used.
        let mark = (mark as u8).max(1);
        self.marks[place as usize % PLACES].swap(mark, Relaxed) == mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    /// Digests of the numbers from `0` to `count`.
    fn keys(count: u64) -> impl Iterator<Item = Digest> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        (0..count).map(move |nth| Digest([hasher.hash_one((0, nth)), hasher.hash_one((1, nth))]))
    }

    #[test]
    fn what_is_requested_again_is_known_and_what_is_new_is_not() {
        let doorkeeper = Doorkeeper::new();
        let count = 1_000;
        let again = keys(count).filter(|key| doorkeeper.note(key)).count();
        assert!(again <= 10, "{again} of {count} new keys are known");
        let known = keys(count).filter(|key| doorkeeper.note(key)).count();
        assert!(known >= 980, "{known} of {count} are known");
    }

    #[test]
    fn what_was_requested_long_ago_is_forgotten() {
        let doorkeeper = Doorkeeper::new();
        let count = 4 * PLACES as u64;
        keys(count).for_each(|key| _ = doorkeeper.note(&key));
        let early = keys(1_000).filter(|key| doorkeeper.note(key)).count();
        assert!(early <= 100, "{early} of the first thousand are known");
    }
}
