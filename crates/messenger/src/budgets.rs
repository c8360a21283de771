//! How much there may be of something in a minute: messages of a person and of a community, by channels and by other surfaces
//! together; what else people ask by channels; tokens from an address that are none.
//!
//! A bucket holds a whole minute's share at first and fills evenly, so that it is full again a minute after the last one at
//! the latest, whatever the limit: then it says nothing and is forgotten.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const PARTS: usize = 16;
/// Of how many it is counted what they took in the last minute, in each part. Past it everybody new shares one bucket,
/// which takes more requests than a store can answer.
const BUDGETS_MAX: usize = 100_000;
/// After so many requests, what is full again is looked for and forgotten.
const SWEEP_EVERY: u32 = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

/// See the module: one for each `K`.
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

    /// Takes so much of a minute, or says how many milliseconds to wait for it.
    pub(crate) fn spend(&self, key: K, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        self.part(&key).spend(key, cost, per_minute, now)
    }

    /// How many milliseconds to wait until one can be taken; nothing is taken.
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
}

/// What was taken of a minute.
#[derive(Debug, Default)]
struct Budget {
    /// When nothing is taken any more.
    full: Option<Instant>,
}

impl Budget {
    fn spend(&mut self, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        if let Some(wait_ms) = self.wait(cost, per_minute, now) {
            return Err(wait_ms);
        }
        self.full = Some(now + self.taken_with(cost, per_minute, now));
        Ok(())
    }

    /// How many milliseconds to wait for so much.
    fn wait(&self, cost: u32, per_minute: u32, now: Instant) -> Option<u64> {
        let over =
            self.taken_with(cost, per_minute, now).checked_sub(MINUTE).filter(|over| !over.is_zero())?;
        Some(u64::try_from(over.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX))
    }

    fn taken_with(&self, cost: u32, per_minute: u32, now: Instant) -> Duration {
        let each = MINUTE.checked_div(per_minute).unwrap_or(MINUTE);
        let taken = self.full.map_or(Duration::ZERO, |full| full.saturating_duration_since(now));
        taken.saturating_add(each.saturating_mul(cost))
    }

    fn is_full(&self, now: Instant) -> bool {
        self.full.is_none_or(|full| full <= now)
    }
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
