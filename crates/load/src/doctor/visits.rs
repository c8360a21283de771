//! Computes the number of concurrent users from the arrival rate and the length of a visit.
//!
//! Uses Little's law, as is usual in sizing web tests: the mean number of users present is the arrival rate times the
//! mean visit. 10,000 members an hour who stay 20 minutes are 3,333 simultaneous users.

use std::error::Error;
use std::fmt;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// An invalid arrival rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BadRate(
    /// Members per hour, as given.
    pub f64,
);

impl fmt::Display for BadRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} members per hour is not a rate: it must be a number, 0 or more", self.0)
    }
}

impl Error for BadRate {}

/// Returns the mean number of simultaneous users, not rounded.
///
/// # Errors
/// If the rate is negative, infinite or not a number.
pub fn simultaneous(members_per_hour: f64, visit: Duration) -> Result<f64, BadRate> {
    check(members_per_hour)?;
    Ok(members_per_hour * (visit.as_secs_f64() / HOUR.as_secs_f64()))
}

/// Returns the number of users to simulate: rounded down, as the original's figures are, but at least one if there are
/// any arrivals.
///
/// # Errors
/// As [`simultaneous`].
pub fn users(members_per_hour: f64, visit: Duration) -> Result<u64, BadRate> {
    let mean = simultaneous(members_per_hour, visit)?;
    // The product of a rate and a third of an hour may be slightly below the integer that it should be.
    let whole = (mean * (1.0 + f64::EPSILON)).floor() as u64;
    Ok(if mean > 0.0 { whole.max(1) } else { 0 })
}

/// Returns the arrivals per second that keep the number of users constant.
///
/// # Errors
/// As [`simultaneous`].
pub fn arrivals_per_second(members_per_hour: f64) -> Result<f64, BadRate> {
    check(members_per_hour)?;
    Ok(members_per_hour / HOUR.as_secs_f64())
}

fn check(members_per_hour: f64) -> Result<(), BadRate> {
    if members_per_hour.is_finite() && members_per_hour >= 0.0 {
        Ok(())
    } else {
        Err(BadRate(members_per_hour))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_published_scenarios_are_computed_as_published() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        for (members_per_hour, visit, expected) in [
            (10_000.0, minutes(20), 3333),
            (20_000.0, minutes(20), 6666),
            (1_000.0, minutes(60), 1000),
            (3.0, minutes(20), 1),
            (300.0, minutes(20), 100),
            (1.0, minutes(1), 1),
            (0.0, minutes(20), 0),
            (10.0, Duration::ZERO, 0),
            (1e30, minutes(20), u64::MAX),
        ] {
            assert_eq!(users(members_per_hour, visit), Ok(expected), "{members_per_hour} for {visit:?}");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let error = users(bad, HOUR).expect_err("no rate");
            assert!(error.to_string().contains("is not a rate"), "{error}");
            assert!(arrivals_per_second(bad).is_err());
        }
    }

    proptest! {
        #[test]
        fn arrivals_times_stay_is_the_crowd(members in 0.0_f64..1e9, seconds in 0_u64..1_000_000) {
            let stay = Duration::from_secs(seconds);
            let crowd = simultaneous(members, stay).expect("a rate");
            let again = arrivals_per_second(members).expect("a rate") * stay.as_secs_f64();
            prop_assert!((crowd - again).abs() <= crowd * 1e-9);
            prop_assert!(users(members, stay).expect("a rate") as f64 <= crowd.max(1.0) + 1.0);
        }
    }
}
