//! Wilcoxon's signed-rank test and the Hodges-Lehmann estimator.

/// Up to this many values without ties, the exact distribution is used; beyond, or with ties, the normal approximation.
const EXACT: usize = 50;
/// Maximum number of values that the estimator pairs up; a larger set is thinned evenly.
const PAIRED: usize = 1500;

/// Returns the two-sided p-value: the probability of a rank sum at least this extreme if values are equally likely to
/// be above and below 0. Zeros are ranked and then dropped (Pratt, 1959).
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

/// Returns the p-value for a distribution that is `widening` times as wide, with the normal approximation.
pub(super) fn widened(p: f64, widening: f64) -> f64 {
    // Beyond this distance, the probability is zero at the precision of `two_sided`.
    let (mut near, mut far) = (0.0, 5.0);
    for _ in 0..50 {
        let middle = f64::midpoint(near, far);
        if two_sided(middle) > p { near = middle } else { far = middle }
    }
    two_sided(near / widening)
}

/// Returns the median of the means of all pairs and its 95 % interval, which is `widening` times as wide as for
/// independent values.
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

/// Returns the ranks of values sorted by absolute value; ties share their mean rank.
fn ranks(sorted: &[f64]) -> Vec<f64> {
    let mut ranks = Vec::with_capacity(sorted.len());
    for equal in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() as f64 + 1.0;
        let mean = first + (equal.len() as f64 - 1.0) / 2.0;
        ranks.extend(std::iter::repeat_n(mean, equal.len()));
    }
    ranks
}

/// Computes the exact p-value by counting the sign assignments for each sum of positive ranks.
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

/// Normal approximation, with the actual variance of the ranks and a continuity correction of 0.5.
fn normal(kept: &[(f64, f64)], positive: f64) -> f64 {
    let sum: f64 = kept.iter().map(|(_, rank)| rank).sum();
    let variance: f64 = kept.iter().map(|(_, rank)| rank * rank).sum::<f64>() / 4.0;
    let distance = ((positive - sum / 2.0).abs() - 0.5).max(0.0);
    two_sided(distance / variance.sqrt())
}

/// Returns the probability that a standard normal value is at least this far from 0 (Abramowitz and Stegun 7.1.26; the
/// error is below 1.5e-7).
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
        // All n values on one side: 2 / 2^n.
        let six: Vec<f64> = (1..=6).map(f64::from).collect();
        assert!((p_value(&six) - 2.0 / 64.0).abs() < 1e-12);
        // n = 10 with a sum of 8 on the smaller side: 0.0488.
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
