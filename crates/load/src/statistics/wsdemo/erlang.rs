//! The original's output format: an Erlang term as laid out by `io:format("Result: ~p")`.

use std::fmt::{self, Formatter};

use super::{Bear, C10k};

/// Erlang's line length; a list that does not fit is broken.
const LINE: usize = 80;
/// Column in which the fields of a figure begin, including the 8 characters of `Result: `.
const FIELD_COLUMN: usize = 14;

pub(super) fn write(result: &C10k, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "[{{connection_time,\n{:13}[", "")?;
    figure(&result.connection_time, f)?;
    write!(f, "]}},\n{:9}{{latency,\n{:13}[", "", "")?;
    figure(&result.latency, f)?;
    write!(f, "]}}")?;
    for (name, count) in [
        ("connections", result.connections),
        ("disconnections", result.disconnections),
        ("messages", result.messages),
        ("connection_timeouts", result.connection_timeouts),
        ("crashes", result.crashes),
    ] {
        write!(f, ",\n{:9}{{{name},{count}}}", "")?;
    }
    write!(f, "]")
}

fn figure(bear: &Bear, f: &mut Formatter<'_>) -> fmt::Result {
    // With too few values, the original's zeros are floats, even for figures that are otherwise integers.
    let whole = |value: u64| if bear.histogram.is_empty() { float(value as f64) } else { value.to_string() };
    for (name, value) in [
        ("min", whole(bear.min)),
        ("max", whole(bear.max)),
        ("arithmetic_mean", float(bear.arithmetic_mean)),
        ("geometric_mean", float(bear.geometric_mean)),
        ("harmonic_mean", float(bear.harmonic_mean)),
        ("median", whole(bear.median)),
        ("variance", float(bear.variance)),
        ("standard_deviation", float(bear.standard_deviation)),
        ("skewness", float(bear.skewness)),
        ("kurtosis", float(bear.kurtosis)),
    ] {
        write!(f, "{{{name},{value}}},\n{:FIELD_COLUMN$}", "")?;
    }
    let percentiles = ["75", "95", "99", "999"].iter().zip(bear.percentiles);
    list(
        "percentile",
        percentiles.map(|(key, value)| format!("{{{key},{}}}", whole(value))).collect(),
        true,
        f,
    )?;
    write!(f, ",\n{:FIELD_COLUMN$}", "")?;
    let bins = if bear.histogram.is_empty() { &[(0, 0)] } else { &bear.histogram[..] };
    list("histogram", bins.iter().map(|(bound, count)| format!("{{{bound},{count}}}")).collect(), false, f)
}

/// Writes a named list: on the same line, on the next line, or with one element per line, whichever fits first.
fn list(name: &str, elements: Vec<String>, one_more_follows: bool, f: &mut Formatter<'_>) -> fmt::Result {
    let together = elements.join(",");
    let closing = if one_more_follows { "]},".len() } else { "]}]},".len() };
    if FIELD_COLUMN + name.len() + "{,[".len() + together.len() + closing <= LINE {
        return write!(f, "{{{name},[{together}]}}");
    }
    write!(f, "{{{name},\n{:1$}[", "", FIELD_COLUMN + 4)?;
    if FIELD_COLUMN + 4 + "[".len() + together.len() + closing <= LINE {
        write!(f, "{together}")?;
    } else {
        write!(f, "{}", elements.join(&format!(",\n{:1$}", "", FIELD_COLUMN + 5)))?;
    }
    write!(f, "]}}")
}

/// Formats a float with the fewest digits that round-trip, and with an exponent only if that is shorter.
fn float(value: f64) -> String {
    if value == 0.0 {
        return "0.0".to_owned();
    }
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let place = exponent.parse::<i32>().unwrap_or(0) + 1;
    let digits = mantissa.trim_start_matches('-').replace('.', "");
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", placed(&digits, place))
}

