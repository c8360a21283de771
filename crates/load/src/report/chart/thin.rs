//! Downsampling that keeps the extremes.

/// Splits a series at its gaps, and keeps the first, minimum, maximum and last point of each of `columns` columns.
pub(super) fn pieces(points: &[(f64, Option<f64>)], columns: usize) -> Vec<Vec<(f64, f64)>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        match y {
            Some(y) if x.is_finite() && y.is_finite() => piece.push((*x, *y)),
            Some(_) | None => pieces.push(std::mem::take(&mut piece)),
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.is_empty());
    let all: usize = pieces.iter().map(Vec::len).sum();
    let width = all.div_ceil(columns.max(1));
    // A column keeps up to four points, so columns of four or fewer need no thinning.
    if width > 4 { pieces.iter().map(|piece| thinned(piece, width)).collect() } else { pieces }
}

fn thinned(piece: &[(f64, f64)], width: usize) -> Vec<(f64, f64)> {
    let mut kept = Vec::new();
    for column in piece.chunks(width) {
        let by_value = |a: &usize, b: &usize| column[*a].1.total_cmp(&column[*b].1);
        let least = (0..column.len()).min_by(by_value).unwrap_or(0);
        let most = (0..column.len()).max_by(by_value).unwrap_or(0);
        let mut indices = vec![0, least, most, column.len() - 1];
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|index| column[index]));
    }
    kept
}

/// Returns the indexes of at most `count` of `all` items, evenly spaced.
pub(super) fn evenly(all: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..all).step_by(all.div_ceil(count.max(1)).max(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn extremes_and_ends_survive(values in prop::collection::vec(-1e6..1e6_f64, 1..3000), columns in 10..400_usize) {
            let points: Vec<_> = values.iter().enumerate().map(|(x, y)| (x as f64, Some(*y))).collect();
            let thin: Vec<f64> = pieces(&points, columns).into_iter().flatten().map(|(_, y)| y).collect();
            prop_assert!(thin.len() <= 5 * columns + 4);
            prop_assert_eq!(thin.iter().copied().fold(f64::MIN, f64::max), values.iter().copied().fold(f64::MIN, f64::max));
            prop_assert_eq!(thin.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(f64::MAX, f64::min));
            prop_assert_eq!((thin[0], thin[thin.len() - 1]), (values[0], values[values.len() - 1]));
        }
    }

    #[test]
    fn a_gap_is_a_gap() {
        let points =
            [(0.0, Some(1.0)), (1.0, None), (2.0, Some(f64::NAN)), (3.0, Some(2.0)), (4.0, Some(3.0))];
        assert_eq!(pieces(&points, 100), [vec![(0.0, 1.0)], vec![(3.0, 2.0), (4.0, 3.0)]]);
    }
}
