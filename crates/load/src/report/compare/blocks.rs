//! From seconds that resemble their neighbours to blocks that do not.

use super::super::fit::autocorrelation;

/// Blocks are this many times as long as the autocorrelation time.
const TIMES: f64 = 4.0;
/// Fewer blocks say nothing at the level that Holm's correction asks for.
pub(super) const LEAST: usize = 8;

/// How long a block is, in seconds: four times `(1 + r) / (1 − r)`, the autocorrelation time of a first-order process
/// with autocorrelation `r`.
pub(super) fn length(changes: &[f64]) -> usize {
    let mean = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
    let centred: Vec<f64> = changes.iter().map(|change| change - mean).collect();
    // The estimate is low by about (1 + 4r) / n in short series (Marriott and Pope, 1954).
    let found = autocorrelation(&centred);
    let corrected = found + (1.0 + 4.0 * found) / changes.len().max(1) as f64;
    let correlation = corrected.clamp(0.0, 0.99);
    (TIMES * (1.0 + correlation) / (1.0 - correlation)).ceil() as usize
}

/// The mean of each whole block.
pub(super) fn means(changes: &[f64], length: usize) -> Vec<f64> {
    changes.chunks_exact(length.max(1)).map(|block| block.iter().sum::<f64>() / block.len() as f64).collect()
}
