//! Which users of a run are played by one machine or by one of its shards.

use std::fmt;

use crate::draw::WeightError;
use crate::observe::UserId;

/// Maximum length of the cycle in which machines take turns; weights are accurate to one part in it.
pub const CYCLE_MAX: usize = 1024;

/// A subset of the run's users. The shares of all machines and shards together contain every user exactly once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Share {
    /// Positions of this machine in the machines' cycle, ascending.
    places: Vec<u32>,
    /// Length of the cycle.
    cycle: u32,
    /// Selects every `shards`-th of this machine's users, counted from 0, beginning with `shard`.
    shard: u32,
    shards: u32,
}

/// Why a share cannot be formed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ShareError {
    /// The machines' weights are invalid.
    Weights(WeightError),
    /// There is no machine or shard with this index.
    NoSuchPart {
        /// The requested index, from 0.
        part: usize,
        /// How many there are.
        parts: usize,
    },
    /// More machines than [`CYCLE_MAX`].
    TooManyMachines {
        /// How many there are.
        machines: usize,
    },
}

impl fmt::Display for ShareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weights(error) => write!(f, "the machines' weights: {error}"),
            Self::NoSuchPart { part, parts } => {
                write!(f, "part {part} of {parts} does not exist; the first is 0")
            }
            Self::TooManyMachines { machines } => {
                write!(f, "too many machines: {machines}, at most {CYCLE_MAX}")
            }
        }
    }
}

impl std::error::Error for ShareError {}

impl Share {
    /// Returns the share of all users.
    #[must_use]
    pub fn whole() -> Self {
        Self { places: vec![0], cycle: 1, shard: 0, shards: 1 }
    }

    /// Returns the users of machine `machine`, from 0, among machines with these weights. A machine of weight 0 plays
    /// nobody.
    ///
    /// # Errors
    /// [`ShareError`] if the weights are invalid or there is no such machine.
    pub fn of_machine(weights: &[f64], machine: usize) -> Result<Self, ShareError> {
        if weights.len() > CYCLE_MAX {
            return Err(ShareError::TooManyMachines { machines: weights.len() });
        }
        crate::draw::Weighted::new(weights).map_err(ShareError::Weights)?;
        if machine >= weights.len() {
            return Err(ShareError::NoSuchPart { part: machine, parts: weights.len() });
        }
        let turns = turns(weights);
        let cycle = turns.iter().sum();
        Ok(Self { places: places(&turns, cycle, machine), cycle, shard: 0, shards: 1 })
    }

    /// Returns the part of these users that belongs to shard `shard`, from 0, of `shards`.
    ///
    /// # Errors
    /// [`ShareError::NoSuchPart`].
    pub fn of_shard(&self, shard: usize, shards: usize) -> Result<Self, ShareError> {
        let parts = u32::try_from(shards).ok().and_then(|shards| self.shards.checked_mul(shards));
        match (u32::try_from(shard), parts) {
            (Ok(number), Some(parts)) if shard < shards => {
                Ok(Self { shard: self.shard + self.shards * number, shards: parts, ..self.clone() })
            }
            (_, _) => Err(ShareError::NoSuchPart { part: shard, parts: shards }),
        }
    }

    /// Returns the number of the share's user `nth`, from 0, in ascending order; `None` beyond the largest possible
    /// user number.
    #[must_use]
    pub fn user(&self, nth: u64) -> Option<UserId> {
        let per_cycle = self.places.len() as u64;
        let on_machine = nth.checked_mul(u64::from(self.shards))?.checked_add(u64::from(self.shard))?;
        let place = *self.places.get(on_machine.checked_rem(per_cycle)? as usize)?;
        let user =
            (on_machine / per_cycle).checked_mul(u64::from(self.cycle))?.checked_add(u64::from(place))?;
        UserId::try_from(user).ok()
    }

    /// Returns the share's fraction of all users, 0 … 1.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        self.places.len() as f64 / f64::from(self.cycle) / f64::from(self.shards)
    }

    /// Returns how many of the run's first `users` users belong to the share.
    #[must_use]
    pub fn count_of(&self, users: u64) -> u64 {
        let cycle = u64::from(self.cycle);
        let in_last = self.places.partition_point(|&place| u64::from(place) < users % cycle) as u64;
        let on_machine = (users / cycle).saturating_mul(self.places.len() as u64).saturating_add(in_last);
        on_machine.saturating_sub(u64::from(self.shard)).div_ceil(u64::from(self.shards))
    }
}

/// Computes each machine's turns per cycle: exactly where a cycle of at most [`CYCLE_MAX`] allows it, otherwise by
/// largest remainder.
fn turns(weights: &[f64]) -> Vec<u32> {
    let sum: f64 = weights.iter().sum();
    let wanted = |cycle: usize| weights.iter().map(move |weight| weight / sum * cycle as f64);
    let is_exact = |cycle: &usize| {
        wanted(*cycle).zip(weights).all(|(turns, &weight)| {
            (turns - turns.round()).abs() < 1e-9 && (weight == 0.0 || turns.round() >= 1.0)
        })
    };
    if let Some(cycle) = (1..=CYCLE_MAX).find(is_exact) {
        return wanted(cycle).map(|turns| turns.round() as u32).collect();
    }
    let mut turns: Vec<u32> = wanted(CYCLE_MAX)
        .zip(weights)
        .map(|(turns, &weight)| if weight > 0.0 { turns.max(1.0) as u32 } else { 0 })
        .collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).filter(|&machine| weights[machine] > 0.0).collect();
    let remainders: Vec<f64> = wanted(CYCLE_MAX).map(f64::fract).collect();
    by_remainder.sort_by(|&a, &b| remainders[b].total_cmp(&remainders[a]));
    let missing = (CYCLE_MAX as u32).saturating_sub(turns.iter().sum());
    for &machine in by_remainder.iter().take(missing as usize) {
        turns[machine] += 1;
    }
    turns
}

