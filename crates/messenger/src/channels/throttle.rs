//! How often a client may do what is passed on to others without being stored.

use gateway::Micros;

/// Lets one through each interval, and drops the others.
#[derive(Default)]
pub(super) struct Throttle {
    last: Option<Micros>,
}

const INTERVAL_US: u64 = 1_000_000;

impl Throttle {
    /// Whether this one passes.
    pub(super) fn passes(&mut self, now: Micros) -> bool {
        let passes = self.last.is_none_or(|last| now - last >= INTERVAL_US);
        if passes {
            self.last = Some(now);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passes_each_second() {
        let mut throttle = Throttle::default();
        let passed: Vec<bool> = [0, 1, 999_999, 1_000_000, 1_000_001]
            .map(|now| throttle.passes(Micros(now)))
            .into_iter()
            .collect();
        assert_eq!(passed, [true, false, false, true, false]);
    }
}
