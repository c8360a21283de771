//! Values written as one word: durations, rates and sizes.
//!
//! Each is parsed with [`FromStr`] and printed as it would be written; the two are inverses.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The longest duration that a scenario may use, one year; anything longer is probably a typo.
pub const TIME_MAX: Duration = Duration::from_secs(366 * 24 * 3600);

/// A word that is not a valid value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidScalar {
    /// As written.
    pub text: String,
    /// A description of a valid value, with an example.
    pub expected: String,
}

impl InvalidScalar {
    pub(super) fn new(text: &str, expected: impl Into<String>) -> Self {
        Self { text: text.to_owned(), expected: expected.into() }
    }
}

impl fmt::Display for InvalidScalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is not {}", self.text, self.expected)
    }
}

impl std::error::Error for InvalidScalar {}

/// Implements serde and schema of a type that is written as one word.
macro_rules! written_as_a_word {
    ($type:ident, $expected:expr, $description:literal, $examples:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Word;
                impl de::Visitor<'_> for Word {
                    type Value = $type;

                    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                        formatter.write_str($expected)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Word)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": ["string", "number"],
                    "description": $description,
                    "examples": $examples,
                })
            }
        }
    };
}
pub(super) use written_as_a_word;

const TIME: &str =
    "a duration such as `250ms`, `1.5s`, `2m` or `1h` (units: ns, us, ms, s, m, h, d; at most 366d)";

/// A duration: `250ms`, `1.5s`, `2m`, `1h`, `1m30s`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Time(pub Duration);

impl Time {
    /// Returns a duration of this many seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds))
    }
}

impl From<Duration> for Time {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

/// Units of time, longest first, with their nanoseconds.
const TIME_UNITS: [(&str, u64); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
    ("ns", 1),
];

impl FromStr for Time {
    type Err = InvalidScalar;

    fn from_str(text: &str) -> Result<Self, InvalidScalar> {
        let invalid = || InvalidScalar::new(text, TIME);
        let mut rest = text.trim();
        if rest == "0" {
            return Ok(Self(Duration::ZERO));
        }
        if rest.is_empty() {
            return Err(invalid());
        }
        let mut total = 0.0;
        let mut exact: Option<u64> = Some(0);
        while !rest.is_empty() {
            let (number, after) = split_number(rest).ok_or_else(invalid)?;
            let unit_end = after.find(|c: char| !c.is_ascii_alphabetic() && c != 'µ').unwrap_or(after.len());
            let (unit, after) = after.split_at(unit_end);
            let unit = if unit == "µs" { "us" } else { unit };
            let (_, nanoseconds) = TIME_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(invalid)?;
            let whole: Option<u64> = number.parse().ok();
            exact =
                exact.zip(whole).and_then(|(sum, whole)| sum.checked_add(whole.checked_mul(*nanoseconds)?));
            total += number.parse::<f64>().map_err(|_| invalid())? * *nanoseconds as f64;
            rest = after;
        }
        if !total.is_finite() || total > TIME_MAX.as_nanos() as f64 {
            return Err(invalid());
        }
        // The rounded sum is below the maximum (a year in nanoseconds), so it fits.
        Ok(Self(Duration::from_nanos(exact.unwrap_or(total.round() as u64))))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.as_nanos();
        if nanoseconds == 0 {
            return formatter.write_str("0s");
        }
        // Days are accepted but not printed: people expect `24h` to come back as `24h`.
        let unit = TIME_UNITS[1..].iter().find(|(_, unit)| nanoseconds.is_multiple_of(u128::from(*unit)));
        let (name, unit) = unit.unwrap_or(&("ns", 1));
        write!(formatter, "{}{name}", nanoseconds / u128::from(*unit))
    }
}

written_as_a_word!(
    Time,
    TIME,
    "A duration: a number with a unit (ns, us, ms, s, m, h, d).",
    ["250ms", "1.5s", "2m", "1h"]
);

const RATE: &str = "a rate such as `100/s`, `6000/m` or `10/h`";

/// A rate: `100/s`, `6000/m`, `10/h`; a number without a unit is per second.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Rate {
    /// Times per second, 0 or more, finite.
    pub per_second: f64,
}

impl Rate {
    /// Returns a rate of this many times per second.
    #[must_use]
    pub const fn per_second(per_second: f64) -> Self {
        Self { per_second }
    }
}

impl FromStr for Rate {
    type Err = InvalidScalar;

