//! A curve in one line of text.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The last `width` values as bars between 0 and their greatest; shorter when there are fewer.
pub(super) fn sparkline(values: impl DoubleEndedIterator<Item = f64>, width: usize) -> String {
    let mut shown: Vec<f64> = values.rev().take(width).collect();
    shown.reverse();
    let greatest = shown.iter().copied().fold(0.0, f64::max);
    let level = |value: f64| {
        let share = if greatest > 0.0 { (value / greatest).clamp(0.0, 1.0) } else { 0.0 };
        LEVELS[(share * (LEVELS.len() - 1) as f64).round() as usize]
    };
    shown.into_iter().map(level).collect()
}

/// A bar of `width` columns of which a share is done.
pub(super) fn bar(share: f64, width: usize) -> (String, String) {
    let done = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
    ("█".repeat(done), "░".repeat(width.saturating_sub(done)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_shows_its_last_values_between_nothing_and_the_greatest() {
        assert_eq!(sparkline([9.0, 0.0, 1.0, 2.0, 4.0, 7.0].into_iter(), 5), "▁▂▃▅█");
        assert_eq!(sparkline([0.0, 0.0].into_iter(), 5), "▁▁");
        assert_eq!(sparkline([].into_iter(), 5), "");
        assert_eq!(sparkline([f64::NAN, 1.0].into_iter(), 5), "▁█");
    }

    #[test]
    fn a_bar_is_as_wide_as_it_should_be() {
        for share in [-1.0, 0.0, 0.333, 1.0, 2.0, f64::NAN] {
            let (done, left) = bar(share, 10);
            assert_eq!(done.chars().count() + left.chars().count(), 10, "{share}");
        }
    }
}
