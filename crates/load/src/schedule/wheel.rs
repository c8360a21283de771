//! The timers of many users: one each, cheap to set again.

use crate::observe::Nanos;

/// Length of the wheel's finest step: timers that are due within the same one fire in any order.
pub const TICK_NS: Nanos = 1 << TICK_BITS;

const TICK_BITS: u32 = 15;
/// Buckets of one level, as a power of two: one word tells which are in use.
const LEVEL_BITS: u32 = 6;
const BUCKETS_PER_LEVEL: usize = 1 << LEVEL_BITS;
const LEVELS: usize = 7;
/// The last step, four and a half years away. What is due later waits there and is looked at again.
const TICK_MAX: u64 = (1 << (LEVEL_BITS as usize * LEVELS)) - 1;

/// The bucket of those that are due.
const DUE: u32 = (LEVELS * BUCKETS_PER_LEVEL) as u32;

/// No slot; in `previous` of a slot that is not armed.
const NONE: u32 = u32::MAX;
/// In `previous`: the first of its list, whose bucket the rest of the number is.
const FIRST: u32 = 1 << 31;

/// By how much room for slots grows, at least: little is wasted where there are few.
const SLOTS_STEP: usize = 256;

/// A hierarchical timer wheel (Varghese and Lauck, 1987) with one timer per slot number: 16 bytes each, lists through
/// the slots themselves. Arming, arming anew and cancelling take constant time. A timer never fires early, and at most
/// [`TICK_NS`] out of order.
///
/// A timer lies at the level of the highest digit (to the base 64) in which its time differs from the wheel's
/// position, so everything at a lower level is due before everything at a higher one.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// Step up to which buckets have been emptied.
    position: u64,
    slots: Vec<Slot>,
    buckets: Box<[Bucket]>,
    used: [u64; LEVELS],
    armed: usize,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    deadline: Nanos,
    next: u32,
    previous: u32,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    first: u32,
    /// Nothing in the bucket is due earlier; exact, unless what was due then has been cancelled.
    earliest: Nanos,
}

const EMPTY: Bucket = Bucket { first: NONE, earliest: Nanos::MAX };
const UNARMED: Slot = Slot { deadline: 0, next: NONE, previous: NONE };

const _: () = assert!(size_of::<Slot>() == 16);

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}

