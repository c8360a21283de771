//! The timers of many users: one per user, cheap to re-arm.

use crate::observe::Nanos;

/// Length of one tick: timers that are due within the same tick fire in any order.
pub const TICK_NS: Nanos = 1 << TICK_BITS;

const TICK_BITS: u32 = 15;
/// Buckets per level as a power of two, so that one word has a bit for each.
const LEVEL_BITS: u32 = 6;
const BUCKETS_PER_LEVEL: usize = 1 << LEVEL_BITS;
const LEVELS: usize = 7;
/// The last tick, four and a half years away. Later deadlines wait there and are re-examined.
const TICK_MAX: u64 = (1 << (LEVEL_BITS as usize * LEVELS)) - 1;

/// Index of the bucket of due timers.
const DUE: u32 = (LEVELS * BUCKETS_PER_LEVEL) as u32;

/// No slot; as `previous`, marks a slot that is not armed.
const NONE: u32 = u32::MAX;
/// Flag in `previous`: this slot is the first of its list, and the remaining bits are its bucket.
const FIRST: u32 = 1 << 31;

/// Minimum number of slots added when growing, so that little is wasted when there are few.
const SLOTS_STEP: usize = 256;

/// A hierarchical timer wheel (Varghese and Lauck, 1987) with one timer per slot number: 16 bytes each, as lists that
/// are threaded through the slots. Arming, re-arming and cancelling take constant time. A timer never fires early, and
/// at most [`TICK_NS`] out of order.
///
/// A timer is at the level of the highest digit (in base 64) in which its time differs from the wheel's position, so
/// everything at a lower level is due before everything at a higher one.
#[derive(Clone, Debug)]
pub struct Wheel {
    /// Tick up to which buckets have been emptied.
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
    /// Lower bound of the deadlines in the bucket; exact, unless the timer with that deadline has been cancelled.
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
    /// Returns a wheel without timers.
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

    /// Arms the timer of `slot`, or re-arms it. A deadline in the past is due at once.
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

    /// Disarms the timer of `slot` and returns whether it was armed.
    pub fn cancel(&mut self, slot: u32) -> bool {
        let is_armed = self.deadline(slot).is_some();
        if is_armed {
            self.unlink(slot);
            self.armed -= 1;
        }
        is_armed
    }

    /// Returns when the timer of `slot` is due, if it is armed.
    #[must_use]
    pub fn deadline(&self, slot: u32) -> Option<Nanos> {
        self.slots.get(slot as usize).filter(|slot| slot.previous != NONE).map(|slot| slot.deadline)
    }

    /// Returns the number of armed timers.
    #[must_use]
    pub fn armed(&self) -> usize {
        self.armed
    }

    /// Returns when [`Self::pop_expired`] should next be called: never after the earliest deadline, and before it only
    /// if the timer that was due then has been cancelled.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        let bucket = if self.buckets[DUE as usize].first == NONE { self.first_used()? } else { DUE };
        Some(self.buckets[bucket as usize].earliest)
    }

    /// Takes and disarms one timer that is due at `now`, earliest first within [`TICK_NS`]. Call it until it returns
    /// `None`; `now` must not go back.
    pub fn pop_expired(&mut self, now: Nanos) -> Option<u32> {
        let slot = self.first_due(now)?;
        self.unlink(slot);
        self.armed -= 1;
        Some(slot)
    }

    /// Takes all timers that are due at `now`.
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

    /// Moves all timers of a bucket whose time begins at the wheel's position to lower levels.
    fn spread(&mut self, bucket: u32) {
        let mut slot = self.empty(bucket);
        while slot != NONE {
            let Slot { deadline, next, .. } = self.slots[slot as usize];
            self.link(slot, self.bucket_of(deadline));
            slot = next;
        }
    }

    /// Moves the due timers of a bucket of the lowest level to the due bucket; returns whether there are any due
    /// timers.
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

    /// Returns the bucket for a deadline at the wheel's current position.
    fn bucket_of(&self, deadline: Nanos) -> u32 {
        let tick = tick(deadline).max(self.position);
        let differing = tick ^ self.position;
        let level = (u64::BITS - (differing | 1).leading_zeros() - 1) / LEVEL_BITS;
        let digit = tick >> (level * LEVEL_BITS) & (BUCKETS_PER_LEVEL as u64 - 1);
        level * BUCKETS_PER_LEVEL as u32 + digit as u32
    }

    /// Returns the non-empty bucket that comes first in time.
    fn first_used(&self) -> Option<u32> {
        let level = self.used.iter().position(|&used| used != 0)?;
        Some((level * BUCKETS_PER_LEVEL) as u32 + self.used[level].trailing_zeros())
    }

    /// Returns the first tick of a bucket: its own digit at its level, the position's digits above, zeros below.
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

    /// Empties a bucket and returns the first slot of its list.
    fn empty(&mut self, bucket: u32) -> u32 {
        if let Some(used) = self.used.get_mut(bucket as usize / BUCKETS_PER_LEVEL) {
            *used &= !(1 << (bucket as usize % BUCKETS_PER_LEVEL));
        }
        std::mem::replace(&mut self.buckets[bucket as usize], EMPTY).first
    }

    /// Memory of all timers, armed or not, in bytes. It never shrinks.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.buckets.len() * size_of::<Bucket>()
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

