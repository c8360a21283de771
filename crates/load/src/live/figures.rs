//! Formats figures for people (thousands separators, suitable units), and text so that a terminal can safely show it.

/// Formats a count: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time given in microseconds: `850 µs`, `12.3 ms`, `4.20 s`.
pub fn time_us(value: u64) -> String {
    let milliseconds = value as f64 / 1e3;
    match value {
        0..1_000 => format!("{value} µs"),
        1_000..10_000 => format!("{milliseconds:.2} ms"),
        10_000..100_000 => format!("{milliseconds:.1} ms"),
        100_000..1_000_000 => format!("{milliseconds:.0} ms"),
        1_000_000..10_000_000 => format!("{:.2} s", milliseconds / 1e3),
        10_000_000.. => format!("{:.1} s", milliseconds / 1e3),
    }
}

/// Formats seconds as a clock: `02:05`, `1:02:05`; an invalid value as `00:00`.
pub fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes:02}:{seconds:02}")
    }
}

/// Formats a share (0 … 1) as a percentage: `61 %`, `0.4 %`.
pub fn share(value: f64) -> String {
    let percent = value * 100.0;
    if percent == 0.0 || percent.abs() >= 10.0 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Formats bytes: `512 B`, `1.5 KiB`, `20.0 GiB`.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if value < 1024 {
        return format!("{value} B");
    }
    let mut scaled = value as f64 / 1024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if scaled < 1024.0 {
            break;
        }
        scaled /= 1024.0;
        unit = larger;
    }
    format!("{scaled:.1} {unit}")
}

/// Returns the text on one line and without control characters, with which a peer could control the terminal.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        for (value, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(value), text);
        }
        let times = [
            (0, "0 µs"),
            (999, "999 µs"),
            (1_234, "1.23 ms"),
            (12_340, "12.3 ms"),
            (250_000, "250 ms"),
            (4_200_000, "4.20 s"),
            (61_000_000, "61.0 s"),
        ];
        for (value, text) in times {
            assert_eq!(time_us(value), text);
        }
        for (value, text) in
            [(0.0, "00:00"), (125.9, "02:05"), (3_725.0, "1:02:05"), (f64::NAN, "00:00"), (-1.0, "00:00")]
        {
            assert_eq!(clock(value), text);
        }
        for (value, text) in [(0.0, "0 %"), (0.004, "0.4 %"), (0.613, "61 %"), (1.0, "100 %")] {
            assert_eq!(share(value), text);
        }
        for (value, text) in
            [(512, "512 B"), (1_536, "1.5 KiB"), (20 << 30, "20.0 GiB"), (u64::MAX, "16384.0 PiB")]
        {
            assert_eq!(bytes(value), text);
        }
    }
}
