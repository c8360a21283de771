//! The distributions that a scenario may sample from.

use std::time::Duration;

use rand::distr::Distribution as _;
use rand_distr::{Exp1, StandardNormal, Zipf};

use crate::draw::Rng;

/// Maximum sampled pause, whatever the distribution: one year.
pub const DURATION_MAX: Duration = Duration::from_secs(366 * 24 * 3600);

/// A distribution of numbers. Their unit (seconds, bytes, rooms) depends on the context; pauses are in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Distribution {
    /// Always the same value.
    Constant(f64),
    /// Uniform between the two; for integers both ends are included.
    Uniform(f64, f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// Normal with mean and standard deviation, truncated at 0.
    Normal(f64, f64),
    /// Log-normal, given by its median and the standard deviation of its logarithm.
    LogNormal(f64, f64),
    /// Integers from 1 to `count`, the k-th with probability proportional to 1 / k^`exponent`: hot keys.
    Zipf {
        /// Number of values, at least 1.
        count: u64,
        /// Skew, 0 (uniform) or more.
        exponent: f64,
    },
}

impl Distribution {
    /// Samples a number. A negative normal value becomes 0. Invalid parameters do not panic: a negative Zipf exponent
    /// is treated as 0.
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

    /// Samples an integer, rounded to the nearest, never below 0. For a uniform distribution, all integers from one end
    /// to the other are equally likely.
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

    /// Samples seconds, clamped to 0 and [`DURATION_MAX`].
    pub fn sample_duration(&self, rng: &mut Rng) -> Duration {
        Duration::from_secs_f64(self.sample(rng).max(0.0).min(DURATION_MAX.as_secs_f64()))
    }
}

impl Rng {
    /// Samples an exponential distribution with mean 1.
    pub fn exponential(&mut self) -> f64 {
        Exp1.sample(self)
    }

    /// Samples a normal distribution with mean 0 and standard deviation 1.
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 100_000;

    /// Returns the mean and the standard deviation of many samples.
    fn moments(distribution: Distribution) -> (f64, f64) {
        let mut rng = Rng::for_user(42, 0);
        let drawn: Vec<f64> = (0..DRAWS).map(|_| distribution.sample(&mut rng)).collect();
        let mean = drawn.iter().sum::<f64>() / DRAWS as f64;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (DRAWS - 1) as f64;
        (mean, variance.sqrt())
    }

    #[test]
    fn each_distribution_has_its_moments() {
        let lognormal = |median: f64, s: f64| {
            (median * (s * s / 2.0).exp(), median * (s * s / 2.0).exp() * ((s * s).exp() - 1.0).sqrt())
        };
        let zipf_weights: Vec<f64> = (1..=100).map(|k| f64::from(k).powf(-1.2)).collect();
        let sum: f64 = zipf_weights.iter().sum();
        let moment = |power: i32| {
            zipf_weights.iter().zip(1..).map(|(w, k)| w / sum * f64::from(k).powi(power)).sum::<f64>()
        };
        let table = [
            (Distribution::Constant(2.5), (2.5, 0.0)),
            (Distribution::Uniform(2.0, 6.0), (4.0, 4.0 / 12_f64.sqrt())),
            (Distribution::Exponential(3.0), (3.0, 3.0)),
            (Distribution::Normal(100.0, 5.0), (100.0, 5.0)),
            (Distribution::LogNormal(10.0, 0.5), lognormal(10.0, 0.5)),
            (
                Distribution::Zipf { count: 100, exponent: 1.2 },
                (moment(1), (moment(2) - moment(1).powi(2)).sqrt()),
            ),
        ];
        for (distribution, (mean, deviation)) in table {
            let (drawn_mean, drawn_deviation) = moments(distribution);
            assert!(
                (drawn_mean - mean).abs() <= 0.02 * mean,
                "{distribution:?}: mean {drawn_mean}, not {mean}"
            );
            assert!(
                (drawn_deviation - deviation).abs() <= 0.03 * deviation,
                "{distribution:?}: deviation {drawn_deviation}, not {deviation}"
            );
        }
    }

