//! Fits a straight line to points, with the standard error of its slope.

/// A line `y = intercept + slope · x` by least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Fit {
    /// The value at `x = 0`.
    pub intercept: f64,
    /// The increase of `y` per unit of `x`.
    pub slope: f64,
    /// Standard error of the slope. Points in a time series are correlated and carry less information than as many
    /// independent ones, so the error is widened by the residuals' autocorrelation.
    pub slope_error: f64,
    /// Number of points used.
    pub points: usize,
}

/// Fits a line to points in the order in which they were measured; `None` if there are fewer than three points or if
/// all have the same `x`.
pub fn fit(points: &[(f64, f64)]) -> Option<Fit> {
    let n = points.len() as f64;
    if points.len() < 3 || points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / n;
    let spread: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if spread <= f64::EPSILON * mean_x.abs().max(1.0) {
        return None;
    }
    let slope = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum::<f64>() / spread;
    let intercept = mean_y - slope * mean_x;
    let residuals: Vec<f64> = points.iter().map(|(x, y)| y - intercept - slope * x).collect();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let independent = (squares / (n - 2.0) / spread).sqrt();
    Some(Fit { intercept, slope, slope_error: independent * widening(&residuals), points: points.len() })
}

/// Returns `sqrt((1 + r) / (1 − r))` for a first-order autocorrelation `r`, at least 1.
fn widening(residuals: &[f64]) -> f64 {
    let correlation = autocorrelation(residuals).clamp(0.0, 0.98);
    ((1.0 + correlation) / (1.0 - correlation)).sqrt()
}

/// Returns the first-order autocorrelation of values with mean 0; 0 if all are 0.
pub(super) fn autocorrelation(values: &[f64]) -> f64 {
    let squares: f64 = values.iter().map(|value| value * value).sum();
    let products: f64 = values.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_line_is_found_again(slope in -1e4..1e4_f64, intercept in -1e6..1e6_f64, count in 3..200_u32) {
            let points: Vec<_> =
                (0..count).map(|x| (f64::from(x * 10), intercept + slope * f64::from(x * 10))).collect();
            let fit = fit(&points).expect("three points and more");
            prop_assert!((fit.slope - slope).abs() < 1e-6 * slope.abs().max(1.0));
            prop_assert!(fit.slope_error < 1e-3, "{fit:?}");
        }
    }

    #[test]
    fn no_line_goes_through_too_few_points_or_a_single_place() {
        assert_eq!(fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn the_error_is_that_of_the_textbook_where_residuals_are_independent() {
        // Alternating residuals have no positive autocorrelation.
        let points: Vec<_> =
            (0..100).map(|x| (f64::from(x), f64::from(x) + f64::from(x % 2) - 0.5)).collect();
        let fit = fit(&points).expect("a line");
        let expected = (100.0 * 0.25 / 98.0_f64).sqrt() / (100.0_f64 * (100.0 * 100.0 - 1.0) / 12.0).sqrt();
        assert!((fit.slope_error / expected - 1.0).abs() < 0.01, "{fit:?} {expected}");
    }
}
