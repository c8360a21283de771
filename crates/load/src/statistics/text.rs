//! Formats figures for people.

/// Formats a number with thousands separators.
pub(super) fn count_of(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time in a suitable unit with about three digits.
pub(super) fn duration_us(time_us: f64) -> String {
    match time_us {
        ..1e3 => format!("{time_us:.0} µs"),
        ..1e4 => format!("{:.2} ms", time_us / 1e3),
        ..1e5 => format!("{:.1} ms", time_us / 1e3),
        ..1e6 => format!("{:.0} ms", time_us / 1e3),
        ..1e7 => format!("{:.2} s", time_us / 1e6),
        _ => format!("{:.1} s", time_us / 1e6),
    }
}

/// Formats a share (0 … 1) as a percentage.
pub(super) fn percent(share: f64) -> String {
    match share.abs() * 100.0 {
        0.0 => "0 %".to_owned(),
        ..0.01 => "less than 0.01 %".to_owned(),
        ..1.0 => format!("{:.2} %", share * 100.0),
        ..10.0 => format!("{:.1} %", share * 100.0),
        _ => format!("{:.0} %", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        for (count, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (2_849_294, "2,849,294")] {
            assert_eq!(count_of(count), expected);
        }
        for (time_us, expected) in [
            (0.0, "0 µs"),
            (999.0, "999 µs"),
            (1234.0, "1.23 ms"),
            (45_600.0, "45.6 ms"),
            (456_000.0, "456 ms"),
            (1_500_000.0, "1.50 s"),
            (90_000_000.0, "90.0 s"),
        ] {
            assert_eq!(duration_us(time_us), expected);
        }
        for (share, expected) in
            [(0.0, "0 %"), (0.000_01, "less than 0.01 %"), (0.005, "0.50 %"), (0.05, "5.0 %"), (0.9, "90 %")]
        {
            assert_eq!(percent(share), expected);
        }
    }
}