    #[test]
    fn a_normal_one_is_cut_at_0() {
        let mut rng = Rng::for_user(1, 0);
        let drawn: Vec<f64> = (0..1_000).map(|_| Distribution::Normal(0.0, 1.0).sample(&mut rng)).collect();
        assert!(drawn.iter().all(|&x| x >= 0.0));
        let at_0 = drawn.iter().filter(|&&x| x == 0.0).count();
        assert!((400..600).contains(&at_0), "half of them are below 0, {at_0} were");
    }

    /// Returns Pearson's chi-squared statistic of the sampled integers against their expected shares.
    fn chi_square(distribution: Distribution, first: u64, expected: &[f64]) -> f64 {
        let mut rng = Rng::for_user(5, 0);
        let mut counts = vec![0_u32; expected.len()];
        for _ in 0..DRAWS {
            counts[(distribution.sample_whole(&mut rng) - first) as usize] += 1;
        }
        let expected = expected.iter().map(|share| share * DRAWS as f64);
        counts.iter().zip(expected).map(|(&count, wanted)| (f64::from(count) - wanted).powi(2) / wanted).sum()
    }

    #[test]
    fn whole_numbers_are_drawn_as_often_as_they_should() {
        let shares = |exponent: f64| {
            let weights: Vec<f64> = (1..=20).map(|k| f64::from(k).powf(-exponent)).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(|weight| weight / sum).collect::<Vec<_>>()
        };
        let zipf = |exponent| Distribution::Zipf { count: 20, exponent };
        let table = [
            // Both ends are fully included, unlike those of rounded real numbers.
            (Distribution::Uniform(1.0, 6.0), 1, vec![1.0 / 6.0; 6]),
            (Distribution::Uniform(0.4, 3.6), 1, vec![1.0 / 3.0; 3]),
            (zipf(0.0), 1, shares(0.0)),
            (zipf(1.0), 1, shares(1.0)),
            (zipf(2.5), 1, shares(2.5)),
        ];
        for (distribution, first, expected) in table {
            let statistic = chi_square(distribution, first, &expected);
            // The 0.999 quantile for 19 degrees of freedom, the maximum here.
            assert!(statistic < 43.8, "{distribution:?}: {statistic}");
        }
    }

    #[test]
    fn nothing_that_a_scenario_says_panics() {
        let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 0.0, 1e300, 5.0];
        let mut rng = Rng::for_user(0, 0);
        for a in strange {
            for b in strange {
                let zipf = |count| Distribution::Zipf { count, exponent: b };
                for distribution in [
                    Distribution::Constant(a),
                    Distribution::Uniform(a, b),
                    Distribution::Exponential(a),
                    Distribution::Normal(a, b),
                    Distribution::LogNormal(a, b),
                    zipf(0),
                    zipf(1),
                    zipf(u64::MAX),
                ] {
                    distribution.sample(&mut rng);
                    distribution.sample_whole(&mut rng);
                    assert!(distribution.sample_duration(&mut rng) <= DURATION_MAX, "{distribution:?}");
                }
            }
        }
    }

    #[test]
    fn durations_are_seconds_within_bounds() {
        let mut rng = Rng::for_user(0, 0);
        let table = [
            (0.25, Duration::from_millis(250)),
            (-3.0, Duration::ZERO),
            (f64::NAN, Duration::ZERO),
            (1e12, DURATION_MAX),
        ];
        for (seconds, expected) in table {
            assert_eq!(Distribution::Constant(seconds).sample_duration(&mut rng), expected);
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_in_every_version() {
        let drawn = [
            Distribution::Uniform(0.0, 1.0),
            Distribution::Exponential(1.0),
            Distribution::Normal(10.0, 1.0),
            Distribution::LogNormal(1.0, 1.0),
            Distribution::Zipf { count: 1_000, exponent: 1.1 },
        ]
        .map(|distribution| distribution.sample(&mut Rng::for_user(7, 9)));
        let expected = [
            0.548_045_011_431_090_5,
            0.888_252_999_857_911_3,
            10.144_932_734_869_473,
            1.155_961_811_730_680_2,
            14.0,
        ];
        assert!(drawn.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{drawn:?}");
    }
}
