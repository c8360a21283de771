//! Rate limits per address: of requests without valid credentials, checked before anything is verified, so that
//! guessing is cheap to refuse and soon stopped; and of people's requests, however many people share the address.

use crate::problem::Problem;
use messenger::network;
use rates::{Budgets, Rate};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The address that a request comes from: a request extension, set by the server that mounts the routes. Without it,
/// nothing is counted per address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote(pub IpAddr);

/// The buckets of all addresses for one rate. Addresses of one network share a bucket ([`network`]).
pub(crate) struct Addresses {
    rate: Rate,
    budgets: Budgets<IpAddr>,
    refuse: fn(u64) -> Problem,
    refused: AtomicU64,
}

impl Addresses {
    /// Limits each address to `rate`; beyond it, `refuse` makes a problem of the milliseconds to wait.
    pub(crate) fn new(rate: Rate, refuse: fn(u64) -> Problem) -> Self {
        Self { rate, budgets: Budgets::default(), refuse, refused: AtomicU64::new(0) }
    }

    /// Checks that an address has something left, without taking it.
    ///
    /// # Errors
    /// The address has nothing left; the problem says how long to wait.
    pub(crate) fn admit(&self, remote: Option<Remote>, now: Instant) -> Result<(), Problem> {
        let wait = remote.and_then(|Remote(address)| self.budgets.wait(network(address), self.rate, now));
        wait.map_or(Ok(()), |wait_ms| Err(self.refusal(wait_ms)))
    }

    /// Takes one request from an address's bucket.
    ///
    /// # Errors
    /// The address has nothing left; the problem says how long to wait.
    pub(crate) fn count(&self, remote: Option<Remote>, now: Instant) -> Result<(), Problem> {
        let Some(Remote(address)) = remote else { return Ok(()) };
        let spent = self.budgets.spend(network(address), 1, self.rate, now);
        spent.map_err(|wait_ms| self.refusal(wait_ms))
    }

    /// Returns how many requests were refused since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn refusal(&self, wait_ms: u64) -> Problem {
        self.refused.fetch_add(1, Ordering::Relaxed);
        (self.refuse)(wait_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const RATE: Rate = Rate { burst: 1, per_minute: 60 };

    fn from(address: &str) -> Option<Remote> {
        Some(Remote(address.parse().expect("an address")))
    }

    #[test]
    fn an_address_that_has_nothing_left_waits_and_others_do_not() {
        let (addresses, now) = (Addresses::new(RATE, Problem::address_limited), Instant::now());
        let (one, other) = (from("192.0.2.1"), from("192.0.2.2"));
        assert!(addresses.admit(one, now).is_ok());
        assert!(addresses.count(one, now).is_ok());
        assert!(addresses.admit(one, now).is_err());
        assert!(addresses.count(one, now).is_err());
        assert_eq!(addresses.refused(), 2);
        assert!(addresses.admit(other, now).is_ok());
        assert!(addresses.admit(one, now + Duration::from_secs(1)).is_ok());
    }

    #[test]
    fn whose_address_is_not_known_is_not_counted() {
        let (addresses, now) = (Addresses::new(RATE, Problem::address_limited), Instant::now());
        for _ in 0..9 {
            assert!(addresses.admit(None, now).is_ok() && addresses.count(None, now).is_ok());
        }
    }
}
