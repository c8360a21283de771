//! From seconds that resemble their neighbours to blocks that do not.

use super::super::fit::autocorrelation;

/// Blocks are this many times as long as the autocorrelation time.
const TIMES: f64 = 3.0;
/// Fewer blocks say nothing at the level that Holm's correction asks for.
pub(super) const LEAST: usize = 8;

/// How changes are put into blocks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Blocks {
    /// Seconds of a block.
    pub(super) length: usize,
    /// How many times wider than that of independent blocks the distribution of their sum is.
    pub(super) widening: f64,
}

/// Blocks three times as long as `(1 + r) / (1 − r)`, the autocorrelation time of a first-order process with
/// autocorrelation `r`. Blocks of such a process still resemble their neighbours a little, which widens what a sum
/// over them may be by chance.
pub(super) fn of(changes: &[f64]) -> Blocks {
    let mean = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
    let centred: Vec<f64> = changes.iter().map(|change| change - mean).collect();
    // The estimate is low by about (1 + 4r) / n in short series (Marriott and Pope, 1954).
    let found = autocorrelation(&centred);
    let r = (found + (1.0 + 4.0 * found) / changes.len().max(1) as f64).clamp(0.0, 0.99);
    let length = (TIMES * (1.0 + r) / (1.0 - r)).ceil();
    // The correlation of the means of neighbouring blocks.
    let rest = 1.0 - r.powf(length);
    let between = r * rest * rest / (length * (1.0 - r * r) - 2.0 * r * rest);
    Blocks { length: length as usize, widening: ((1.0 + between) / (1.0 - between)).sqrt() }
}

/// The mean of each whole block.
pub(super) fn means(changes: &[f64], length: usize) -> Vec<f64> {
    changes.chunks_exact(length.max(1)).map(|block| block.iter().sum::<f64>() / block.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_with_the_likeness_of_neighbours() {
        // Alternation is no likeness.
        let alternating: Vec<f64> = (0..100).map(|second| f64::from(second % 2)).collect();
        assert_eq!(of(&alternating), Blocks { length: 3, widening: 1.0 });
        let slow: Vec<f64> = (0..600).map(|second| (f64::from(second) / 20.0).sin()).collect();
        let blocks = of(&slow);
        assert!(blocks.length > 60 && blocks.widening > 1.0 && blocks.widening < 1.2, "{blocks:?}");
        assert_eq!(means(&[1.0, 3.0, 5.0, 7.0, 100.0], 2), [2.0, 6.0]);
    }
}
