//! Per-minute rate limits: messages of a person and of a community, over channels and other surfaces together; other
//! requests of a person over channels; invalid tokens from an address.
//!
//! A bucket starts with a whole minute's share and fills evenly, so that it is full again at most a minute after the
//! last request, whatever the limit. A full bucket carries no information and is dropped.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PARTS: usize = 16;
/// The number of keys that each part keeps a bucket for. Beyond it all new keys share one bucket; to get there takes
/// more requests than a store can answer.
const BUDGETS_MAX: usize = 100_000;
/// After so many requests, full buckets are searched for and dropped.
const SWEEP_EVERY: u32 = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

/// See the module: one bucket per `K`.
pub(crate) struct Budgets<K> {
    hasher: RandomState,
    parts: [Mutex<Part<K>>; PARTS],
}

struct Part<K> {
    budgets: HashMap<Option<K>, Budget>,
    spent: u32,
}

impl<K: Eq + Hash> Budgets<K> {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::new(), parts: std::array::from_fn(|_| Mutex::new(Part::new())) }
    }

    /// Takes `cost` from the bucket, or returns how many milliseconds to wait for it.
    pub(crate) fn spend(&self, key: K, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        self.part(&key).spend(key, cost, per_minute, now)
    }

    /// Gives back `cost` that was taken at `taken_at`. What has been refilled since is not given back twice.
    pub(crate) fn give_back(&self, key: K, cost: u32, per_minute: u32, taken_at: Instant) {
        self.part(&key).give_back(key, cost, per_minute, taken_at);
    }

    /// Returns how many milliseconds to wait until one can be taken, without taking it.
    pub(crate) fn wait(&self, key: K, per_minute: u32, now: Instant) -> Option<u64> {
        self.part(&key).budgets.get(&Some(key))?.wait(1, per_minute, now)
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

    fn spend(&mut self, key: K, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        self.spent += 1;
        if self.spent >= SWEEP_EVERY {
            self.spent = 0;
            self.budgets.retain(|_, budget| !budget.is_full(now));
        }
        let key = Some(key);
        let known = self.budgets.len() < BUDGETS_MAX || self.budgets.contains_key(&key);
        self.budgets.entry(key.filter(|_| known)).or_default().spend(cost, per_minute, now)
    }

    fn give_back(&mut self, key: K, cost: u32, per_minute: u32, taken_at: Instant) {
        let key = Some(key);
        let known = self.budgets.contains_key(&key);
        if let Some(budget) = self.budgets.get_mut(&key.filter(|_| known)) {
            budget.give_back(cost, per_minute, taken_at);
        }
    }
}

/// What was taken from a bucket.
#[derive(Debug, Default)]
struct Budget {
    taken: Option<Taken>,
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    /// When the bucket was last full.
    since: Instant,
    /// When it will be full again.
    until: Instant,
}

impl Budget {
    fn spend(&mut self, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        if let Some(wait_ms) = self.wait(cost, per_minute, now) {
            return Err(wait_ms);
        }
        let since = self.taken.filter(|taken| taken.until > now).map_or(now, |taken| taken.since);
        self.taken = Some(Taken { since, until: now + self.taken_with(cost, per_minute, now) });
        Ok(())
    }

    fn give_back(&mut self, cost: u32, per_minute: u32, taken_at: Instant) {
        // If the bucket was full in between, nothing taken before is missing.
        if let Some(taken) = self.taken.as_mut().filter(|taken| taken.since <= taken_at) {
            taken.until = taken.until.checked_sub(share(cost, per_minute)).unwrap_or(taken.since);
        }
    }

    /// Returns how many milliseconds to wait for `cost`.
    fn wait(&self, cost: u32, per_minute: u32, now: Instant) -> Option<u64> {
        let over =
            self.taken_with(cost, per_minute, now).checked_sub(MINUTE).filter(|over| !over.is_zero())?;
        Some(u64::try_from(over.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX))
    }

    fn taken_with(&self, cost: u32, per_minute: u32, now: Instant) -> Duration {
        let taken = self.taken.map_or(Duration::ZERO, |taken| taken.until.saturating_duration_since(now));
        taken.saturating_add(share(cost, per_minute))
    }

