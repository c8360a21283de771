//! What a run is started with besides its plan.

use std::time::Instant;

use crate::observe::UserId;

/// How this machine plays its part of a plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads with connections; `None` is one a core, and more where the descriptor limit asks for it.
    pub shards: Option<usize>,
    /// Which users this machine plays.
    pub share: Share,
    /// The moment that all times count from. It may lie in the future, so that several machines start together.
    pub start: Instant,
    /// The same moment in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Tells the messages of this run from those of another one.
    pub run_tag: u16,
}

/// Which users of the plan a machine plays.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// This machine's place in `weights`.
    pub index: usize,
    /// How much of the load each machine takes, at least one; above 0.
    pub weights: Vec<f64>,
}

impl Share {
    /// One machine plays everybody.
    #[must_use]
    pub fn whole() -> Self {
        Self { index: 0, weights: vec![1.0] }
    }

    /// Whether the share names one of its machines, and all weights are weights.
    pub(crate) fn is_sane(&self) -> bool {
        self.index < self.weights.len()
            && self.weights.iter().all(|weight| weight.is_finite() && *weight > 0.0)
    }

    /// Whether this machine plays a user. All machines find the same one for each, and among the first n users each
    /// machine has its part of them, give or take a few.
    pub(crate) fn has(&self, user: UserId) -> bool {
        if let [_] = self.weights[..] {
            return true;
        }
        // Multiples of the golden ratio lie evenly between 0 and 1 (Weyl): no run of users is all on one machine.
        let place = f64::from(user.wrapping_mul(0x9e37_79b9)) / (f64::from(u32::MAX) + 1.0);
        let sum: f64 = self.weights.iter().sum();
        let before: f64 = self.weights[..self.index].iter().sum();
        let from = before / sum;
        let to = if self.index + 1 == self.weights.len() { 1.0 } else { (before + self.weights[self.index]) / sum };
        from <= place && place < to
    }

    /// The part of all users that this machine plays, 0 … 1.
    pub(crate) fn fraction(&self) -> f64 {
        self.weights[self.index] / self.weights.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_user_is_played_by_exactly_one_machine_in_proportion() {
        let weights = vec![1.0, 2.0, 1.0];
        let shares: Vec<Share> = (0..3).map(|index| Share { index, weights: weights.clone() }).collect();
        let mut counts = [0; 3];
        for user in 0..40_000 {
            let players: Vec<usize> = (0..3).filter(|&index| shares[index].has(user)).collect();
            let [player] = players[..] else { panic!("user {user} is played by {players:?}") };
            counts[player] += 1;
        }
        for (count, expected) in counts.into_iter().zip([10_000_i32, 20_000, 10_000]) {
            assert!((count - expected).abs() <= 10, "{counts:?}");
        }
        assert!((0..100).all(|user| Share::whole().has(user)));
        assert!(!Share { index: 1, weights: vec![1.0] }.is_sane());
    }
}
