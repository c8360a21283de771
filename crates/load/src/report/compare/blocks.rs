//! Groups autocorrelated seconds into nearly independent blocks.

use super::super::fit::autocorrelation;

/// Length of a block in autocorrelation times.
const TIMES: f64 = 3.0;
/// Minimum number of blocks for a test. With n blocks the smallest two-sided p is 2 / 2ⁿ, and Holm's correction asks the first
/// of eleven metrics for 0.05 / 11: eight blocks could never show a change.
pub(super) const LEAST: usize = 9;

/// How changes are grouped into blocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Blocks {
    /// Seconds per block.
    pub(super) length: usize,
    /// How much wider the distribution of the blocks' sum is than that of independent blocks, as a factor.
    pub(super) widening: f64,
}

/// Chooses blocks three times as long as `(1 + r) / (1 − r)`, the autocorrelation time of a first-order process with
/// autocorrelation `r`. Blocks of such a process are still slightly correlated, which widens the distribution of a sum
/// over them.
pub(super) fn of(changes: &[f64]) -> Blocks {
    let mean = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
    let centred: Vec<f64> = changes.iter().map(|change| change - mean).collect();
    // In short series the estimate is biased low by about (1 + 4r) / n (Marriott and Pope, 1954).
    let found = autocorrelation(&centred);
    let r = (found + (1.0 + 4.0 * found) / changes.len().max(1) as f64).clamp(0.0, 0.99);
    let length = (TIMES * (1.0 + r) / (1.0 - r)).ceil();
    // The correlation of the means of adjacent blocks.
    let rest = 1.0 - r.powf(length);
    let between = r * rest * rest / (length * (1.0 - r * r) - 2.0 * r * rest);
    Blocks { length: length as usize, widening: ((1.0 + between) / (1.0 - between)).sqrt() }
}

/// Returns the mean of each complete block.
pub(super) fn means(changes: &[f64], length: usize) -> Vec<f64> {
    changes.chunks_exact(length.max(1)).map(|block| block.iter().sum::<f64>() / block.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_the_likeness_of_neighbours() {
        // Alternation is negative autocorrelation, which does not lengthen the blocks.
        let alternating: Vec<f64> = (0..100).map(|second| f64::from(second % 2)).collect();
        assert_eq!(of(&alternating), Blocks { length: 3, widening: 1.0 });
        let slow: Vec<f64> = (0..600).map(|second| (f64::from(second) / 20.0).sin()).collect();
        let blocks = of(&slow);
        assert!(blocks.length > 60 && blocks.widening > 1.0 && blocks.widening < 1.2, "{blocks:?}");
        assert_eq!(means(&[1.0, 3.0, 5.0, 7.0, 100.0], 2), [2.0, 6.0]);
    }
}
