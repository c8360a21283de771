//! How much people may ask in a minute, whether they are here or not: messages, by channels and by other surfaces together;
//! and apart from them, what else they ask by channels.
//!
//! A person's bucket holds a whole minute's share at first and fills evenly, so that it is full again a minute after the
//! last one at the latest, whatever the limit: then it says nothing and is forgotten.

use chat::{CommunityId, PersonId};
use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const PARTS: usize = 16;
/// People of whom it is counted what they took in the last minute, in each part. Past it everybody new shares one bucket,
/// which takes more requests than a store can answer.
const PEOPLE_MAX: usize = 100_000;
/// After so many requests, what is full again is looked for and forgotten.
const SWEEP_EVERY: u32 = 10_000;
const MINUTE: Duration = Duration::from_secs(60);

type Person = (CommunityId, PersonId);

/// See the module.
pub(crate) struct Budgets {
    hasher: RandomState,
    parts: [Mutex<Part>; PARTS],
}

#[derive(Default)]
struct Part {
    budgets: HashMap<Option<Person>, Budget>,
    spent: u32,
}

impl Budgets {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::new(), parts: std::array::from_fn(|_| Mutex::default()) }
    }

    /// Takes so much of a person's minute, or says how many milliseconds to wait for it.
    pub(crate) fn spend(
        &self,
        community: &CommunityId,
        person: &PersonId,
        cost: u32,
        per_minute: u32,
        now: Instant,
    ) -> Result<(), u64> {
        let key = (community.clone(), person.clone());
        let part = self.hasher.hash_one(&key) as usize % PARTS;
        self.parts[part].lock().unwrap_or_else(PoisonError::into_inner).spend(key, cost, per_minute, now)
    }
}

impl Part {
    fn spend(&mut self, person: Person, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        self.spent += 1;
        if self.spent >= SWEEP_EVERY {
            self.spent = 0;
            self.budgets.retain(|_, budget| !budget.is_full(now));
        }
        let key = Some(person);
        let known = self.budgets.len() < PEOPLE_MAX || self.budgets.contains_key(&key);
        self.budgets.entry(key.filter(|_| known)).or_default().spend(cost, per_minute, now)
    }
}

/// What a person has taken of a minute, on all devices together.
#[derive(Debug, Default)]
struct Budget {
    /// When nothing is taken any more.
    full: Option<Instant>,
}

impl Budget {
    fn spend(&mut self, cost: u32, per_minute: u32, now: Instant) -> Result<(), u64> {
        let each = MINUTE.checked_div(per_minute).unwrap_or(MINUTE);
        let taken = self.full.map_or(Duration::ZERO, |full| full.saturating_duration_since(now));
        let taken = taken.saturating_add(each.saturating_mul(cost));
        if taken > MINUTE {
            return Err(u64::try_from((taken - MINUTE).as_micros().div_ceil(1_000)).unwrap_or(u64::MAX));
        }
        self.full = Some(now + taken);
        Ok(())
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
        assert_eq!(budgets.spend(&id("one"), &somebody("ann"), 1, 1, now), Ok(()));
        assert!(budgets.spend(&id("one"), &somebody("ann"), 1, 1, now).is_err());
        assert_eq!(budgets.spend(&id("one"), &somebody("bob"), 1, 1, now), Ok(()));
        assert_eq!(budgets.spend(&id("two"), &somebody("ann"), 1, 1, now), Ok(()));
    }

    #[test]
    fn who_was_quiet_for_a_minute_is_forgotten() {
        let (mut part, start) = (Part::default(), Instant::now());
        let name = |nth: u32| (id("one"), somebody(&format!("p{nth}")));
        for nth in 1..SWEEP_EVERY {
            part.spend(name(nth), 1, 9, start).expect("the first one");
        }
        part.spend(name(0), 1, 9, start + MINUTE).expect("the first one");
        assert_eq!(part.budgets.len(), 1);
    }

    #[test]
    fn past_the_bound_newcomers_share_one_bucket_and_nobody_else_notices() {
        let (mut part, now) = (Part::default(), Instant::now());
        let name = |nth: usize| (id("one"), somebody(&format!("p{nth}")));
        for nth in 0..PEOPLE_MAX {
            part.spend(name(nth), 1, 2, now).expect("the first one");
        }
        assert_eq!(part.spend(name(PEOPLE_MAX), 1, 1, now), Ok(()));
        assert!(part.spend(name(PEOPLE_MAX + 1), 1, 1, now).is_err());
        assert_eq!(part.spend(name(0), 1, 2, now), Ok(()));
    }
}
