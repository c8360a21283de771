//! How often somebody may ask: token buckets, pure.
//!
//! A bucket holds a whole allowance at first, loses one per request, and fills evenly. A bucket that is full again says
//! nothing and is forgotten, so memory is bounded by those who asked lately, and by [`BUCKETS_MAX`].

use std::collections::HashMap;
use std::hash::Hash;

/// Buckets that are remembered. Past it everybody new shares one, which only an attack brings about.
const BUCKETS_MAX: usize = 100_000;
/// After so many requests, full buckets are looked for and forgotten: the cost of looking is spread over them.
const SWEEP_EVERY: u32 = 10_000;

/// How often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rate {
    /// Requests at once, after a pause.
    pub burst: u32,
    /// Requests a minute for ever; at least 1.
    pub per_minute: u32,
}

/// What a request takes of a bucket, so that a bucket gains [`Rate::per_minute`] of it in each millisecond.
const REQUEST: u64 = 60_000;

impl Rate {
    const fn full(self) -> u64 {
        self.burst as u64 * REQUEST
    }

    /// How many milliseconds a bucket fills until a request fits.
    fn until_one(self, left: u64) -> Option<u64> {
        let missing = REQUEST.checked_sub(left).filter(|missing| *missing > 0)?;
        Some(missing.div_ceil(u64::from(self.per_minute.max(1))))
    }
}

/// One bucket for each key.
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

    /// Takes one.
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

    /// How many milliseconds to wait until one could be taken; nothing is taken.
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
