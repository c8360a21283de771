//! What a scenario may draw numbers from.

use std::time::Duration;

use rand::distr::Distribution as _;
use rand_distr::{Exp1, StandardNormal, Zipf};

use crate::draw::Rng;

/// The longest pause that is drawn, whatever the distribution says: a year.
pub const DURATION_MAX: Duration = Duration::from_secs(366 * 24 * 3600);

/// A distribution of numbers. What the numbers are (seconds, bytes, rooms) is said where it stands; pauses are in
/// seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution {
    /// Always the same.
    Constant(f64),
    /// Evenly between the two; for whole numbers both ends belong to it.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Normal with mean and standard deviation, cut at 0.
    Normal(f64, f64),
    /// Log-normal, given by its median and the standard deviation of its logarithm.
    LogNormal(f64, f64),
    /// Whole numbers from 1 to `count`, the k-th as likely as 1 / k^`exponent`: hot keys.
    Zipf {
        /// How many numbers, at least 1.
        count: u64,
        /// How steep, 0 (all alike) or more.
        exponent: f64,
    },
}

impl Distribution {
    /// Draws a number. A normal one below 0 becomes 0. Parameters that make no sense give no panic: a Zipf with a
    /// negative exponent is drawn as if it were 0.
    pub fn sample(&self, rng: &mut Rng) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Uniform(from, to) => from + (to - from) * rng.unit(),
            Self::Exponential(mean) => mean * rng.exponential(),
            Self::Normal(mean, deviation) => (mean + deviation * rng.normal()).max(0.0),
            Self::LogNormal(median, deviation) => median * (deviation * rng.normal()).exp(),
            Self::Zipf { count, exponent } => match Zipf::new(count as f64, exponent) {
                Ok(zipf) => zipf.sample(rng).min(count as f64),
                Err(_) => 1.0 + rng.below(count.max(1)) as f64,
            },
        }
    }

    /// Draws a whole number: rounded to the nearest, never below 0. Of a uniform distribution every whole number from
    /// one end to the other is as likely.
    pub fn sample_whole(&self, rng: &mut Rng) -> u64 {
        match *self {
            Self::Uniform(from, to) => {
                let (from, to) = (from.min(to).ceil().max(0.0) as u64, from.max(to).floor().max(0.0) as u64);
                from.saturating_add(rng.below(to.saturating_sub(from).saturating_add(1)))
            }
            Self::Constant(_)
            | Self::Exponential(_)
            | Self::Normal(..)
            | Self::LogNormal(..)
            | Self::Zipf { .. } => self.sample(rng).round() as u64,
        }
    }

    /// Draws a number of seconds; below 0 becomes 0, and above [`DURATION_MAX`] that.
    pub fn sample_duration(&self, rng: &mut Rng) -> Duration {
        Duration::from_secs_f64(self.sample(rng).max(0.0).min(DURATION_MAX.as_secs_f64()))
    }
}

impl Rng {
    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(self)
    }

    /// Normal with mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }
}
