//! Weighted random choice.

use std::fmt;

use crate::draw::Rng;

/// Weights prepared for many choices; each choice costs a binary search.
#[derive(Clone, PartialEq, Debug)]
pub struct Weighted {
    /// Cumulative sums of the weights.
    sums: Vec<f64>,
}

/// Why weights are unusable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum WeightError {
    /// A weight is negative, infinite or not a number.
    NotAWeight {
        /// Its index.
        place: usize,
        /// As given.
        weight: f64,
    },
    /// There are no weights, or all are 0.
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
    /// Prepares weights, each 0 or more and at least one above 0.
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

    /// Chooses an index; one whose weight is 0 is never chosen.
    pub fn draw(&self, rng: &mut Rng) -> usize {
        let sum = self.sums.last().copied().unwrap_or(0.0);
        let drawn = rng.unit() * sum;
        // If rounding makes the product equal to the sum, the last index with a weight is chosen.
        self.sums
            .partition_point(|&up_to| up_to <= drawn)
            .min(self.sums.partition_point(|&up_to| up_to < sum))
    }
}

/// Chooses an index from a few weights that are not worth preparing; `None` if none is above 0. An invalid weight
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_drawn_as_often_as_its_weight_says() {
        let weights = [0.0, 1.0, 0.0, 3.0, 0.5, 0.0];
        let weighted = Weighted::new(&weights).expect("these are weights");
        let mut rng = Rng::for_user(3, 3);
        let mut prepared = [0_u32; 6];
        let mut direct = [0_u32; 6];
        for _ in 0..90_000 {
            prepared[weighted.draw(&mut rng)] += 1;
            direct[choose(weights.into_iter(), &mut rng).expect("a weight is above 0")] += 1;
        }
        for counts in [prepared, direct] {
            for (count, weight) in counts.into_iter().zip(weights) {
                let expected = weight * 20_000.0;
                assert!((f64::from(count) - expected).abs() <= 700.0, "{counts:?}");
                assert_eq!(count == 0, weight == 0.0, "{counts:?}");
            }
        }
    }

    #[test]
    fn weights_that_are_none_are_named() {
        let table = [
            (vec![], "no weight is above 0; at least one must be"),
            (vec![0.0, 0.0], "no weight is above 0; at least one must be"),
            (vec![1.0, -2.0], "weight 2 is -2; it must be a number from 0 up"),
            (vec![f64::NAN], "weight 1 is NaN; it must be a number from 0 up"),
            (vec![f64::MAX, f64::MAX], "the weights' sum is too large; use smaller numbers"),
        ];
        for (weights, expected) in table {
            assert_eq!(Weighted::new(&weights).expect_err("these are no weights").to_string(), expected);
        }
    }

    #[test]
    fn nothing_is_chosen_where_nothing_has_weight() {
        let mut rng = Rng::for_user(0, 0);
        assert_eq!(choose([0.0, f64::NAN, -1.0].into_iter(), &mut rng), None);
        assert_eq!(choose(std::iter::empty(), &mut rng), None);
        assert_eq!(choose([0.0, 2.0].into_iter(), &mut rng), Some(1));
    }
}
