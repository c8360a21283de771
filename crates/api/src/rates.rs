//! Rate limits: token buckets, as pure state.
//!
//! A bucket starts full, each request takes a share of it, and it refills evenly. A full bucket carries no information
//! and is dropped, so memory is bounded by recent requesters, and by [`BUCKETS_MAX`].

use std::collections::HashMap;
use std::hash::Hash;

/// Buckets that are kept. Beyond it all new keys share one; only an attack causes that.
const BUCKETS_MAX: usize = 100_000;
/// After so many requests, full buckets are searched for and dropped, so that the cost of the search is amortized.
const SWEEP_EVERY: u32 = 10_000;

/// A rate limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Requests in a burst, after a pause.
    pub burst: u32,
    /// Sustained requests per minute; at least 1.
    pub per_minute: u32,
}

/// The cost of a request, in units of which a bucket gains [`Rate::per_minute`] per millisecond.
const REQUEST: u64 = 60_000;

impl Rate {
    const fn full(self) -> u64 {
        self.burst as u64 * REQUEST
    }

    /// Returns how many milliseconds a bucket has to refill before a request fits.
    fn until_one(self, left: u64) -> Option<u64> {
        let missing = REQUEST.checked_sub(left).filter(|missing| *missing > 0)?;
        Some(missing.div_ceil(u64::from(self.per_minute.max(1))))
    }
}

/// One bucket per key.
pub(crate) struct Rates<K> {
    rate: Rate,
    buckets: HashMap<Option<K>, Bucket>,
    asked: u32,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: u64,
    at_ms: u64,
}

impl<K: Eq + Hash> Rates<K> {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rate, buckets: HashMap::new(), asked: 0 }
    }

    /// Takes one request.
    ///
    /// # Errors
    /// How many milliseconds to wait.
    pub(crate) fn take(&mut self, key: K, now_ms: u64) -> Result<(), u64> {
        self.asked += 1;
        if self.asked >= SWEEP_EVERY {
            self.sweep(now_ms);
        }
        let known = Some(key);
        let key =
            if self.buckets.len() < BUCKETS_MAX || self.buckets.contains_key(&known) { known } else { None };
        let rate = self.rate;
        let full = Bucket { left: rate.full(), at_ms: now_ms };
        let bucket = self.buckets.entry(key).or_insert(full);
        *bucket = bucket.at(now_ms, rate);
        if let Some(wait_ms) = rate.until_one(bucket.left) {
            return Err(wait_ms);
        }
        bucket.left -= REQUEST;
        Ok(())
    }

    /// Returns how many milliseconds to wait until one can be taken, without taking it.
    pub(crate) fn wait(&self, key: K, now_ms: u64) -> Option<u64> {
        let bucket = self.buckets.get(&Some(key))?.at(now_ms, self.rate);
        self.rate.until_one(bucket.left)
    }

    fn sweep(&mut self, now_ms: u64) {
        self.asked = 0;
        let rate = self.rate;
        self.buckets.retain(|_, bucket| bucket.at(now_ms, rate).left < rate.full());
    }
}

impl Bucket {
    fn at(self, now_ms: u64, rate: Rate) -> Self {
        let waited_ms = now_ms.saturating_sub(self.at_ms);
        let gained = waited_ms.saturating_mul(u64::from(rate.per_minute));
        let left = self.left.saturating_add(gained).min(rate.full());
        Self { left, at_ms: now_ms.max(self.at_ms) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 2, per_minute: 600 };

    #[test]
    fn who_asks_too_often_learns_how_long_to_wait_and_others_do_not_notice() {
        let mut rates = Rates::new(RATE);
        assert_eq!([rates.take("a", 0), rates.take("a", 0)], [Ok(()), Ok(())]);
        assert_eq!(rates.take("a", 0), Err(100));
        assert_eq!(rates.take("b", 0), Ok(()));
        assert_eq!(rates.take("a", 99), Err(1));
        assert_eq!(rates.take("a", 100), Ok(()));
    }

    #[test]
    fn to_ask_how_long_takes_nothing() {
        let mut rates = Rates::new(RATE);
        assert_eq!([rates.wait("a", 0), rates.wait("a", 0)], [None, None]);
        assert_eq!([rates.take("a", 0), rates.take("a", 0)], [Ok(()), Ok(())]);
        assert_eq!(
            [rates.wait("a", 0), rates.wait("a", 40), rates.wait("a", 100)],
            [Some(100), Some(60), None]
        );
    }

    #[test]
    fn a_clock_that_goes_back_gives_and_takes_nothing() {
        let mut rates = Rates::new(RATE);
        assert_eq!([rates.take("a", 5_000), rates.take("a", 1_000)], [Ok(()), Ok(())]);
        assert_eq!(rates.take("a", 1_000), Err(100));
    }

    #[test]
    fn those_who_asked_long_ago_are_forgotten() {
        let mut rates = Rates::new(RATE);
        for one in 0..SWEEP_EVERY - 1 {
            assert_eq!(rates.take(one, 0), Ok(()));
        }
        assert_eq!(rates.take(SWEEP_EVERY, 60_000), Ok(()));
        assert_eq!(rates.buckets.len(), 1);
    }
}