/// Formats the digits with the decimal point after the `place`-th one.
fn placed(digits: &str, place: i32) -> String {
    let length = digits.len() as i32;
    if place == 0 {
        return format!("0.{digits}");
    }
    if 0 < place && place < length {
        let (whole, fraction) = digits.split_at(place as usize);
        return format!("{whole}.{fraction}");
    }
    let exponent = (place - 1).to_string();
    let cost_of_exponent = exponent.len() as i32 + if length == 1 { 3 } else { 2 };
    if place < 0 && 2 - place <= cost_of_exponent {
        format!("0.{}{digits}", "0".repeat(place.unsigned_abs() as usize))
    } else if place > 0 && place - length + 2 <= cost_of_exponent {
        format!("{digits}{}.0", "0".repeat((place - length) as usize))
    } else {
        let (first, rest) = digits.split_at(1);
        format!("{first}.{}e{exponent}", if rest.is_empty() { "0" } else { rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_result_is_printed_as_it_was() {
        let published = include_str!("../../../testdata/wsdemo-2012-erlang.term");
        let result = C10k {
            connection_time: Bear {
                count: 1028,
                min: 1211,
                max: 7_095_662,
                arithmetic_mean: 865_234.687_743_190_7,
                geometric_mean: 54_697.834_067_532_08,
                harmonic_mean: 7_120.650_345_343_649,
                median: 30_830,
                variance: 2_735_986_827_114.599_6,
                standard_deviation: 1_654_081.868_322_907_2,
                skewness: 1.991_466_841_255_003_6,
                kurtosis: 2.909_594_628_744_607,
                percentiles: [742_384, 4_987_533, 6_799_786, 7_095_626],
                histogram: vec![
                    (601_211, 754),
                    (1_201_211, 43),
                    (1_801_211, 37),
                    (2_301_211, 24),
                    (2_901_211, 29),
                    (4_001_211, 47),
                    (5_001_211, 44),
                    (6_001_211, 34),
                    (7_001_211, 13),
                    (8_001_211, 3),
                ],
            },
            latency: Bear {
                count: 1028,
                min: 339,
                max: 133_716,
                arithmetic_mean: 17_183.052_529_182_878,
                geometric_mean: 10_783.698_396_530_715,
                harmonic_mean: 5_192.896_345_572_704,
                median: 13_152,
                variance: 268_282_946.318_562_45,
                standard_deviation: 16_379.345_112_627_747,
                skewness: 2.149_201_967_594_631_2,
                kurtosis: 6.822_353_838_233_374,
                percentiles: [21_791, 51_176, 72_926, 120_010],
                histogram: [269, 215, 200, 116, 64, 70, 39, 25, 18, 2, 5, 3, 0, 1, 0, 1]
                    .into_iter()
                    .zip([
                        6_339, 12_339, 18_339, 23_339, 29_339, 40_339, 50_339, 60_339, 70_339, 80_339,
                        90_339, 100_339, 110_339, 120_339, 130_339, 140_339,
                    ])
                    .map(|(count, bound)| (bound, count))
                    .collect(),
            },
            connections: 10_000,
            disconnections: 0,
            messages: 2_849_294,
            connection_timeouts: 0,
            crashes: 0,
        };
        assert_eq!(result.to_string(), published.trim_end());
    }

    #[test]
    fn floats_look_as_erlang_prints_them() {
        for (value, expected) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (0.05, "0.05"),
            (0.5, "0.5"),
            (1e-5, "1.0e-5"),
            (1234567.0, "1234567.0"),
            (1e22, "1.0e22"),
            (100.0, "100.0"),
            (1.5e-7, "1.5e-7"),
        ] {
            assert_eq!(float(value), expected);
        }
    }

    #[test]
    fn a_result_without_values_is_all_zeros() {
        let empty = C10k {
            connection_time: Bear::default(),
            latency: Bear::default(),
            connections: 0,
            disconnections: 0,
            messages: 0,
            connection_timeouts: 7,
            crashes: 0,
        };
        let text = empty.to_string();
        assert!(text.contains("{min,0.0}"), "{text}");
        assert!(text.contains("{histogram,[{0,0}]}"), "{text}");
        assert!(text.contains("{connection_timeouts,7}"), "{text}");
    }
}
