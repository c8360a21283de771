//! Numbers formatted for people.

/// Formats a number with commas between thousands.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes in the largest binary unit that leaves a whole part.
#[must_use]
pub fn bytes(number: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut amount = number as f64;
    let mut named = "bytes";
    for unit in UNITS {
        if amount < 1024.0 {
            break;
        }
        amount /= 1024.0;
        named = unit;
    }
    if named == "bytes" { format!("{number} bytes") } else { format!("{amount:.1} {named}") }
}

/// Formats microseconds as milliseconds.
#[must_use]
pub fn milliseconds(microseconds: u64) -> String {
    let ms = microseconds as f64 / 1000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

/// Formats a share as a percentage.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Formats a count: `one` for 1, else the number and `many`.
#[must_use]
pub fn counted(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{} {many}", grouped(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_for_people() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (2_000_000, "2,000,000")] {
            assert_eq!(grouped(number), expected);
        }
        assert_eq!(grouped(u64::MAX), "18,446,744,073,709,551,615");
        for (number, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1536, "1.5 KiB"),
            (25_276_514_304, "23.5 GiB"),
            (u64::MAX, "16384.0 PiB"),
        ] {
            assert_eq!(bytes(number), expected);
        }
        for (number, expected) in [(0, "0.00 ms"), (1234, "1.23 ms"), (12_345, "12 ms")] {
            assert_eq!(milliseconds(number), expected);
        }
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(
            (counted(1, "port", "ports"), counted(28_232, "port", "ports")),
            ("1 port".into(), "28,232 ports".into())
        );
    }
}
