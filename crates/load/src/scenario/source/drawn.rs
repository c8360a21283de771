//! Random values: pauses, sizes and numbers, each written as a distribution and sampled on every use.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::scalar::{InvalidScalar, Size, TIME_MAX, Time, split_number, written_as_a_word};
use crate::draw::Distribution;

/// A random pause: `5s`, `1s..3s`, `exponential(2s)`, `normal(5s, 1s)`, `log_normal(2s, 0.5)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pause(
    /// In seconds.
    pub Distribution,
);

/// A random size: `64`, `200..400`, `exponential(1KiB)`, `normal(4KiB, 512)`, `log_normal(300, 0.8)`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sizes(
    /// In bytes.
    pub Distribution,
);

/// A random number: `10`, `1..10`, `zipf(1000, 1.1)` and the like.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Numbers(pub Distribution);

const PAUSE: &str =
    "a time such as `5s`, `1s..3s`, `exponential(2s)`, `normal(5s, 1s)` or `log_normal(2s, 0.5)`";
const SIZES: &str = "a size such as `64`, `200..400`, `exponential(1KiB)`, `normal(4KiB, 512)`, `log_normal(300, 0.8)` or \
     `zipf(1000, 1.1)`";
const NUMBERS: &str = "a number such as `10`, `1..10`, `exponential(5)`, `normal(5, 1)`, `log_normal(5, 0.5)` or \
     `zipf(1000, 1.1)`";

/// Formats seconds as a duration.
fn print_seconds(seconds: f64) -> String {
    let milliseconds = seconds * 1000.0;
    if seconds < 1.0 && milliseconds.fract() == 0.0 && milliseconds / 1000.0 == seconds && seconds != 0.0 {
        return format!("{milliseconds}ms");
    }
    format!("{seconds}s")
}

fn parse_seconds(text: &str) -> Option<f64> {
    let (number, unit) = split_number(text)?;
    let number: f64 = number.parse().ok()?;
    let seconds = match unit {
        // Dividing instead of multiplying by a fraction makes `250ms` exactly equal to `0.25s`.
        "ns" => number / 1e9,
        "us" | "µs" => number / 1e6,
        "ms" => number / 1000.0,
        "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        "" if number == 0.0 => 0.0,
        _ => text.parse::<Time>().ok()?.0.as_secs_f64(),
    };
    (seconds <= TIME_MAX.as_secs_f64()).then_some(seconds)
}

fn parse_bytes(text: &str) -> Option<f64> {
    text.parse::<Size>()
        .ok()
        .map(|size| size.0 as f64)
        .or_else(|| parse_number(text).filter(|number| *number >= 0.0))
}

pub(super) fn parse_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (_, "") = split_number(digits)? else { return None };
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

fn print_number(number: f64) -> String {
    format!("{number}")
}

/// Parses a distribution whose amounts are parsed by `amount`. Returns `None` if the text is not a distribution.
pub(crate) fn parse_distribution(text: &str, amount: fn(&str) -> Option<f64>) -> Option<Distribution> {
    let text = text.trim();
    let amount = |text: &str| amount(text.trim());
    if let Some((name, arguments)) = text.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let arguments: Vec<&str> = arguments.split(',').map(str::trim).collect();
        return match (name.trim(), arguments.as_slice()) {
            ("exponential", [mean]) => {
                Some(Distribution::Exponential(amount(mean).filter(|mean| *mean > 0.0)?))
            }
            ("normal", [mean, deviation]) => Some(Distribution::Normal(
                amount(mean)?,
                amount(deviation).filter(|deviation| *deviation >= 0.0)?,
            )),
            ("log_normal", [median, sigma]) => Some(Distribution::LogNormal(
                amount(median).filter(|median| *median > 0.0)?,
                parse_number(sigma).filter(|sigma| *sigma >= 0.0)?,
            )),
            ("uniform", [low, high]) => uniform(amount(low)?, amount(high)?),
            ("zipf", [count, exponent]) => Some(Distribution::Zipf {
                count: count.parse().ok().filter(|count| *count > 0)?,
                exponent: parse_number(exponent).filter(|exponent| *exponent >= 0.0)?,
            }),
            _ => None,
        };
    }
    match text.split_once("..") {
        Some((low, high)) => uniform(amount(low)?, amount(high)?),
        None => amount(text).map(Distribution::Constant),
    }
}

fn uniform(low: f64, high: f64) -> Option<Distribution> {
    (low <= high).then_some(Distribution::Uniform(low, high))
}

fn print_distribution(distribution: Distribution, amount: fn(f64) -> String) -> String {
    match distribution {
        Distribution::Constant(value) => amount(value),
        Distribution::Uniform(low, high) => format!("{}..{}", amount(low), amount(high)),
        Distribution::Exponential(mean) => format!("exponential({})", amount(mean)),
        Distribution::Normal(mean, deviation) => format!("normal({}, {})", amount(mean), amount(deviation)),
        Distribution::LogNormal(median, sigma) => format!("log_normal({}, {sigma})", amount(median)),
        Distribution::Zipf { count, exponent } => format!("zipf({count}, {exponent})"),
    }
}

/// Implements parsing, printing, serde and schema of a distribution over one kind of amount.
macro_rules! drawn {
    ($type:ident, $expected:expr, $parse:expr, $print:expr, $zipf:expr, $description:literal, $examples:expr) => {
        impl FromStr for $type {
            type Err = InvalidScalar;

            fn from_str(text: &str) -> Result<Self, InvalidScalar> {
                match parse_distribution(text, $parse) {
                    Some(Distribution::Zipf { .. }) if !$zipf => Err(InvalidScalar::new(text, $expected)),
                    Some(distribution) => Ok(Self(distribution)),
                    None => Err(InvalidScalar::new(text, $expected)),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&print_distribution(self.0, $print))
            }
        }

        written_as_a_word!($type, $expected, $description, $examples);
    };
}

drawn!(
    Pause,
    PAUSE,
    parse_seconds,
    print_seconds,
    false,
    "A time, drawn: constant, `from..to` (uniform), exponential(mean), normal(mean, deviation), log_normal(median, sigma).",
    ["5s", "1s..3s", "exponential(2s)", "normal(5s, 1s)", "log_normal(2s, 0.5)"]
);
drawn!(
    Sizes,
    SIZES,
    parse_bytes,
    print_number,
    true,
    "Bytes, drawn: constant, `from..to` (uniform), exponential(mean), normal(mean, deviation), log_normal(median, sigma), zipf(count, exponent).",
    ["64", "200..400", "exponential(1KiB)"]
);
drawn!(
    Numbers,
    NUMBERS,
    parse_number,
    print_number,
    true,
    "A number, drawn: constant, `from..to` (uniform), exponential(mean), normal(mean, deviation), log_normal(median, sigma), zipf(count, exponent).",
    ["10", "1..10", "zipf(1000, 1.1)"]
);