    fn from_str(text: &str) -> Result<Self, InvalidScalar> {
        let invalid = || InvalidScalar::new(text, RATE);
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit.trim() {
            "s" | "second" => 1.0,
            "m" | "minute" => 60.0,
            "h" | "hour" => 3600.0,
            _ => return Err(invalid()),
        };
        let number = number.trim();
        let (digits, "") = split_number(number).ok_or_else(invalid)? else { return Err(invalid()) };
        let per_second = digits.parse::<f64>().map_err(|_| invalid())? / seconds;
        if per_second.is_finite() { Ok(Self { per_second }) } else { Err(invalid()) }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/s", self.per_second)
    }
}

written_as_a_word!(Rate, RATE, "How often: per second, minute or hour.", ["100/s", "6000/m", "10/h"]);

const SIZE: &str = "a size in bytes such as `64`, `4KiB`, `1MiB` or `10kB`";

/// A number of bytes: `64`, `4KiB`, `1MiB`, `10kB`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Size(pub u64);

const SIZE_UNITS: [(&str, u64); 8] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
    ("KB", 1000),
    ("B", 1),
];

impl FromStr for Size {
    type Err = InvalidScalar;

    fn from_str(text: &str) -> Result<Self, InvalidScalar> {
        let invalid = || InvalidScalar::new(text, SIZE);
        let (number, unit) = split_number(text.trim()).ok_or_else(invalid)?;
        let unit = match unit.trim_start() {
            "" => 1,
            unit => SIZE_UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(invalid)?.1,
        };
        if let Ok(whole) = number.parse::<u64>() {
            return whole.checked_mul(unit).map(Self).ok_or_else(invalid);
        }
        let bytes = number.parse::<f64>().map_err(|_| invalid())? * unit as f64;
        // Above 2^53 (about 9.0e15), an `f64` no longer represents every integer.
        if bytes.fract() != 0.0 || bytes > 9.0e15 {
            return Err(invalid());
        }
        Ok(Self(bytes as u64))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = SIZE_UNITS[..3].iter().find(|(_, unit)| self.0 > 0 && self.0.is_multiple_of(*unit));
        match unit {
            Some((name, unit)) => write!(formatter, "{}{name}", self.0 / unit),
            None => write!(formatter, "{}", self.0),
        }
    }
}

written_as_a_word!(
    Size,
    SIZE,
    "Bytes, with a unit (B, kB, MB, GB, KiB, MiB, GiB) or without.",
    ["64", "4KiB", "1MiB"]
);

const READ_RATE: &str = "a reading speed such as `4KiB/s`, `0/s` (reads nothing) or `full`";

/// The read rate of a slow reader: `4KiB/s`, `0/s`, or `full` to return to full speed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadRate(pub Option<u64>);

impl FromStr for ReadRate {
    type Err = InvalidScalar;

    fn from_str(text: &str) -> Result<Self, InvalidScalar> {
        let text = text.trim();
        if text == "full" {
            return Ok(Self(None));
        }
        let bytes = text.strip_suffix("/s").unwrap_or(text);
        bytes.parse::<Size>().map(|size| Self(Some(size.0))).map_err(|_| InvalidScalar::new(text, READ_RATE))
    }
}

impl fmt::Display for ReadRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(formatter, "{}/s", Size(bytes)),
            None => formatter.write_str("full"),
        }
    }
}

written_as_a_word!(
    ReadRate,
    READ_RATE,
    "Bytes read per second; `full` is full speed.",
    ["4KiB/s", "0/s", "full"]
);

const HEARTBEAT: &str = "a time between heartbeats such as `30s`, or `never`";

/// Time between Phoenix heartbeats, or `never`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Heartbeat(pub Option<Duration>);

impl FromStr for Heartbeat {
    type Err = InvalidScalar;

    fn from_str(text: &str) -> Result<Self, InvalidScalar> {
        match text.trim() {
            "never" => Ok(Self(None)),
            text => match text.parse::<Time>() {
                Ok(time) if !time.0.is_zero() => Ok(Self(Some(time.0))),
                _ => Err(InvalidScalar::new(text, HEARTBEAT)),
            },
        }
    }
}

impl fmt::Display for Heartbeat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(interval) => Time(interval).fmt(formatter),
            None => formatter.write_str("never"),
        }
    }
}

written_as_a_word!(Heartbeat, HEARTBEAT, "Time between heartbeats, or `never`.", ["30s", "never"]);

/// Splits a text after its leading digits, sign and point.
pub(super) fn split_number(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    number.starts_with(|c: char| c.is_ascii_digit()).then_some((number, rest))
}
