//! Limits how often a client may do what is relayed to others without being stored.

use gateway::Micros;

/// Passes at most one typing notification per interval, and one end of typing after it.
#[derive(Default)]
pub(super) struct Throttle {
    /// When the next one may pass.
    next: Micros,
    on: bool,
}

const INTERVAL_US: u64 = 1_000_000;

impl Throttle {
    /// Returns whether this one passes.
    pub(super) fn passes(&mut self, on: bool, now: Micros) -> bool {
        if !on {
            return std::mem::take(&mut self.on);
        }
        let passes = now >= self.next;
        if passes {
            (self.next, self.on) = (now + INTERVAL_US, true);
        }
        passes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passes_each_second_and_its_end_once() {
        let mut throttle = Throttle::default();
        let table = [
            (false, 0, false),
            (true, 0, true),
            (true, 999_999, false),
            (false, 999_999, true),
            (false, 999_999, false),
            (true, 1_000_000, true),
            (true, 1_000_001, false),
        ];
        for (on, now, passes) in table {
            assert_eq!(throttle.passes(on, Micros(now)), passes, "{on} at {now}");
        }
    }
}