/// Returns the tick that contains a moment.
fn tick(moment: Nanos) -> u64 {
    (moment >> TICK_BITS).min(TICK_MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const DAY_NS: Nanos = 24 * 3600 * 1_000_000_000;

    #[derive(Clone, Debug)]
    enum Operation {
        Arm(u32, Nanos),
        Cancel(u32),
        Advance(Nanos),
        /// Advance to the wheel's next due time.
        Sleep,
    }

    /// Durations of every magnitude: half of the digits of a number up to 2^bits.
    fn span(bits: u32) -> impl Strategy<Value = Nanos> {
        (0..bits).prop_flat_map(|bits| 0..(1_u64 << bits))
    }

    fn operation() -> impl Strategy<Value = Operation> {
        let slot = 0..40_u32;
        prop_oneof![
            6 => (slot.clone(), span(53)).prop_map(|(slot, after)| Operation::Arm(slot, after)),
            1 => slot.clone().prop_map(|slot| Operation::Arm(slot, Nanos::MAX)),
            2 => slot.prop_map(Operation::Cancel),
            2 => span(52).prop_map(Operation::Advance),
            4 => Just(Operation::Sleep),
        ]
    }

    /// Takes all due timers from both and compares them.
    fn pop_and_compare(wheel: &mut Wheel, model: &mut BTreeMap<u32, Nanos>, now: Nanos) {
        let mut last_tick = 0;
        while let Some(slot) = wheel.pop_expired(now) {
            let deadline = model.remove(&slot).expect("an armed timer fires");
            assert!(deadline <= now, "slot {slot} is due at {deadline}, it is {now}");
            assert!(tick(deadline) >= last_tick, "in order of time");
            last_tick = tick(deadline);
        }
        assert!(model.values().all(|&deadline| deadline > now), "all that are due are taken");
    }

    proptest! {
        #[test]
        fn it_behaves_as_a_sorted_map(operations in prop::collection::vec(operation(), 1..200)) {
            let mut wheel = Wheel::new();
            let mut model = BTreeMap::new();
            let mut now: Nanos = 0;
            for operation in operations {
                match operation {
                    Operation::Arm(slot, after) => {
                        let deadline = now.saturating_add(after);
                        wheel.arm(slot, deadline);
                        model.insert(slot, deadline);
                    }
                    Operation::Cancel(slot) => {
                        prop_assert_eq!(wheel.cancel(slot), model.remove(&slot).is_some());
                    }
                    Operation::Advance(by) => {
                        now += by;
                        pop_and_compare(&mut wheel, &mut model, now);
                    }
                    Operation::Sleep => {
                        now = now.max(wheel.next_due().unwrap_or(now).min(400 * DAY_NS));
                        pop_and_compare(&mut wheel, &mut model, now);
                    }
                }
                prop_assert_eq!(wheel.armed(), model.len());
                for slot in 0..40 {
                    prop_assert_eq!(wheel.deadline(slot), model.get(&slot).copied());
                }
                let earliest = model.values().min().copied();
                prop_assert_eq!(wheel.next_due().is_some(), earliest.is_some());
                prop_assert!(wheel.next_due() <= earliest, "never too late");
            }
        }

        #[test]
        fn without_cancelling_every_wake_up_finds_the_earliest_timer(
            deadlines in prop::collection::vec(span(53), 1..100),
        ) {
            let mut wheel = Wheel::new();
            for (slot, &deadline) in deadlines.iter().enumerate() {
                wheel.arm(slot as u32, deadline);
            }
            let mut left = deadlines;
            left.sort_unstable();
            left.dedup();
            for deadline in left {
                prop_assert_eq!(wheel.next_due(), Some(deadline));
                prop_assert!(wheel.expired(deadline).count() > 0);
            }
            prop_assert_eq!(wheel.next_due(), None);
        }
    }

    #[test]
    fn a_timer_fires_at_its_nanosecond_and_not_before() {
        for deadline in [1, TICK_NS - 1, TICK_NS, TICK_NS + 1, 30 * DAY_NS + 7, 10_000 * DAY_NS] {
            let mut wheel = Wheel::new();
            wheel.arm(3, deadline);
            assert_eq!(wheel.pop_expired(deadline - 1), None, "{deadline}");
            assert_eq!(wheel.next_due(), Some(deadline));
            assert_eq!(wheel.pop_expired(deadline), Some(3));
            assert_eq!(wheel.pop_expired(deadline), None);
        }
    }

    #[test]
    fn a_deadline_in_the_past_is_due_at_once() {
        let mut wheel = Wheel::new();
        assert_eq!(wheel.pop_expired(DAY_NS), None);
        wheel.arm(0, 5);
        assert!(wheel.next_due().is_some_and(|due| due <= DAY_NS));
        assert_eq!(wheel.pop_expired(DAY_NS), Some(0));
    }

    #[test]
    fn a_cancelled_timer_costs_at_most_one_early_wake_up() {
        let mut wheel = Wheel::new();
        wheel.arm(0, 1_000_000_000);
        wheel.arm(1, 1_100_000_000);
        wheel.cancel(0);
        let mut wake_ups = 0;
        while wheel.pop_expired(wheel.next_due().expect("one is armed")).is_none() {
            wake_ups += 1;
        }
        assert!(wake_ups <= 1, "{wake_ups}");
    }

    #[test]
    fn a_slot_costs_16_bytes_and_room_grows_with_the_slots() {
        let mut wheel = Wheel::new();
        for slot in 0..100_000 {
            wheel.arm(slot, u64::from(slot) * 1_000);
        }
        assert!(wheel.slots.capacity() * size_of::<Slot>() <= 16 * 115_000);
        assert_eq!(wheel.expired(DAY_NS).count(), 100_000);
        assert_eq!(wheel.armed(), 0);
    }
}