/// Returns the positions of one machine when the turns of all are distributed as evenly as possible: each position goes
/// to the machine that is furthest behind its weight.
fn places(turns: &[u32], cycle: u32, machine: usize) -> Vec<u32> {
    let mut owed = vec![0_i64; turns.len()];
    let mut places = Vec::new();
    for place in 0..cycle {
        owed.iter_mut().zip(turns).for_each(|(owed, &turns)| *owed += i64::from(turns));
        let next = (0..owed.len()).rev().max_by_key(|&candidate| owed[candidate]).unwrap_or(0);
        owed[next] -= i64::from(cycle);
        if next == machine {
            places.push(place);
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_shares_of_all_machines_and_shards_hold_every_user_once(
            weights in prop::collection::vec(prop_oneof![Just(0.0), 0.01..100.0_f64, (1..5_u8).prop_map(f64::from)], 1..6),
            shards in 1..7_usize,
            users in 0..5_000_u64,
        ) {
            prop_assume!(weights.iter().any(|&weight| weight > 0.0));
            let mut owners = vec![0_u32; users as usize];
            for machine in 0..weights.len() {
                let whole = Share::of_machine(&weights, machine).expect("there is such a machine");
                for shard in 0..shards {
                    let share = whole.of_shard(shard, shards).expect("there is such a shard");
                    let count = share.count_of(users);
                    let mut last = None;
                    for nth in 0..count {
                        let user = share.user(nth).expect("users have 32 bits");
                        prop_assert!(Some(user) > last);
                        last = Some(user);
                        owners[user as usize] += 1;
                    }
                    let next = share.user(count).map_or(u64::MAX, u64::from);
                    prop_assert!(next >= users, "the next belongs to those after");
                }
            }
            prop_assert!(owners.iter().all(|&owners| owners == 1));
        }
    }

    #[test]
    fn machines_play_what_their_weights_say() {
        let table: [(&[f64], &[u64]); 4] = [
            (&[1.0], &[1_000]),
            (&[1.0, 1.0], &[500, 500]),
            (&[3.0, 1.0], &[750, 250]),
            (&[0.5, 0.0, 0.75], &[400, 0, 600]),
        ];
        for (weights, expected) in table {
            for (machine, &expected) in expected.iter().enumerate() {
                let share = Share::of_machine(weights, machine).expect("there is such a machine");
                assert_eq!(share.count_of(1_000), expected, "{weights:?}");
            }
        }
        // No short cycle fits these weights; they hold to one part in 1024, and no machine is left out.
        let weights = [std::f64::consts::PI, 1.0, 0.0001];
        let counts = [0, 1, 2].map(|machine| {
            Share::of_machine(&weights, machine).expect("there is such a machine").count_of(102_400)
        });
        let sum: f64 = weights.iter().sum();
        for (count, weight) in counts.into_iter().zip(weights) {
            assert!((count as f64 / 102_400.0 - weight / sum).abs() < 2.0 / 1024.0, "{counts:?}");
        }
        assert!(counts[2] > 0);
    }

    #[test]
    fn machines_take_their_turns_evenly() {
        let share = Share::of_machine(&[3.0, 1.0], 1).expect("there is such a machine");
        let users: Vec<_> = (0..4).filter_map(|nth| share.user(nth)).collect();
        assert!(users.windows(2).all(|pair| pair[1] - pair[0] == 4), "{users:?}");
    }

    #[test]
    fn parts_that_are_none_are_named() {
        let error = |share: Result<Share, ShareError>| share.expect_err("there is no such part").to_string();
        assert_eq!(error(Share::of_machine(&[1.0], 1)), "part 1 of 1 does not exist; the first is 0");
        assert_eq!(error(Share::whole().of_shard(3, 3)), "part 3 of 3 does not exist; the first is 0");
        assert_eq!(error(Share::whole().of_shard(0, 0)), "part 0 of 0 does not exist; the first is 0");
        assert_eq!(error(Share::of_machine(&[1.0; 1025], 0)), "too many machines: 1025, at most 1024");
        assert!(error(Share::of_machine(&[0.0], 0)).starts_with("the machines' weights: "));
    }

    #[test]
    fn numbers_end_with_the_last_user() {
        let share = Share::whole().of_shard(1, 2).expect("there is such a shard");
        assert_eq!(share.user(u64::from(u32::MAX) / 2), Some(u32::MAX));
        assert_eq!(share.user(u64::from(u32::MAX) / 2 + 1), None);
        assert_eq!(share.user(u64::MAX), None);
    }
}
