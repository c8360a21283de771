//! A room's recent publications: who sent each, which were taken back, and of which it is not known whether they were taken.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::observe::UserId;

/// Publications behind a room's newest whose senders are known.
pub const RECENT_SENDERS: u32 = 1 << (FIRST_SEGMENT_BITS + SEGMENTS as u32 - 1);

/// Publications of one room that can be taken back, and as many that can be in doubt; further ones stay expected, and are
/// counted.
pub const WITHDRAWN_MAX: usize = 1024;

const FIRST_SEGMENT_BITS: u32 = 4;
const SEGMENTS: usize = 9;

/// The senders of a room's last [`RECENT_SENDERS`] publications. Memory grows with what the room has published: 64 bytes
/// for the first 16, 16 KiB at most.
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

    /// Sender of the publication at `index`, unless a later one has taken its place: whoever asks has to look at the
    /// room's newest publication afterwards.
    pub(super) fn sender(&self, index: u32) -> Option<UserId> {
        let (segment, place) = place_of(index);
        Some(self.segments[segment].get()?.get(place)?.load(Ordering::Acquire))
    }

    /// Returns whether there was room for it.
    pub(super) fn withdraw(&self, index: u32) -> bool {
        note(&self.withdrawn, index)
    }

    /// Nobody knows whether the publication was taken. Returns whether there was room for it.
    pub(super) fn doubt(&self, index: u32) -> bool {
        note(&self.doubtful, index)
    }

    /// All that were withdrawn or are in doubt: other machines do not tell the two apart.
    pub(super) fn withdrawn(&self) -> Vec<u32> {
        let of = |list: &Mutex<Vec<u32>>| list.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all = of(&self.withdrawn);
        all.extend(of(&self.doubtful));
        all
    }

    /// Those of `from..to` that were withdrawn, as long as `visit` is called.
    pub(super) fn for_each_withdrawn(&self, from: u32, to: u32, visit: impl FnMut(u32)) {
        for_each(&self.withdrawn, from, to, visit);
    }

    /// Those of `from..to` that are in doubt.
    pub(super) fn for_each_doubtful(&self, from: u32, to: u32, visit: impl FnMut(u32)) {
        for_each(&self.doubtful, from, to, visit);
    }
}

/// Puts an index into a list in its order; returns whether there was room for it.
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
