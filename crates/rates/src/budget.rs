//! One bucket.

use crate::rate::Rate;
use std::time::{Duration, Instant};

/// What was taken from a bucket.
#[derive(Debug, Default)]
pub(crate) struct Budget {
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
    pub(crate) fn spend(&mut self, cost: u32, rate: Rate, now: Instant) -> Result<(), u64> {
        if let Some(wait_ms) = self.wait(cost, rate, now) {
            return Err(wait_ms);
        }
        let since = self.taken.filter(|taken| taken.until > now).map_or(now, |taken| taken.since);
        self.taken = Some(Taken { since, until: now + self.taken_with(cost, rate, now) });
        Ok(())
    }

    pub(crate) fn give_back(&mut self, cost: u32, rate: Rate, taken_at: Instant) {
        // If the bucket was full in between, nothing taken before is missing.
        if let Some(taken) = self.taken.as_mut().filter(|taken| taken.since <= taken_at) {
            taken.until = taken.until.checked_sub(rate.refilling(cost)).unwrap_or(taken.since);
        }
    }

    /// Returns how many milliseconds to wait for `cost`.
    pub(crate) fn wait(&self, cost: u32, rate: Rate, now: Instant) -> Option<u64> {
        let over = self.taken_with(cost, rate, now).checked_sub(rate.filling())?;
        if over.is_zero() {
            return None;
        }
        Some(u64::try_from(over.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }

    fn taken_with(&self, cost: u32, rate: Rate, now: Instant) -> Duration {
        let taken = self.taken.map_or(Duration::ZERO, |taken| taken.until.saturating_duration_since(now));
        taken.saturating_add(rate.refilling(cost))
    }

    pub(crate) fn is_full(&self, now: Instant) -> bool {
        self.taken.is_none_or(|taken| taken.until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIXTY: Rate = Rate::per_minute(60);
    const TWO: Rate = Rate::per_minute(2);
    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_minutes_share_may_be_used_at_once_and_then_evenly() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        for _ in 0..60 {
            assert_eq!(budget.spend(1, SIXTY, start), Ok(()));
        }
        assert_eq!(budget.spend(1, SIXTY, start), Err(1_000));
        assert_eq!(budget.spend(1, SIXTY, start + Duration::from_millis(1_001)), Ok(()));
        assert!(budget.spend(1, SIXTY, start + Duration::from_millis(1_002)).is_err());
    }

    #[test]
    fn a_burst_may_be_less_than_a_minutes_share() {
        let rate = Rate { burst: 2, per_minute: 600 };
        let (mut budget, start) = (Budget::default(), Instant::now());
        assert_eq!([1, 2].map(|_| budget.spend(1, rate, start)), [Ok(()), Ok(())]);
        assert_eq!(budget.spend(1, rate, start), Err(100));
        assert_eq!(budget.spend(1, rate, start + Duration::from_millis(99)), Err(1));
        assert_eq!(budget.spend(1, rate, start + Duration::from_millis(100)), Ok(()));
        let later = start + MINUTE;
        assert_eq!([1, 2].map(|_| budget.spend(1, rate, later)), [Ok(()), Ok(())]);
        assert_eq!(
            budget.spend(1, rate, later),
            Err(100),
            "what was not used does not grow beyond the burst"
        );
    }

    #[test]
    fn with_a_rate_of_nothing_there_is_one_a_minute() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        assert_eq!(budget.spend(1, Rate::per_minute(0), start), Ok(()));
        assert_eq!(budget.spend(1, Rate::per_minute(0), start), Err(60_000));
        assert_eq!(budget.spend(1, Rate::per_minute(0), start + MINUTE), Ok(()));
    }

    #[test]
    fn what_costs_more_takes_more_and_is_waited_for_longer() {
        let (mut budget, now) = (Budget::default(), Instant::now());
        assert_eq!(budget.spend(50, SIXTY, now), Ok(()));
        assert_eq!(budget.spend(20, SIXTY, now), Err(10_000));
        assert_eq!(budget.spend(10, SIXTY, now), Ok(()));
        assert_eq!(budget.spend(1, SIXTY, now), Err(1_000));
        assert_eq!(budget.spend(20, SIXTY, now + Duration::from_secs(20)), Ok(()));
    }

    #[test]
    fn what_is_given_back_can_be_taken_again_and_no_more_than_that() {
        let (mut budget, start) = (Budget::default(), Instant::now());
        assert_eq!(budget.spend(2, TWO, start), Ok(()));
        budget.give_back(1, TWO, start);
        assert_eq!(budget.spend(1, TWO, start), Ok(()));
        assert_eq!(budget.spend(1, TWO, start), Err(30_000));
        // It was full in between.
        assert_eq!(budget.spend(2, TWO, start + MINUTE), Ok(()));
        budget.give_back(1, TWO, start);
        assert_eq!(budget.spend(1, TWO, start + MINUTE), Err(30_000));
    }
}
