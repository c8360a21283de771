//! Graphs in one line of text.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Draws bars between 0 and the maximum. If there are more values than columns, each column shows the maximum of its
/// values, so that a single bad second is visible.
pub(super) fn sparkline(values: &[f64], columns: usize) -> String {
    let greatest = values.iter().copied().fold(0.0, f64::max);
    let level = |value: f64| {
        let share = if greatest > 0.0 { (value / greatest).clamp(0.0, 1.0) } else { 0.0 };
        LEVELS[(share * (LEVELS.len() - 1) as f64).round() as usize]
    };
    let columns = columns.min(values.len());
    let column = |at: usize| {
        let (from, to) = (at * values.len() / columns, (at + 1) * values.len() / columns);
        values[from..to].iter().copied().fold(0.0, f64::max)
    };
    (0..columns).map(|at| level(column(at))).collect()
}

/// Returns the filled and the empty part of a progress bar of `width` columns.
pub(super) fn bar(share: f64, width: usize) -> (String, String) {
    let done = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
    ("█".repeat(done), "░".repeat(width.saturating_sub(done)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_shows_values_between_nothing_and_the_greatest() {
        assert_eq!(sparkline(&[0.0, 1.0, 2.0, 4.0, 7.0], 9), "▁▂▃▅█");
        assert_eq!(sparkline(&[0.0, 0.0], 5), "▁▁");
        assert_eq!(sparkline(&[], 5), "");
        assert_eq!(sparkline(&[1.0], 0), "");
        assert_eq!(sparkline(&[f64::NAN, 1.0], 5), "▁█");
    }

    #[test]
    fn a_single_great_value_is_seen_in_few_columns() {
        let mut values = [0.0; 240];
        values[100] = 7.0;
        assert_eq!(sparkline(&values, 10), "▁▁▁▁█▁▁▁▁▁");
        assert_eq!(sparkline(&values[..7], 5).chars().count(), 5);
    }

    #[test]
    fn a_bar_is_as_wide_as_it_should_be() {
        for share in [-1.0, 0.0, 0.333, 1.0, 2.0, f64::NAN] {
            let (done, left) = bar(share, 10);
            assert_eq!(done.chars().count() + left.chars().count(), 10, "{share}");
        }
    }
}
