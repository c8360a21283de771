//! Formats values with their unit for people.

/// The unit of an axis or a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A count.
    Count,
    /// A count per second.
    PerSecond,
    /// A duration in microseconds, shown in µs, ms or s.
    Microseconds,
    /// Bytes, shown in B, KiB, MiB …
    Bytes,
    /// Bytes per second.
    BytesPerSecond,
    /// Processor cores; 1.0 is one core busy.
    Cores,
    /// A share, 0 … 1, shown in per cent.
    Share,
    /// A time since the start of the run in seconds, shown as seconds, or as minutes and seconds.
    Clock,
}

/// The size and the name of a multiple of the unit.
type Magnitude = (f64, &'static str);

const COUNTS: &[Magnitude] = &[(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const DURATIONS: &[Magnitude] = &[(1e6, " s"), (1e3, " ms"), (1.0, " µs")];
const BYTES: &[Magnitude] = &[
    (1_099_511_627_776.0, " TiB"),
    (1_073_741_824.0, " GiB"),
    (1_048_576.0, " MiB"),
    (1024.0, " KiB"),
    (1.0, " B"),
];

impl Unit {
    /// Formats a value with three significant digits and its unit: `12.3 ms`, `1.5 MiB/s`, `87.2 %`.
    pub fn format(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        match self {
            Self::Clock => clock(value),
            Self::Share => format!("{} %", percent(value)),
            Self::Cores => format!("{value:.2}"),
            Self::Count | Self::PerSecond | Self::Microseconds | Self::Bytes | Self::BytesPerSecond => {
                let (divisor, name) = self.magnitude(value.abs());
                let number = if divisor == 1.0 && value.fract() == 0.0 {
                    format!("{value:.0}")
                } else {
                    significant(value / divisor)
                };
                format!("{number}{name}{}", self.per())
            }
        }
    }

    /// Formats the labels of ticks that are `step` apart: the same magnitude for all, and zero without a unit.
    pub(super) fn labels(self, ticks: &[f64], step: f64) -> Vec<String> {
        let greatest = ticks.iter().fold(0.0_f64, |most, tick| most.max(tick.abs()));
        let (divisor, name) = match self {
            Self::Clock => return ticks.iter().map(|tick| clock(*tick)).collect(),
            Self::Share => (0.01, " %"),
            Self::Cores => (1.0, ""),
            Self::Count | Self::PerSecond | Self::Microseconds | Self::Bytes | Self::BytesPerSecond => {
                self.magnitude(greatest)
            }
        };
        let decimals = decimals(step / divisor);
        let label = |tick: &f64| match *tick == 0.0 {
            true => "0".to_owned(),
            false => format!("{:.decimals$}{name}{}", tick / divisor, self.per()),
        };
        ticks.iter().map(label).collect()
    }

    /// Returns the smallest round step (1, 2 or 5 times a power of ten; powers of two for bytes; fractions of an hour
    /// for the clock) that is at least `raw`.
    pub(super) fn step(self, raw: f64) -> f64 {
        match self {
            Self::Clock => clock_step(raw),
            Self::Bytes | Self::BytesPerSecond => raw.max(1.0).log2().ceil().exp2(),
            Self::Count | Self::PerSecond => decimal_step(raw).max(if raw > 0.5 { 1.0 } else { 0.0 }),
            Self::Microseconds | Self::Cores | Self::Share => decimal_step(raw),
        }
    }

    fn magnitude(self, value: f64) -> Magnitude {
        let names = match self {
            Self::Bytes | Self::BytesPerSecond => BYTES,
            Self::Microseconds => DURATIONS,
            Self::Count | Self::PerSecond | Self::Cores | Self::Share | Self::Clock => COUNTS,
        };
        // 999.6 would be rounded to "1000" of the smaller magnitude.
        let found = names.iter().find(|(divisor, _)| value >= divisor * 0.9995);
        found.copied().unwrap_or((1.0, names.last().map_or("", |(_, name)| name)))
    }

    fn per(self) -> &'static str {
        match self {
            Self::PerSecond | Self::BytesPerSecond => "/s",
            Self::Count | Self::Microseconds | Self::Bytes | Self::Cores | Self::Share | Self::Clock => "",
        }
    }
}

/// Formats a count with thousands separators: `1,234,567`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a percentage with enough digits to distinguish it from 0 and from 100: 0.04, 12.3, 99.98.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    let to_the_end = percent.abs().min((100.0 - percent).abs());
    if to_the_end >= 1.0 || to_the_end == 0.0 {
        return significant(percent);
    }
    let decimals = (1.0 - to_the_end.log10().floor()).clamp(2.0, 6.0) as usize;
    format!("{percent:.decimals$}")
}

/// Formats with three significant digits, but keeps all digits before the decimal point.
fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 1000.0 {
        let whole = grouped(magnitude.round() as u64);
        return if value < 0.0 { format!("-{whole}") } else { whole };
    }
    let decimals = match magnitude {
        _ if magnitude == 0.0 => 0,
        _ if magnitude >= 99.95 => 0,
        _ if magnitude >= 9.995 => 1,
        _ if magnitude >= 0.9995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// Returns how many decimals distinguish multiples of `step`.
fn decimals(step: f64) -> usize {
    (0..6)
        .find(|&digits| {
            let scaled = step * 10_f64.powi(digits);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0)
        })
        .unwrap_or(6) as usize
}

fn decimal_step(raw: f64) -> f64 {
    if raw <= 0.0 || !raw.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(raw.log10().floor());
    let factor =
        [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= raw * (1.0 - 1e-9)).unwrap_or(10.0);
    factor * power
}

fn clock_step(raw: f64) -> f64 {
    const STEPS: [f64; 15] =
        [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0];
    if raw < 1.0 {
        return decimal_step(raw);
    }
    STEPS.into_iter().find(|step| *step >= raw).unwrap_or_else(|| (raw / 86_400.0).ceil().max(1.0) * 86_400.0)
}

fn clock(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    if seconds < 10.0 && seconds.fract() != 0.0 {
        format!("{seconds:.1} s")
    } else if hours > 0 {
        format!("{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{minutes}:{rest:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_their_units() {
        let cases = [
            (Unit::Microseconds, 0.0, "0 µs"),
            (Unit::Microseconds, 850.0, "850 µs"),
            (Unit::Microseconds, 999.7, "1.00 ms"),
            (Unit::Microseconds, 12_345.0, "12.3 ms"),
            (Unit::Microseconds, 1_850_000.0, "1.85 s"),
            (Unit::Bytes, 1023.0, "1023 B"),
            (Unit::Bytes, 1536.0, "1.50 KiB"),
            (Unit::BytesPerSecond, 3.0 * 1_048_576.0, "3.00 MiB/s"),
            (Unit::Count, 999.0, "999"),
            (Unit::Count, 1_234_567.0, "1.23M"),
            (Unit::PerSecond, 12_500.0, "12.5k/s"),
            (Unit::Share, 0.0523, "5.23 %"),
            (Unit::Share, 0.0004, "0.040 %"),
            (Unit::Share, 0.99955, "99.955 %"),
            (Unit::Share, 1.0, "100 %"),
            (Unit::Share, 0.0, "0 %"),
            (Unit::Cores, 1.5, "1.50"),
            (Unit::Clock, 75.0, "1:15"),
            (Unit::Clock, 3_725.0, "1:02:05"),
            (Unit::Count, f64::NAN, "–"),
        ];
        for (unit, value, text) in cases {
            assert_eq!(unit.format(value), text, "{unit:?} {value}");
        }
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
    }

    #[test]
    fn ticks_of_one_axis_share_their_magnitude() {
        assert_eq!(
            Unit::Microseconds.labels(&[0.0, 500_000.0, 1_000_000.0], 500_000.0),
            ["0", "0.5 s", "1.0 s"]
        );
        assert_eq!(Unit::Share.labels(&[0.0, 0.25, 0.5], 0.25), ["0", "25 %", "50 %"]);
        assert_eq!(Unit::Count.labels(&[0.0, 2500.0, 5000.0], 2500.0), ["0", "2.5k", "5.0k"]);
    }
}
