//! Thresholds: `p99 < 100ms`, `errors == 0`, `p95(connect) <= 1s`, `error_rate < 1%`.

use super::super::plan::{Measure, Metric, Threshold, ThresholdComparison};
use super::super::source::Time;
use super::Compiler;

const HELP: &str = "examples: `p99 < 100ms`, `p95(connect) < 1s`, `mean(join) < 50ms`, `max(http) < 2s`, \
    `p99('my label') < 1s`, `errors == 0`, `error_rate < 1%`, `lost == 0`, `receive_rate > 1000/s`, \
    `connected_max >= 10000`";

/// Comparison operators, longer ones before their own prefixes.
const SIGNS: [(&str, ThresholdComparison); 6] = [
    ("<=", ThresholdComparison::LessOrEqual),
    (">=", ThresholdComparison::GreaterOrEqual),
    ("==", ThresholdComparison::Equal),
    ("!=", ThresholdComparison::NotEqual),
    ("<", ThresholdComparison::Less),
    (">", ThresholdComparison::Greater),
];

/// The unit of a threshold's value.
#[derive(Clone, Copy)]
enum Unit {
    Time,
    Share,
    Rate,
    Count,
}

impl Compiler<'_> {
    pub(super) fn thresholds(&mut self) -> Vec<Threshold> {
        let scenario = self.scenario;
        self.within("thresholds", |compiler| {
            let thresholds = scenario.thresholds.0.iter().enumerate();
            thresholds
                .filter_map(|(index, text)| compiler.within_item(index, |compiler| compiler.threshold(text)))
                .collect()
        })
    }

    fn threshold(&mut self, text: &str) -> Option<Threshold> {
        let Some((measure, comparison, value)) = split(text) else {
            self.complain_with(format!("`{text}` is not a comparison"), Some(HELP.to_owned()));
            return None;
        };
        let (measure, unit) = self.measure(measure)?;
        let Some(value) = parse_value(value, unit) else {
            let expected = match unit {
                Unit::Time => "a time such as `100ms`",
                Unit::Share => "a share such as `1%` or `0.01`",
                Unit::Rate => "a rate such as `1000/s`",
                Unit::Count => "a number",
            };
            self.complain_with(format!("`{value}` is not {expected}"), Some(HELP.to_owned()));
            return None;
        };
        Some(Threshold { text: text.to_owned(), measure, comparison, value })
    }

    fn measure(&mut self, text: &str) -> Option<(Measure, Unit)> {
        let counted = match text {
            "errors" => Some((Measure::Errors, Unit::Count)),
            "error_rate" => Some((Measure::ErrorRate, Unit::Share)),
            "lost" => Some((Measure::Lost, Unit::Count)),
            "duplicates" => Some((Measure::Duplicates, Unit::Count)),
            "reordered" => Some((Measure::Reordered, Unit::Count)),
            "late" => Some((Measure::Late, Unit::Count)),
            "receive_rate" => Some((Measure::ReceiveRate, Unit::Rate)),
            "connected_max" => Some((Measure::ConnectedMax, Unit::Count)),
            _ => None,
        };
        if counted.is_some() {
            return counted;
        }
        let (statistic, metric) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((statistic, metric)) => (statistic.trim(), self.metric(metric.trim())?),
            None => (text, Metric::Latency),
        };
        let percentile = |text: &str| text.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
        let measure = match statistic {
            "mean" => Measure::Mean(metric),
            "max" => Measure::Max(metric),
            "median" => Measure::Percentile(metric, 50.0),
            "min" => Measure::Percentile(metric, 0.0),
            statistic => match statistic.strip_prefix('p').and_then(percentile) {
                Some(percentile) => Measure::Percentile(metric, percentile),
                None => {
                    self.complain_with(format!("unknown statistic `{statistic}`"), Some(HELP.to_owned()));
                    return None;
                }
            },
        };
        Some((measure, Unit::Time))
    }

    fn metric(&mut self, name: &str) -> Option<Metric> {
        let quoted = name.strip_prefix('\'').and_then(|name| name.strip_suffix('\''));
        if quoted.is_none()
            && let Some((_, metric)) = Metric::NAMED.iter().find(|(known, _)| *known == name)
        {
            return Some(metric.clone());
        }
        let label = quoted.unwrap_or(name);
        if let Some(label) = self.names.labels.find(label) {
            return Some(Metric::Labelled(super::super::plan::LabelId(label)));
        }
        let labels: Vec<String> = self.names.labels.names().map(str::to_owned).collect();
        let known = Metric::NAMED.iter().map(|(name, _)| *name).chain(labels.iter().map(String::as_str));
        self.complain_unknown("metric or label", label, known);
        None
    }
}

/// Splits a threshold into the text before the operator, the operator, and the text after it. A quoted label may
/// contain operators.
fn split(text: &str) -> Option<(&str, ThresholdComparison, &str)> {
    let mut quoted = false;
    for (place, character) in text.char_indices() {
        quoted ^= character == '\'';
        if quoted {
            continue;
        }
        if let Some((sign, comparison)) = SIGNS.iter().find(|(sign, _)| text[place..].starts_with(sign)) {
            let (measure, value) = (text[..place].trim(), text[place + sign.len()..].trim());
            return (!measure.is_empty() && !value.is_empty()).then_some((measure, *comparison, value));
        }
    }
    None
}

fn parse_value(text: &str, unit: Unit) -> Option<f64> {
    let number =
        |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    match unit {
        Unit::Time => text.parse::<Time>().ok().map(|time| time.0.as_secs_f64() * 1e6),
        Unit::Share => match text.strip_suffix('%') {
            Some(percent) => number(percent).map(|percent| percent / 100.0),
            None => number(text),
        },
        Unit::Rate => match text.strip_suffix("/s") {
            Some(rate) => number(rate),
            None => number(text),
        },
        Unit::Count => number(&text.replace('_', "")),
    }
}
