//! A room's recent publications: their senders, which were withdrawn, and which are doubtful.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::observe::UserId;

/// Number of a room's newest publications whose senders are known.
pub const RECENT_SENDERS: u32 = 1 << (FIRST_SEGMENT_BITS + SEGMENTS as u32 - 1);

/// Maximum number of publications of one room that can be withdrawn, and also the maximum that can be doubtful; further
/// ones stay expected, and are counted.
pub const WITHDRAWN_MAX: usize = 1024;

const FIRST_SEGMENT_BITS: u32 = 4;
const SEGMENTS: usize = 9;

/// The senders of a room's last [`RECENT_SENDERS`] publications. Memory grows with the number of publications: 64 bytes
/// for the first 16, at most 16 KiB.
#[derive(Debug, Default)]
pub(super) struct Recent {
    segments: [OnceLock<Box<[AtomicU32]>>; SEGMENTS],
    withdrawn: Mutex<Vec<u32>>,
    doubtful: Mutex<Vec<u32>>,
}

impl Recent {
    pub(super) fn set_sender(&self, index: u32, sender: UserId) {
        let (segment, place) = place_of(index);
        let senders = self.segments[segment].get_or_init(|| {
            let length = (1usize << FIRST_SEGMENT_BITS) << segment.saturating_sub(1);
            (0..length).map(|_| AtomicU32::new(0)).collect()
        });
        senders[place].store(sender, Ordering::Release);
    }

    /// Returns the sender of the publication at `index`, unless a later one has reused its slot: the caller must check
    /// the room's newest publication afterwards.
    pub(super) fn sender(&self, index: u32) -> Option<UserId> {
        let (segment, place) = place_of(index);
        Some(self.segments[segment].get()?.get(place)?.load(Ordering::Acquire))
    }

    /// Marks a publication as withdrawn; returns whether there was room for it.
    pub(super) fn withdraw(&self, index: u32) -> bool {
        note(&self.withdrawn, index)
    }

    /// Marks a publication as doubtful: it is unknown whether the server accepted it. Returns whether there was room
    /// for it.
    pub(super) fn doubt(&self, index: u32) -> bool {
        note(&self.doubtful, index)
    }

    /// Returns all withdrawn and doubtful publications: other machines do not distinguish the two.
    pub(super) fn withdrawn(&self) -> Vec<u32> {
        let of = |list: &Mutex<Vec<u32>>| list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all = of(&self.withdrawn);
        all.extend(of(&self.doubtful));
        all
    }

    /// Calls `visit` for each withdrawn publication in `from..to`, holding the lock.
    pub(super) fn for_each_withdrawn(&self, from: u32, to: u32, visit: impl FnMut(u32)) {
        for_each(&self.withdrawn, from, to, visit);
    }

    /// Calls `visit` for each doubtful publication in `from..to`, holding the lock.
    pub(super) fn for_each_doubtful(&self, from: u32, to: u32, visit: impl FnMut(u32)) {
        for_each(&self.doubtful, from, to, visit);
    }
}

/// Inserts an index into a sorted list; returns whether there was room for it.
fn note(list: &Mutex<Vec<u32>>, index: u32) -> bool {
    let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
    match list.binary_search(&index) {
        Ok(_) => true,
        Err(_) if list.len() >= WITHDRAWN_MAX => false,
        Err(place) => {
            list.insert(place, index);
            true
        }
    }
}

fn for_each(list: &Mutex<Vec<u32>>, from: u32, to: u32, mut visit: impl FnMut(u32)) {
    let list = list.lock().unwrap_or_else(PoisonError::into_inner);
    let first = list.partition_point(|&index| index < from);
    list[first..].iter().take_while(|&&index| index < to).for_each(|&index| visit(index));
}

fn place_of(index: u32) -> (usize, usize) {
    let place = index % RECENT_SENDERS;
    let segment = (u32::BITS - (place >> FIRST_SEGMENT_BITS).leading_zeros()) as usize;
    let first = if segment == 0 { 0 } else { (1u32 << FIRST_SEGMENT_BITS) << (segment - 1) };
    (segment, (place - first) as usize)
}
