//! Parses the Prometheus text format, as served at `/metrics`.
//!
//! Reads version 0.0.4 and what OpenMetrics adds to a line (exemplars). Pure; nothing is stored: samples borrow from
//! the page, line by line.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

/// One sample line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sample<'a> {
    /// Name of the metric.
    pub name: &'a str,
    /// The text between the braces, already validated.
    labels: &'a str,
    /// The value; may be infinite or NaN.
    pub value: f64,
}

impl<'a> Sample<'a> {
    /// Returns the names and values of the labels, in order.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> + use<'a> {
        let mut rest = self.labels;
        std::iter::from_fn(move || {
            let (name, value, after) = split_label(rest)?;
            rest = after.strip_prefix(',').unwrap_or(after);
            Some((name, unescape(value)))
        })
    }
}

/// A malformed line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadLine {
    /// Line number, from 1.
    pub line: usize,
    /// The start of the line.
    pub text: String,
}

/// Number of characters of a malformed line that an error quotes.
const QUOTED_CHARACTERS_MAX: usize = 60;

impl fmt::Display for BadLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {} is not in the Prometheus text format: {:?}", self.line, self.text)
    }
}

impl Error for BadLine {}

/// Iterates over the samples of a page. Comments and blank lines are skipped.
pub fn samples(text: &str) -> impl Iterator<Item = Result<Sample<'_>, BadLine>> {
    let lines = text.lines().map(str::trim).enumerate();
    let samples = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    samples.map(|(index, line)| {
        sample(line).ok_or_else(|| BadLine {
            line: index + 1,
            text: line.chars().take(QUOTED_CHARACTERS_MAX).collect(),
        })
    })
}

/// Parses `name{label="value",…} value [timestamp] [# exemplar]`.
fn sample(line: &str) -> Option<Sample<'_>> {
    let (name, rest) = line.split_at(name_bytes(line, true));
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => {
            let end = labels_bytes(inside)?;
            (inside.get(..end)?.trim_end(), inside.get(end + 1..)?)
        }
        None => ("", rest),
    };
    let figures = rest.split_once(" #").map_or(rest, |(figures, _exemplar)| figures);
    let mut words = figures.split_ascii_whitespace();
    let value = words.next()?.parse().ok()?;
    let timestamp_is_number = words.next().is_none_or(|word| word.parse::<f64>().is_ok());
    let whole = !name.is_empty() && timestamp_is_number && words.next().is_none();
    whole.then_some(Sample { name, labels, value })
}

/// Returns the length of the labels up to the closing brace in bytes; `None` if they are malformed.
fn labels_bytes(inside: &str) -> Option<usize> {
    let mut rest = inside;
    loop {
        let trimmed = rest.trim_start();
        if trimmed.starts_with('}') {
            return Some(inside.len() - trimmed.len());
        }
        let (_, _, after) = split_label(trimmed)?;
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(next) => next,
            None if after.starts_with('}') => after,
            None => return None,
        };
    }
}

/// Returns the first label's name, its value (still escaped), and the text after it.
fn split_label(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.trim_start();
    let (name, rest) = text.split_at(name_bytes(text, false));
    let value = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
    let mut escaped = false;
    let end = value.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    (!name.is_empty()).then_some((name, value.get(..end)?, value.get(end + 1..)?.trim_start()))
}

/// Returns the length of the name at the start of the text in bytes; only metric names may contain colons.
fn name_bytes(text: &str, colons: bool) -> usize {
    let fits = |(place, byte): (usize, u8)| {
        byte == b'_'
            || byte.is_ascii_alphabetic()
            || (colons && byte == b':')
            || (place > 0 && byte.is_ascii_digit())
    };
    text.bytes().enumerate().take_while(|pair| fits(*pair)).count()
}

fn unescape(value: &str) -> Cow<'_, str> {
    if !value.contains('\\') {
        return Cow::Borrowed(value);
    }
    let mut plain = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        plain.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Read = (String, Vec<(String, String)>, f64);

    fn read(text: &str) -> Result<Vec<Read>, BadLine> {
        let owned = |sample: Sample<'_>| {
            let labels = sample.labels().map(|(name, value)| (name.to_owned(), value.into_owned())).collect();
            (sample.name.to_owned(), labels, sample.value)
        };
        samples(text).map(|sample| sample.map(owned)).collect()
    }

    #[test]
    fn a_page_as_servers_write_it_is_read() {
        let page = "# HELP process_cpu_seconds_total Total CPU time.\n# TYPE process_cpu_seconds_total counter\n\
                    process_cpu_seconds_total 12.47\nprocess_resident_memory_bytes 2.4698061e+07\n\n\
                    http_requests_total{method=\"post\",code=\"200\"} 1027 1395066363000\n\
                    http_requests_total { method = \"get\" , } 3\nempty{} 0\nnode:cpu:rate 0.5\n\
                    something_weird{problem=\"division by \\\"zero\\\"\\\\ in }\\n{\"} +Inf -3982045\n\
                    latency_bucket{le=\"0.1\"} 8 # {trace_id=\"abc\"} 0.067\n# EOF\n";
        let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = vec![
            ("process_cpu_seconds_total".to_owned(), vec![], 12.47),
            ("process_resident_memory_bytes".to_owned(), vec![], 24_698_061.0),
            ("http_requests_total".to_owned(), vec![label("method", "post"), label("code", "200")], 1027.0),
            ("http_requests_total".to_owned(), vec![label("method", "get")], 3.0),
            ("empty".to_owned(), vec![], 0.0),
            ("node:cpu:rate".to_owned(), vec![], 0.5),
            (
                "something_weird".to_owned(),
                vec![label("problem", "division by \"zero\"\\ in }\n{")],
                f64::INFINITY,
            ),
            ("latency_bucket".to_owned(), vec![label("le", "0.1")], 8.0),
        ];
        assert_eq!(read(page), Ok(expected));
    }

    #[test]
    fn what_is_not_the_format_is_named_by_its_line() {
        for bad in [
            "<html>",
            "name",
            "name value",
            "name 1 2 3",
            "name 1 soon",
            "1name 1",
            "name{a=\"b\" 1",
            "name{a=\"b} 1",
            "name{a=b} 1",
            "name{=\"b\"} 1",
            "name{a=\"b\"c=\"d\"} 1",
            "name{,} 1",
            "name{a=\"b\"}",
            "{a=\"b\"} 1",
        ] {
            let text = format!("good 1\n{bad}\n");
            assert_eq!(read(&text), Err(BadLine { line: 2, text: bad.to_owned() }), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            name in "[a-zA-Z_:][a-zA-Z0-9_:]{0,20}",
            labels in prop::collection::vec(("[a-zA-Z_][a-zA-Z0-9_]{0,8}", any::<String>()), 0..4),
            value in any::<f64>().prop_filter("a number", |value| !value.is_nan()),
        ) {
            let labels: Vec<(String, String)> =
                labels.into_iter().map(|(name, value)| (name, value.replace(['\r', '\n'], "\n"))).collect();
            let escape = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let written: Vec<String> =
                labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escape(value))).collect();
            let line = format!("{name}{{{}}} {value}\n", written.join(","));
            prop_assert_eq!(read(&line), Ok(vec![(name, labels, value)]));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = read(&text);
        }

        #[test]
        fn nothing_near_the_format_makes_it_panic(text in "[a{}=\",\\\\ 1#\u{e9}]{0,40}") {
            let _ = read(&text);
        }
    }
}
