//! Wilcoxon's signed-rank test, and Hodges and Lehmann's estimate that belongs to it.

/// Up to this many values without ties the distribution is counted; beyond, or with ties, it is taken as normal.
const EXACT: usize = 50;
/// The most values that the estimate looks at in pairs; more are thinned out evenly.
const PAIRED: usize = 1500;

/// The two-sided chance of ranks as uneven as these if values were as often above 0 as below. Zeros take part in the
/// ranking and are then left out (Pratt, 1959).
pub(super) fn p_value(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = values.to_vec();
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let ranks = ranks(&sorted);
    let kept: Vec<(f64, f64)> = sorted
        .iter()
        .zip(&ranks)
        .filter(|(value, _)| **value != 0.0)
        .map(|(value, rank)| (*value, *rank))
        .collect();
    if kept.is_empty() {
        return 1.0;
    }
    let positive: f64 = kept.iter().filter(|(value, _)| *value > 0.0).map(|(_, rank)| rank).sum();
    let whole = ranks.iter().all(|rank| rank.fract() == 0.0) && kept.len() == values.len();
    if whole && values.len() <= EXACT { counted(values.len(), positive) } else { normal(&kept, positive) }
}

/// The chance if the distribution is that many times as wide: it is taken as normal, and its distance shrinks.
pub(super) fn widened(p: f64, widening: f64) -> f64 {
    // Beyond this distance the chance is nothing to the digits that `two_sided` has.
    let (mut near, mut far) = (0.0, 5.0);
    for _ in 0..50 {
        let middle = f64::midpoint(near, far);
        if two_sided(middle) > p { near = middle } else { far = middle }
    }
    two_sided(near / widening)
}

/// The median of all pairs' means, and its 95 % interval, that many times as wide as for independent values.
pub(super) fn hodges_lehmann(values: &[f64], widening: f64) -> (f64, (f64, f64)) {
    let values: Vec<f64> = values.iter().step_by(values.len().div_ceil(PAIRED).max(1)).copied().collect();
    let mut means: Vec<f64> = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, first) in values.iter().enumerate() {
        means.extend(values[index..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    if means.is_empty() {
        return (0.0, (0.0, 0.0));
    }
    means.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let reach = widening * 1.96 * (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let low = ((n * (n + 1.0) / 4.0 - reach).floor().max(0.0) as usize).min(means.len() - 1);
    let middle = f64::midpoint(means[(means.len() - 1) / 2], means[means.len() / 2]);
    (middle, (means[low], means[means.len() - 1 - low]))
}

/// Ranks of values that are sorted by size without sign; equal ones share their mean rank.
fn ranks(sorted: &[f64]) -> Vec<f64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for equal in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() as f64 + 1.0;
        let mean = first + (equal.len() as f64 - 1.0) / 2.0;
        ranks.extend(std::iter::repeat_n(mean, equal.len()));
    }
    ranks
}

/// Counts the choices of signs with each sum of positive ranks.
fn counted(n: usize, positive: f64) -> f64 {
    let greatest = n * (n + 1) / 2;
    let mut ways = vec![0.0_f64; greatest + 1];
    ways[0] = 1.0;
    for rank in 1..=n {
        for sum in (rank..=greatest).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    let lesser = positive.min(greatest as f64 - positive).round() as usize;
    let tail: f64 = ways[..=lesser].iter().sum();
    (2.0 * tail / 2_f64.powi(n as i32)).min(1.0)
}

/// With the variance that the ranks really have, and half a rank for continuity.
fn normal(kept: &[(f64, f64)], positive: f64) -> f64 {
    let sum: f64 = kept.iter().map(|(_, rank)| rank).sum();
    let variance: f64 = kept.iter().map(|(_, rank)| rank * rank).sum::<f64>() / 4.0;
    let distance = ((positive - sum / 2.0).abs() - 0.5).max(0.0);
    two_sided(distance / variance.sqrt())
}

/// The chance that a standard normal value lies at least this far from 0 (Abramowitz and Stegun 7.1.26; the error is
/// below 1.5e-7).
pub(super) fn two_sided(distance: f64) -> f64 {
    let x = distance.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let factors = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let polynomial = factors.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    (polynomial * (-x * x).exp()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_the_tables() {
        // All of n values on one side: 2 / 2^n.
        let six: Vec<f64> = (1..=6).map(f64::from).collect();
        assert!((p_value(&six) - 2.0 / 64.0).abs() < 1e-12);
        // n = 10 with a sum of 8 on the lesser side: 0.0488.
        let ten = [1.0, 2.0, -3.0, 4.0, -5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
        assert!((p_value(&ten) - 0.048_828).abs() < 1e-5, "{}", p_value(&ten));
        assert!((two_sided(1.96) - 0.05).abs() < 1e-4);
        assert!((two_sided(2.576) - 0.01).abs() < 1e-4);
    }

    #[test]
    fn a_wider_distribution_makes_the_same_distance_likelier() {
        assert!((widened(0.05, 1.0) - 0.05).abs() < 1e-6);
        assert!((widened(0.01, 1.1) - two_sided(2.5758 / 1.1)).abs() < 1e-5);
        assert!(widened(0.0, 1.1) < 1e-5 && widened(1.0, 1.1) > 0.999_99);
    }

    #[test]
    fn nothing_but_zeros_is_no_change() {
        assert_eq!(p_value(&[0.0; 20]), 1.0);
        assert_eq!(p_value(&[]), 1.0);
        assert_eq!(hodges_lehmann(&[], 1.0), (0.0, (0.0, 0.0)));
    }

    #[test]
    fn the_estimate_is_the_centre_and_lies_in_its_interval() {
        let values: Vec<f64> = (0..40).map(|index| 3.0 + (f64::from(index) - 19.5) / 10.0).collect();
        let (estimate, (low, high)) = hodges_lehmann(&values, 1.0);
        assert!((estimate - 3.0).abs() < 1e-9);
        assert!(low < 3.0 && 3.0 < high && high - low < 1.0, "{low} {high}");
    }
}