    fn is_full(&self, now: Instant) -> bool {
        self.taken.is_none_or(|taken| taken.until <= now)
    }
}

/// The part of a minute in which `cost` is refilled.
fn share(cost: u32, per_minute: u32) -> Duration {
    MINUTE.checked_div(per_minute).unwrap_or(MINUTE).saturating_mul(cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{id, somebody};

    #[test]
    fn a_minutes_messages_may_come_at_once_and_then_evenly() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        for _ in 0..60 {
            assert_eq!(budget.spend(1, 60, start), Ok(()));
        }
        assert_eq!(budget.spend(1, 60, start), Err(1_000));
        assert_eq!(budget.spend(1, 60, start + Duration::from_millis(1_001)), Ok(()));
        assert!(budget.spend(1, 60, start + Duration::from_millis(1_002)).is_err());
    }

    #[test]
    fn what_costs_more_takes_more_and_is_waited_for_longer() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        assert_eq!(budget.spend(50, 60, now), Ok(()));
        assert_eq!(budget.spend(20, 60, now), Err(10_000));
        assert_eq!(budget.spend(10, 60, now), Ok(()));
        assert_eq!(budget.spend(1, 60, now), Err(1_000));
        assert_eq!(budget.spend(20, 60, now + Duration::from_secs(20)), Ok(()));
    }

    #[test]
    fn each_person_of_each_community_has_their_own() {
        let (budgets, now) = (Budgets::new(), Instant::now());
        let person = |community, name| (id(community), somebody(name));
        assert_eq!(budgets.spend(person("one", "ann"), 1, 1, now), Ok(()));
        assert!(budgets.spend(person("one", "ann"), 1, 1, now).is_err());
        assert_eq!(budgets.spend(person("one", "bob"), 1, 1, now), Ok(()));
        assert_eq!(budgets.spend(person("two", "ann"), 1, 1, now), Ok(()));
    }

    #[test]
    fn to_ask_how_long_takes_nothing() {
        let (budgets, now) = (Budgets::new(), Instant::now());
        assert_eq!([budgets.wait("a", 1, now), budgets.wait("a", 1, now)], [None, None]);
        assert_eq!(budgets.spend("a", 1, 1, now), Ok(()));
        assert_eq!(budgets.wait("a", 1, now), Some(60_000));
        assert_eq!(budgets.wait("a", 1, now + MINUTE), None);
    }

    #[test]
    fn what_is_given_back_can_be_taken_again_and_no_more_than_that() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        assert_eq!(budget.spend(2, 2, start), Ok(()));
        budget.give_back(1, 2, start);
        assert_eq!(budget.spend(1, 2, start), Ok(()));
        assert_eq!(budget.spend(1, 2, start), Err(30_000));
        // It was full in between.
        assert_eq!(budget.spend(2, 2, start + MINUTE), Ok(()));
        budget.give_back(1, 2, start);
        assert_eq!(budget.spend(1, 2, start + MINUTE), Err(30_000));
    }

    #[test]
    fn who_was_quiet_for_a_minute_is_forgotten() {
        let (mut part, start) = (Part::new(), Instant::now());
        let name = |nth: u32| (id("one"), somebody(&format!("p{nth}")));
        for nth in 1..SWEEP_EVERY {
            part.spend(name(nth), 1, 9, start).expect("the first one");
        }
        part.spend(name(0), 1, 9, start + MINUTE).expect("the first one");
        assert_eq!(part.budgets.len(), 1);
    }

    #[test]
    fn past_the_bound_newcomers_share_one_bucket_and_nobody_else_notices() {
        let (mut part, now) = (Part::new(), Instant::now());
        let name = |nth: usize| (id("one"), somebody(&format!("p{nth}")));
        for nth in 0..BUDGETS_MAX {
            part.spend(name(nth), 1, 2, now).expect("the first one");
        }
        assert_eq!(part.spend(name(BUDGETS_MAX), 1, 1, now), Ok(()));
        assert!(part.spend(name(BUDGETS_MAX + 1), 1, 1, now).is_err());
        assert_eq!(part.spend(name(0), 1, 2, now), Ok(()));
    }
}