impl Wheel {
    /// No timers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            position: 0,
            slots: Vec::new(),
            buckets: vec![EMPTY; LEVELS * BUCKETS_PER_LEVEL + 1].into_boxed_slice(),
            used: [0; LEVELS],
            armed: 0,
        }
    }

    /// Sets the timer of `slot`, whether it was armed or not. A deadline in the past is due at once.
    ///
    /// # Panics
    /// If `slot` is not below 2^31 - 1.
    pub fn arm(&mut self, slot: u32, deadline: Nanos) {
        assert!(slot < FIRST - 1, "slot {slot} is out of range");
        self.make_room(slot as usize);
        self.cancel(slot);
        self.slots[slot as usize].deadline = deadline;
        self.link(slot, self.bucket_of(deadline));
        self.armed += 1;
    }

    /// Returns whether the timer of `slot` was armed.
    pub fn cancel(&mut self, slot: u32) -> bool {
        let is_armed = self.deadline(slot).is_some();
        if is_armed {
            self.unlink(slot);
            self.armed -= 1;
        }
        is_armed
    }

    /// When the timer of `slot` is due, if it is armed.
    #[must_use]
    pub fn deadline(&self, slot: u32) -> Option<Nanos> {
        self.slots.get(slot as usize).filter(|slot| slot.previous != NONE).map(|slot| slot.deadline)
    }

    /// How many timers are armed.
    #[must_use]
    pub fn armed(&self) -> usize {
        self.armed
    }

    /// When [`Self::pop_expired`] should be called: never after the earliest deadline, and before it only where the
    /// timer that was due then has been cancelled meanwhile.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        let bucket = if self.buckets[DUE as usize].first == NONE { self.first_used()? } else { DUE };
        Some(self.buckets[bucket as usize].earliest)
    }

    /// Takes a timer that is due at `now`, the earliest first within [`TICK_NS`], and disarms it. To be called until
    /// there is none; `now` must not go back.
    pub fn pop_expired(&mut self, now: Nanos) -> Option<u32> {
        let slot = self.first_due(now)?;
        self.unlink(slot);
        self.armed -= 1;
        Some(slot)
    }

    /// Takes all that are due at `now`.
    pub fn expired(&mut self, now: Nanos) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(move || self.pop_expired(now))
    }

    fn first_due(&mut self, now: Nanos) -> Option<u32> {
        let now_tick = tick(now);
        loop {
            let due = self.buckets[DUE as usize].first;
            if due != NONE {
                return Some(due);
            }
            let bucket = self.first_used().filter(|&bucket| self.begin_of(bucket) <= now_tick);
            let Some(bucket) = bucket else {
                self.position = self.position.max(now_tick);
                return None;
            };
            self.position = self.begin_of(bucket);
            if bucket as usize >= BUCKETS_PER_LEVEL {
                self.spread(bucket);
            } else if !self.collect_due(bucket, now) {
                return None;
            }
        }
    }

    /// Moves everything in a bucket, whose time begins at the wheel's position, to lower levels.
    fn spread(&mut self, bucket: u32) {
        let mut slot = self.empty(bucket);
        while slot != NONE {
            let Slot { deadline, next, .. } = self.slots[slot as usize];
            self.link(slot, self.bucket_of(deadline));
            slot = next;
        }
    }

    /// Moves what is due in a bucket of the finest level to the due ones, and returns whether there was any.
    fn collect_due(&mut self, bucket: u32, now: Nanos) -> bool {
        if self.buckets[bucket as usize].earliest > now {
            return false;
        }
        let mut slot = self.empty(bucket);
        while slot != NONE {
            let Slot { deadline, next, .. } = self.slots[slot as usize];
            self.link(slot, if deadline <= now { DUE } else { bucket });
            slot = next;
        }
        self.buckets[DUE as usize].first != NONE
    }

    /// Where a deadline belongs, as the wheel stands.
    fn bucket_of(&self, deadline: Nanos) -> u32 {
        let tick = tick(deadline).max(self.position);
        let differing = tick ^ self.position;
        let level = (u64::BITS - (differing | 1).leading_zeros() - 1) / LEVEL_BITS;
        let digit = tick >> (level * LEVEL_BITS) & (BUCKETS_PER_LEVEL as u64 - 1);
        level * BUCKETS_PER_LEVEL as u32 + digit as u32
    }

    /// The bucket that comes first in time.
    fn first_used(&self) -> Option<u32> {
        let level = self.used.iter().position(|&used| used != 0)?;
        Some((level * BUCKETS_PER_LEVEL) as u32 + self.used[level].trailing_zeros())
    }

    /// The first step of a bucket's time: its own digit at its level, the position's above, zeros below.
    fn begin_of(&self, bucket: u32) -> u64 {
        let (level, digit) = (bucket / BUCKETS_PER_LEVEL as u32, bucket % BUCKETS_PER_LEVEL as u32);
        let above = self.position >> ((level + 1) * LEVEL_BITS) << ((level + 1) * LEVEL_BITS);
        above | u64::from(digit) << (level * LEVEL_BITS)
    }

    fn link(&mut self, slot: u32, bucket: u32) {
        let Bucket { first, earliest } = &mut self.buckets[bucket as usize];
        let next = std::mem::replace(first, slot);
        let entry = &mut self.slots[slot as usize];
        *earliest = entry.deadline.min(*earliest);
        entry.next = next;
        entry.previous = FIRST | bucket;
        if next != NONE {
            self.slots[next as usize].previous = slot;
        }
        if let Some(used) = self.used.get_mut(bucket as usize / BUCKETS_PER_LEVEL) {
            *used |= 1 << (bucket as usize % BUCKETS_PER_LEVEL);
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { next, previous, .. } = std::mem::replace(&mut self.slots[slot as usize], UNARMED);
        if next != NONE {
            self.slots[next as usize].previous = previous;
        }
        if previous & FIRST == 0 {
            self.slots[previous as usize].next = next;
        } else if next == NONE {
            self.empty(previous & !FIRST);
        } else {
            self.buckets[(previous & !FIRST) as usize].first = next;
        }
    }

    /// Returns the first slot of what was in the bucket.
    fn empty(&mut self, bucket: u32) -> u32 {
        if let Some(used) = self.used.get_mut(bucket as usize / BUCKETS_PER_LEVEL) {
            *used &= !(1 << (bucket as usize % BUCKETS_PER_LEVEL));
        }
        std::mem::replace(&mut self.buckets[bucket as usize], EMPTY).first
    }

    fn make_room(&mut self, slot: usize) {
        if slot >= self.slots.capacity() {
            let wanted = slot + 1 - self.slots.len();
            self.slots.reserve_exact(wanted.max(SLOTS_STEP).max(self.slots.len() / 8));
        }
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, UNARMED);
        }
    }
}

/// The step in which a moment lies.
fn tick(moment: Nanos) -> u64 {
    (moment >> TICK_BITS).min(TICK_MAX)
}
