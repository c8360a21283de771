//! Choosing one of several by weight.

use std::fmt;

use crate::draw::Rng;

/// Weights prepared for many draws; a draw costs a binary search.
#[derive(Clone, PartialEq, Debug)]
pub struct Weighted {
    /// Sums of the weights up to and with each.
    sums: Vec<f64>,
}

/// Why weights cannot be drawn from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WeightError {
    /// A weight is negative, infinite or not a number.
    NotAWeight {
        /// Its place, from 0.
        place: usize,
        /// As given.
        weight: f64,
    },
    /// There is none, or all are 0.
    NoWeight,
    /// Their sum is infinite.
    TooLarge,
}

impl fmt::Display for WeightError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAWeight { place, weight } => {
                write!(f, "weight {} is {weight}; it must be a number from 0 up", place + 1)
            }
            Self::NoWeight => f.write_str("no weight is above 0; at least one must be"),
            Self::TooLarge => f.write_str("the weights' sum is too large; use smaller numbers"),
        }
    }
}

impl std::error::Error for WeightError {}

impl Weighted {
    /// Prepares weights, each 0 or more and one at least above 0.
    ///
    /// # Errors
    /// [`WeightError`] says which weight is wrong.
    pub fn new(weights: &[f64]) -> Result<Self, WeightError> {
        let mut sums = Vec::with_capacity(weights.len());
        let mut sum = 0.0;
        for (place, &weight) in weights.iter().enumerate() {
            if !(weight >= 0.0 && weight.is_finite()) {
                return Err(WeightError::NotAWeight { place, weight });
            }
            sum += weight;
            sums.push(sum);
        }
        match sum {
            0.0 => Err(WeightError::NoWeight),
            sum if sum.is_finite() => Ok(Self { sums }),
            _ => Err(WeightError::TooLarge),
        }
    }

    /// Draws a place, from 0; one whose weight is 0 is never drawn.
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let sum = self.sums.last().copied().unwrap_or(0.0);
        let drawn = rng.unit() * sum;
        // Where rounding brings the product up to the sum itself, the last place with a weight is meant.
        self.sums
            .partition_point(|&up_to| up_to <= drawn)
            .min(self.sums.partition_point(|&up_to| up_to < sum))
    }
}

/// Draws a place from a few weights that are not worth preparing; `None` where none is above 0. What is not a weight
/// counts as 0.
pub fn choose(weights: impl Iterator<Item = f64> + Clone, rng: &mut Rng) -> Option<usize> {
    let sane = |weight: f64| if weight > 0.0 && weight.is_finite() { weight } else { 0.0 };
    let sum: f64 = weights.clone().map(sane).sum();
    let mut left = rng.unit() * sum;
    let mut chosen = None;
    for (place, weight) in weights.map(sane).enumerate().filter(|&(_, weight)| weight > 0.0) {
        chosen = Some(place);
        if left < weight {
            break;
        }
        left -= weight;
    }
    chosen
}
