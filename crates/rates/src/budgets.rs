//! The buckets of many.

use crate::budget::Budget;
use crate::rate::Rate;
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const PARTS: usize = 16;
/// The number of keys that each part keeps a bucket for. Beyond it all new keys share one bucket; to get there takes
/// more requests than a store can answer.
const BUDGETS_MAX: usize = 100_000;
/// After so many requests, full buckets are searched for and dropped.
const SWEEP_EVERY: u32 = 10_000;

/// One bucket per `K`.
pub struct Budgets<K> {
    hasher: RandomState,
    parts: [Mutex<Part<K>>; PARTS],
}

struct Part<K> {
    budgets: HashMap<Option<K>, Budget>,
    spent: u32,
}

impl<K: Eq + Hash> Default for Budgets<K> {
    fn default() -> Self {
        Self { hasher: RandomState::new(), parts: std::array::from_fn(|_| Mutex::new(Part::new())) }
    }
}

impl<K: Eq + Hash> Budgets<K> {
    /// Takes `cost` from the bucket of `key`.
    ///
    /// # Errors
    /// There is less left: how many milliseconds to wait for it.
    pub fn spend(&self, key: K, cost: u32, rate: Rate, now: Instant) -> Result<(), u64> {
        self.part(&key).spend(key, cost, rate, now)
    }

    /// Gives back `cost` that was taken at `taken_at`. What has been refilled since is not given back twice.
    pub fn give_back(&self, key: K, cost: u32, rate: Rate, taken_at: Instant) {
        self.part(&key).give_back(key, cost, rate, taken_at);
    }

    /// Returns how many milliseconds to wait until one can be taken, without taking it.
    pub fn wait(&self, key: K, rate: Rate, now: Instant) -> Option<u64> {
        self.part(&key).budgets.get(&Some(key))?.wait(1, rate, now)
    }

    fn part(&self, key: &K) -> MutexGuard<'_, Part<K>> {
        let part = self.hasher.hash_one(key) as usize % PARTS;
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Part<K> {
    fn new() -> Self {
        Self { budgets: HashMap::new(), spent: 0 }
    }

    fn spend(&mut self, key: K, cost: u32, rate: Rate, now: Instant) -> Result<(), u64> {
        self.spent += 1;
        if self.spent >= SWEEP_EVERY {
            self.spent = 0;
            self.budgets.retain(|_, budget| !budget.is_full(now));
        }
        let key = Some(key);
        let known = self.budgets.len() < BUDGETS_MAX || self.budgets.contains_key(&key);
        self.budgets.entry(key.filter(|_| known)).or_default().spend(cost, rate, now)
    }

    fn give_back(&mut self, key: K, cost: u32, rate: Rate, taken_at: Instant) {
        let key = Some(key);
        let known = self.budgets.contains_key(&key);
        if let Some(budget) = self.budgets.get_mut(&key.filter(|_| known)) {
            budget.give_back(cost, rate, taken_at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const ONE: Rate = Rate::per_minute(1);
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn each_has_a_bucket_of_their_own() {
        let (budgets, now) = (Budgets::default(), Instant::now());
        assert_eq!(budgets.spend(("one", "ann"), 1, ONE, now), Ok(()));
        assert!(budgets.spend(("one", "ann"), 1, ONE, now).is_err());
        assert_eq!(budgets.spend(("one", "bob"), 1, ONE, now), Ok(()));
        assert_eq!(budgets.spend(("two", "ann"), 1, ONE, now), Ok(()));
    }

    #[test]
    fn to_ask_how_long_takes_nothing() {
        let (budgets, now) = (Budgets::default(), Instant::now());
        assert_eq!([budgets.wait("a", ONE, now), budgets.wait("a", ONE, now)], [None, None]);
        assert_eq!(budgets.spend("a", 1, ONE, now), Ok(()));
        assert_eq!(budgets.wait("a", ONE, now), Some(60_000));
        assert_eq!(budgets.wait("a", ONE, now + MINUTE), None);
    }

    #[test]
    fn who_was_quiet_until_their_bucket_was_full_is_forgotten() {
        let (mut part, start) = (Part::new(), Instant::now());
        let nine = Rate::per_minute(9);
        for nth in 1..SWEEP_EVERY {
            part.spend(nth, 1, nine, start).expect("the first one");
        }
        part.spend(0, 1, nine, start + MINUTE).expect("the first one");
        assert_eq!(part.budgets.len(), 1);
    }

    #[test]
    fn past_the_bound_newcomers_share_one_bucket_and_nobody_else_notices() {
        let (mut part, now) = (Part::new(), Instant::now());
        let two = Rate::per_minute(2);
        for nth in 0..BUDGETS_MAX {
            part.spend(nth, 1, two, now).expect("the first one");
        }
        assert_eq!(part.spend(BUDGETS_MAX, 1, ONE, now), Ok(()));
        assert!(part.spend(BUDGETS_MAX + 1, 1, ONE, now).is_err());
        assert_eq!(part.spend(0, 1, two, now), Ok(()));
    }
}
