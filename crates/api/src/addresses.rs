//! Requests by the address that they come from, so many for each: those without credentials that count, which are looked at
//! before anything is verified, so that guessing costs little and ends soon; and those of people, however many they are.

use crate::problem::Problem;
use crate::rates::{Rate, Rates};
use chat::Moment;
use messenger::network;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a request comes from: an extension of requests, by who serves the routes. Without it nobody is told apart, and
/// nothing is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote(pub IpAddr);

/// What addresses have left of one rate. Those of one network are one ([`network`]).
pub(crate) struct Addresses {
    rates: Mutex<Rates<IpAddr>>,
    refuse: fn(u64) -> Problem,
    refused: AtomicU64,
}

impl Addresses {
    /// So many requests of each; past it a request is what `refuse` makes of the milliseconds to wait.
    pub(crate) fn new(rate: Rate, refuse: fn(u64) -> Problem) -> Self {
        Self { rates: Mutex::new(Rates::new(rate)), refuse, refused: AtomicU64::new(0) }
    }

    /// Lets pass addresses that have something left, and takes nothing.
    ///
    /// # Errors
    /// How long to wait.
    pub(crate) fn admit(&self, remote: Option<Remote>, now: Moment) -> Result<(), Problem> {
        let wait = remote.and_then(|Remote(address)| self.rates().wait(network(address), now.millis()));
        wait.map_or(Ok(()), |wait_ms| Err(self.refusal(wait_ms)))
    }

    /// Takes one.
    ///
    /// # Errors
    /// How long to wait, if the address has nothing left.
    pub(crate) fn count(&self, remote: Option<Remote>, now: Moment) -> Result<(), Problem> {
        let Some(Remote(address)) = remote else { return Ok(()) };
        let taken = self.rates().take(network(address), now.millis());
        taken.map_err(|wait_ms| self.refusal(wait_ms))
    }

    /// Requests that were refused since the start.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    fn refusal(&self, wait_ms: u64) -> Problem {
        self.refused.fetch_add(1, Ordering::Relaxed);
        (self.refuse)(wait_ms)
    }

    fn rates(&self) -> MutexGuard<'_, Rates<IpAddr>> {
        self.rates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 1, per_minute: 60 };

    fn from(address: &str) -> Option<Remote> {
        Some(Remote(address.parse().expect("an address")))
    }

    #[test]
    fn an_address_that_has_nothing_left_waits_and_others_do_not() {
        let (addresses, now) = (Addresses::new(RATE, Problem::address_limited), Moment::from_millis(1_000));
        let (one, other) = (from("192.0.2.1"), from("192.0.2.2"));
        assert!(addresses.admit(one, now).is_ok());
        assert!(addresses.count(one, now).is_ok());
        assert!(addresses.admit(one, now).is_err());
        assert!(addresses.count(one, now).is_err());
        assert_eq!(addresses.refused(), 2);
        assert!(addresses.admit(other, now).is_ok());
        assert!(addresses.admit(one, Moment::from_millis(2_000)).is_ok());
    }

    #[test]
    fn whose_address_is_not_known_is_not_counted() {
        let (addresses, now) = (Addresses::new(RATE, Problem::address_limited), Moment::from_millis(1_000));
        for _ in 0..9 {
            assert!(addresses.admit(None, now).is_ok() && addresses.count(None, now).is_ok());
        }
    }
}
