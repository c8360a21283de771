//! Parses durations.

use std::time::Duration;

/// Returns the end of a period that starts now, in milliseconds since 1970.
pub(super) fn end_ms(lasts: Duration) -> u64 {
    messenger::now().after_ms(lasts.as_millis() as u64).millis()
}

/// Parses a number with a unit: s, m, h or d.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number with a unit, such as 90m, 12h or 7d".to_owned();
    let (number, unit_s) = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)]
        .into_iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))
        .ok_or_else(wrong)?;
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number
        .checked_mul(unit_s)
        .filter(|seconds| *seconds <= 100 * 365 * 86_400)
        .map(Duration::from_secs)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(duration("90m"), Ok(Duration::from_secs(5_400)));
        assert_eq!(duration("7d"), Ok(Duration::from_secs(604_800)));
        for text in ["7", "d", "-1h", "1.5h", "99999999999d", ""] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
