//! Requests without credentials that count, by the address that they come from: looked at before anything is verified, so
//! that guessing costs little and ends soon.

use crate::problem::Problem;
use crate::rates::{Rate, Rates};
use chat::Moment;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a request comes from: an extension of requests, by who serves the routes. Without it nobody is told apart, and
/// nothing is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Remote(pub IpAddr);

/// What addresses have left.
pub(crate) struct Strangers {
    rates: Mutex<Rates<IpAddr>>,
}

impl Strangers {
    pub(crate) fn new(rate: Rate) -> Self {
        Self { rates: Mutex::new(Rates::new(rate)) }
    }

    /// Lets pass addresses that have something left, and takes nothing.
    ///
    /// # Errors
    /// How long to wait.
    pub(crate) fn admit(&self, remote: Option<Remote>, now: Moment) -> Result<(), Problem> {
        let wait = remote.and_then(|remote| self.rates().wait(network(remote), now.millis()));
        wait.map_or(Ok(()), |wait_ms| Err(Problem::address_limited(wait_ms)))
    }

    /// A request showed nothing that counts.
    ///
    /// # Errors
    /// How long to wait, if the address has nothing left.
    pub(crate) fn count(&self, remote: Option<Remote>, now: Moment) -> Result<(), Problem> {
        let Some(remote) = remote else { return Ok(()) };
        self.rates().take(network(remote), now.millis()).map_err(Problem::address_limited)
    }

    fn rates(&self) -> MutexGuard<'_, Rates<IpAddr>> {
        self.rates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whoever has an IPv6 address has a network of 64 bits with it (RFC 4291, section 2.5.4).
fn network(Remote(address): Remote) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let bits = u128::from(address) >> 64 << 64;
            IpAddr::V6(Ipv6Addr::from(bits))
        }
        v4 @ IpAddr::V4(_) => v4,
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
        let (strangers, now) = (Strangers::new(RATE), Moment::from_millis(1_000));
        let (one, other) = (from("192.0.2.1"), from("192.0.2.2"));
        assert!(strangers.admit(one, now).is_ok());
        assert!(strangers.count(one, now).is_ok());
        assert!(strangers.admit(one, now).is_err());
        assert!(strangers.count(one, now).is_err());
        assert!(strangers.admit(other, now).is_ok());
        assert!(strangers.admit(one, Moment::from_millis(2_000)).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_and_so_is_ipv4_in_ipv6() {
        for (one, other) in [("2001:db8::1", "2001:db8::ffff:2"), ("::ffff:192.0.2.1", "192.0.2.1")] {
            let (strangers, now) = (Strangers::new(RATE), Moment::from_millis(1_000));
            assert!(strangers.count(from(one), now).is_ok());
            assert!(strangers.admit(from(other), now).is_err(), "{one} {other}");
        }
    }

    #[test]
    fn whose_address_is_not_known_is_not_counted() {
        let (strangers, now) = (Strangers::new(RATE), Moment::from_millis(1_000));
        for _ in 0..9 {
            assert!(strangers.admit(None, now).is_ok() && strangers.count(None, now).is_ok());
        }
    }
}
