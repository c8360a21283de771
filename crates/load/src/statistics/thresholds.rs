//! Evaluates the scenario's thresholds.

use super::text::{count_of, duration_us, percent};
use super::{Statistics, ThresholdResult, ThresholdUnit};
use crate::scenario::plan::{Measure, Threshold, ThresholdComparison};

/// Evaluates one threshold over a run of this many seconds. A threshold on something that was not measured fails.
pub(super) fn judge(threshold: &Threshold, statistics: &Statistics, seconds: f64) -> ThresholdResult {
    let measured = measure(&threshold.measure, statistics, seconds);
    // Deliveries that may have been lost must not count as not lost.
    let unjudged = if threshold.measure == Measure::Lost { statistics.counts().unjudged } else { 0 };
    let passed = measured.is_some_and(|measured| {
        let holds = |measured: f64| holds(measured, threshold.comparison, threshold.value);
        holds(measured) && holds(measured + unjudged as f64)
    });
    let unit = unit(&threshold.measure);
    ThresholdResult { text: threshold.text.clone(), measured, unjudged, unit, passed }
}

impl ThresholdResult {
    /// Describes the measured value with its unit, the same way everywhere a threshold is reported.
    #[must_use]
    pub fn measured_in_words(&self) -> String {
        let Some(measured) = self.measured.filter(|measured| measured.is_finite()) else {
            return "nothing was measured".to_owned();
        };
        let unjudged = match self.unjudged {
            0 => String::new(),
            unjudged => format!(", and {} that cannot be judged", count_of(unjudged)),
        };
        match self.unit {
            ThresholdUnit::Count => count_of(measured.max(0.0).round() as u64) + &unjudged,
            ThresholdUnit::Microseconds => duration_us(measured),
            ThresholdUnit::Share => percent(measured),
            ThresholdUnit::PerSecond if measured < 100.0 => format!("{measured:.2}/s"),
            ThresholdUnit::PerSecond => format!("{}/s", count_of(measured.round() as u64)),
        }
    }
}

fn unit(measure: &Measure) -> ThresholdUnit {
    match measure {
        Measure::Percentile(..) | Measure::Mean(_) | Measure::Max(_) => ThresholdUnit::Microseconds,
        Measure::ErrorRate => ThresholdUnit::Share,
        Measure::ReceiveRate => ThresholdUnit::PerSecond,
        Measure::Errors
        | Measure::Lost
        | Measure::Duplicates
        | Measure::Reordered
        | Measure::Late
        | Measure::ConnectedMax => ThresholdUnit::Count,
    }
}

/// Returns the measured value: times in microseconds, shares as 0 … 1, everything else as it is.
fn measure(measure: &Measure, statistics: &Statistics, seconds: f64) -> Option<f64> {
    let counts = statistics.counts();
    match measure {
        Measure::Percentile(metric, percentile) => {
            Some(statistics.population(metric)?.quantile_us(percentile / 100.0)? as f64)
        }
        Measure::Mean(metric) => statistics.population(metric)?.mean_us(),
        Measure::Max(metric) => Some(statistics.population(metric)?.max_us()? as f64),
        Measure::Errors => Some(counts.errors as f64),
        Measure::ErrorRate => {
            // Some errors, such as a connection closed by the server, do not belong to an operation just started.
            let operations = statistics.operations.max(counts.errors);
            (operations > 0).then(|| counts.errors as f64 / operations as f64)
        }
        Measure::Lost => Some(counts.lost as f64),
        Measure::Duplicates => Some(counts.duplicates as f64),
        Measure::Reordered => Some(counts.reordered as f64),
        Measure::Late => Some(counts.late as f64),
        Measure::ReceiveRate => (seconds > 0.0).then(|| counts.received as f64 / seconds),
        Measure::ConnectedMax => Some(counts.connected_max as f64),
    }
}

fn holds(measured: f64, comparison: ThresholdComparison, value: f64) -> bool {
    match comparison {
        ThresholdComparison::Less => measured < value,
        ThresholdComparison::LessOrEqual => measured <= value,
        ThresholdComparison::Equal => measured == value,
        ThresholdComparison::NotEqual => measured != value,
        ThresholdComparison::GreaterOrEqual => measured >= value,
        ThresholdComparison::Greater => measured > value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Kind, Observation, Outcome};
    use crate::scenario::plan::{LabelId, Metric};
    use crate::statistics::example::observation;

    #[test]
    fn thresholds_are_judged_in_their_own_unit_and_fail_without_a_measurement() {
        let mut statistics = Statistics::new();
        for latency_ms in 1..=100 {
            let at = latency_ms * 1_000_000;
            statistics.observe(&Observation { kind: Kind::Receive, at, ..observation() });
        }
        let connect = Observation { kind: Kind::Connect, ..observation() };
        statistics.observe(&connect);
        statistics.observe(&Observation { outcome: Outcome::Refused, ..connect });
        use Measure::*;
        use ThresholdComparison::*;
        let nothing = "nothing was measured";
        for (measure, comparison, value, expected, words) in [
            (Percentile(Metric::Latency, 50.0), Less, 51_000.0, (Some(50_015.0), true), "50.0 ms"),
            (Percentile(Metric::Latency, 99.0), Less, 50_000.0, (Some(99_007.0), false), "99.0 ms"),
            (Percentile(Metric::Join, 99.0), Less, 50_000.0, (None, false), nothing),
            (Percentile(Metric::Labelled(LabelId(3)), 99.0), GreaterOrEqual, 0.0, (None, false), nothing),
            (Max(Metric::Latency), LessOrEqual, 100_000.0, (Some(100_000.0), true), "100 ms"),
            (Errors, Equal, 0.0, (Some(1.0), false), "1"),
            (ErrorRate, LessOrEqual, 0.5, (Some(0.5), true), "50 %"),
            (Lost, NotEqual, 0.0, (Some(0.0), false), "0"),
            (ReceiveRate, Greater, 49.0, (Some(50.0), true), "50.00/s"),
            (ConnectedMax, Equal, 1.0, (Some(1.0), true), "1"),
        ] {
            let threshold = Threshold { text: "as written".to_owned(), measure, comparison, value };
            let result = judge(&threshold, &statistics, 2.0);
            assert_eq!((result.measured, result.passed), expected, "{threshold:?}");
            assert_eq!(result.text, "as written");
            assert_eq!(result.measured_in_words(), words, "{threshold:?}");
        }
    }

    #[test]
    fn what_may_have_been_lost_does_not_pass_for_nothing_lost() {
        let missing =
            |outcome, count| Observation { kind: Kind::Missing, outcome, count, code: 2, ..observation() };
        let mut statistics = Statistics::new();
        statistics.observe(&missing(Outcome::Lost, 2));
        statistics.observe(&missing(Outcome::Unjudged, 3));
        use ThresholdComparison::{Equal, LessOrEqual};
        for (comparison, value, passed) in
            [(LessOrEqual, 5.0, true), (LessOrEqual, 4.0, false), (Equal, 2.0, false)]
        {
            let threshold = Threshold { text: String::new(), measure: Measure::Lost, comparison, value };
            let result = judge(&threshold, &statistics, 1.0);
            assert_eq!(result.passed, passed, "{threshold:?}");
            assert_eq!(result.measured_in_words(), "2, and 3 that cannot be judged");
        }
        let counts = statistics.counts();
        assert_eq!(
            (counts.expected, counts.lost, counts.unjudged),
            (2, 2, 3),
            "what another machine sent was expected"
        );
        assert!(counts.adds_up());
    }
}
