//! Notable findings of a run, in plain language.

use super::limits::{OPEN_PUBLICATIONS_MAX, SERIES_SECONDS_MAX, TIME_US_MAX};
use super::plateau::{self, Crowd};
use super::text::{count_of, duration_us, percent};
use super::verdict::{BUSY_SECONDS_SHARE_MAX, THREAD_BUSY};
use super::{Counts, ErrorCount, Finding, RunFacts, Severity, Statistics, Summary};

/// Number of error kinds reported individually; the rest is in the table.
const ERRORS_TOLD: usize = 5;
/// Ratio of latency to service latency from which on users were noticeably affected by delayed sends.
const WAITING_MATTERS: f64 = 2.0;
/// Ratio to the connect time of the run's first quarter from which on connects count as slower.
const SLOWER_MATTERS: u64 = 3;

/// Returns all findings, most severe first. The summary must be complete except for its findings.
pub(super) fn find(statistics: &Statistics, summary: &Summary, facts: &RunFacts) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    findings.verdict(summary);
    findings.losses(facts);
    findings.thresholds(summary);
    findings.plateaus(statistics);
    findings.messages(&summary.counts);
    findings.errors(summary);
    findings.waiting(summary);
    findings.crowd(statistics);
    findings.generator(statistics, summary);
    findings.samples(summary);
    findings.bounds(statistics, summary);
    findings.0.sort_by_key(|finding| finding.severity);
    findings.0
}

struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, severity: Severity, text: String) {
        self.0.push(Finding { severity, text });
    }

    fn verdict(&mut self, summary: &Summary) {
        for reason in &summary.verdict.reasons {
            self.add(Severity::Error, format!("INVALID: {reason}"));
        }
    }

    fn losses(&mut self, facts: &RunFacts) {
        for loss in &facts.losses {
            self.add(Severity::Error, format!("Not all of the run was kept: {loss}."));
        }
    }

    fn samples(&mut self, summary: &Summary) {
        let failed = summary.generator.samples_failed;
        if failed > 0 {
            let text = "Samples of the servers under test that failed, and leave gaps in their figures";
            self.add(Severity::Warning, format!("{text}: {}.", count_of(failed)));
        }
    }

    fn thresholds(&mut self, summary: &Summary) {
        for threshold in summary.thresholds.iter().filter(|threshold| !threshold.passed) {
            let (text, measured) = (&threshold.text, threshold.measured_in_words());
            self.add(Severity::Error, format!("The threshold `{text}` does not hold: {measured}."));
        }
    }

    fn plateaus(&mut self, statistics: &Statistics) {
        for plateau in plateau::find(statistics) {
            let (what, failing) = match plateau.of {
                Crowd::Connections => ("Connections stop", "more connects failed"),
                Crowd::WaitingRequests => ("Waiting requests stop", "more requests failed"),
            };
            let known_as =
                plateau.known_as.map(|meaning| format!(" That is about {meaning}.")).unwrap_or_default();
            let (most, failed) = (count_of(plateau.most), count_of(plateau.failed));
            let from = plateau.from_second;
            self.add(
                Severity::Error,
                format!("{what} at {most}: from second {from} on, {failed} {failing}, whatever the rate.{known_as}"),
            );
        }
    }

    fn messages(&mut self, counts: &Counts) {
        let of_expected = |part: u64| {
            let share = percent(part as f64 / counts.expected.max(1) as f64);
            format!("{} of {} expected ({share})", count_of(part), count_of(counts.expected))
        };
        let alone = |part: u64| count_of(part);
        for (severity, what, count, text) in [
            (Severity::Error, "that never came", counts.lost, of_expected(counts.lost)),
            (Severity::Warning, "that came after the run's end", counts.late, of_expected(counts.late)),
            (Severity::Warning, "that came again", counts.duplicates, alone(counts.duplicates)),
            (
                Severity::Warning,
                "that a later message of the same sender overtook",
                counts.reordered,
                of_expected(counts.reordered),
            ),
            (
                Severity::Warning,
                "to users that should not have got them",
                counts.unexpected,
                alone(counts.unexpected),
            ),
            (
                Severity::Warning,
                "from other machines that may have been lost, or not expected: it cannot be told",
                counts.unjudged,
                alone(counts.unjudged),
            ),
            (
                Severity::Info,
                "on their way when their receiver left or the run was stopped",
                counts.in_flight,
                of_expected(counts.in_flight),
            ),
        ] {
            if count > 0 {
                self.add(severity, format!("Deliveries {what}: {text}."));
            }
        }
        if counts.received > 0 && counts.unstamped == counts.received {
            self.add(
                Severity::Info,
                "No received message carried a stamp, so that nothing can be said of latency, loss or order."
                    .to_owned(),
            );
        }
    }

    fn errors(&mut self, summary: &Summary) {
        for error in summary.errors.iter().take(ERRORS_TOLD) {
            self.add(Severity::Warning, told(error));
        }
        if summary.errors.len() > ERRORS_TOLD {
            let rest: u64 = summary.errors.iter().skip(ERRORS_TOLD).map(|error| error.count).sum();
            let kinds = summary.errors.len() - ERRORS_TOLD;
            self.add(
                Severity::Warning,
                format!("Further errors: {}, of so many kinds: {kinds}.", count_of(rest)),
            );
        }
        if summary.counts.users_failed > 0 {
            self.add(
                Severity::Warning,
                format!(
                    "Users that did not get to the end of their session: {} of {}.",
                    count_of(summary.counts.users_failed),
                    count_of(summary.counts.users)
                ),
            );
        }
    }

    fn waiting(&mut self, summary: &Summary) {
        let (intended, actual) =
            (summary.times.latency.p99_us as f64, summary.times.service_latency.p99_us as f64);
        if actual > 0.0 && intended / actual >= WAITING_MATTERS {
            self.add(
                Severity::Warning,
                format!(
                    "Sends waited for their turn: the 99th percentile of the latency is {} from when messages were due, \
                     and {} from when they went. The first is what users feel.",
                    duration_us(intended),
                    duration_us(actual)
                ),
            );
        }
    }

    /// Reports connects that take longer as the number of users grows.
    fn crowd(&mut self, statistics: &Statistics) {
        let connecting: Vec<_> =
            statistics.seconds.rows().into_iter().filter(|row| row.connect.count > 0).collect();
        let quarter = connecting.len() / 4;
        if quarter == 0 {
            return;
        }
        let median_p95 = |rows: &[super::SeriesRow]| {
            let mut times: Vec<u64> = rows.iter().map(|row| row.connect.p95_us).collect();
            times.sort_unstable();
            times[times.len() / 2]
        };
        let (first, last) = (&connecting[..quarter], &connecting[connecting.len() - quarter..]);
        let (before, after) = (median_p95(first), median_p95(last));
        if after >= SLOWER_MATTERS * before.max(1_000) {
            let users = last.last().map_or(0, |row| row.connected);
            self.add(
                Severity::Info,
                format!(
                    "Connects became slower with the crowd: 95 % took up to {} at first and up to {} towards {} connections.",
                    duration_us(before as f64),
                    duration_us(after as f64),
                    count_of(users)
                ),
            );
        }
    }

    fn generator(&mut self, statistics: &Statistics, summary: &Summary) {
        let samples = || statistics.seconds.each().filter_map(|(_, _, second)| second?.sample.as_ref());
        let (sampled, busy) = samples().fold((0_u64, 0_u64), |(sampled, busy), sample| {
            (sampled + 1, busy + u64::from(sample.generator_thread_cpu_max >= THREAD_BUSY))
        });
        if summary.verdict.valid && busy as f64 > sampled as f64 * BUSY_SECONDS_SHARE_MAX {
            self.add(
                Severity::Warning,
                format!(
                    "In {} of {} seconds one of the generator's threads was at least {} busy: it kept up, but has nothing \
                     to spare.",
                    count_of(busy),
                    count_of(sampled),
                    percent(THREAD_BUSY)
                ),
            );
        }
        if summary.generator.clock_error_us > 0 {
            self.add(
                Severity::Info,
                format!(
                    "Times between users on different machines are exact to {} only: their clocks may differ by that.",
                    duration_us(summary.generator.clock_error_us as f64)
                ),
            );
        }
    }

    /// Reports each limit on stored data that was reached.
    fn bounds(&mut self, statistics: &Statistics, summary: &Summary) {
        let times = &statistics.times;
        let beyond: u64 =
            [&times.latency, &times.connect, &times.join, &times.reply, &times.http, &times.session]
                .iter()
                .map(|population| population.beyond_range())
                .sum();
        for (count, what) in [
            (beyond, format!("Times above {}, which count as that", duration_us(TIME_US_MAX as f64))),
            (
                statistics.seconds.beyond(),
                format!("Observations after second {SERIES_SECONDS_MAX}, which are in the totals only"),
            ),
            (
                summary.generator.deliveries_unjudged,
                "Deliveries that came too late to say whether they were in order, or had come before"
                    .to_owned(),
            ),
            (
                summary.generator.publications_unjudged,
                "Publications that could not be followed to their receivers".to_owned(),
            ),
            (
                statistics.unlabelled,
                "Times of labels beyond those that are kept, which are in the totals only".to_owned(),
            ),
            (
                statistics.publications.settled_early(),
                format!(
                    "Publications that were not followed to their last receiver, since more than {} were open",
                    count_of(OPEN_PUBLICATIONS_MAX as u64)
                ),
            ),
        ] {
            if count > 0 {
                self.add(Severity::Info, format!("{what}: {}.", count_of(count)));
            }
        }
    }
}

/// Describes one kind of error in a sentence.
fn told(error: &ErrorCount) -> String {
    let ErrorCount { kind, outcome, code, count, sources, first_second, example } = error;
    let code = if *code > 0 { format!(" {code}") } else { String::new() };
    let source = match sources.first_key_value() {
        Some((source, _)) if sources.len() == 1 => format!(", all from {source}"),
        _ => format!(", from {} source addresses", sources.len()),
    };
    let outcome = outcome.replace('_', " ");
    format!("{} × {kind}: {outcome}{code}, first at {first_second:.1} s{source}: {example}", count_of(*count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::{Kind, Nanos, Observation, Outcome};
    use crate::scenario::plan::{Measure, Threshold, ThresholdComparison};
    use crate::statistics::example::observation;
    use crate::statistics::{ErrorExample, MachineSample, RunFacts};

    const SECOND: Nanos = 1_000_000_000;

    fn of(kind: Kind, outcome: Outcome, at: Nanos) -> Observation {
        Observation { kind, outcome, at, intended: at, began: at, ..observation() }
    }

    fn facts() -> RunFacts {
        let text = "connection refused (os error 111)".to_owned();
        RunFacts {
            sources: vec!["127.0.0.9".to_owned()],
            examples: vec![ErrorExample { kind: Kind::Connect, outcome: Outcome::Refused, code: 0, text }],
            thresholds: vec![Threshold {
                text: "errors == 0".to_owned(),
                measure: Measure::Errors,
                comparison: ThresholdComparison::Equal,
                value: 0.0,
            }],
            ..RunFacts::default()
        }
    }

    fn findings(stream: &[Observation]) -> Vec<Finding> {
        let mut statistics = Statistics::new();
        statistics.observe(&of(Kind::Arrival, Outcome::Ok, 0));
        stream.iter().for_each(|seen| statistics.observe(seen));
        statistics.summary(&facts()).findings
    }

    #[test]
    fn a_run_as_it_should_be_has_no_findings() {
        let echo = Observation { count: 1, ..of(Kind::Send, Outcome::Ok, SECOND) };
        assert_eq!(findings(&[echo, of(Kind::Receive, Outcome::Ok, SECOND)]), []);
    }

    #[test]
    fn what_stands_out_is_said_gravest_first() {
        let send = Observation { count: 2, ..of(Kind::Send, Outcome::Ok, SECOND) };
        let waited = Observation { began: 4 * SECOND, ..of(Kind::Receive, Outcome::Reordered, 5 * SECOND) };
        let findings = findings(&[
            send,
            Observation { intended: 0, ..waited },
            of(Kind::Receive, Outcome::Duplicate, 5 * SECOND),
            Observation { count: 1, ..of(Kind::Missing, Outcome::Lost, 9 * SECOND) },
            of(Kind::Connect, Outcome::Refused, 3 * SECOND),
            of(Kind::Finish, Outcome::Refused, 3 * SECOND),
        ]);
        let expected = [
            (Severity::Error, "The threshold `errors == 0` does not hold: 1."),
            (Severity::Error, "Deliveries that never came: 1 of 2 expected (50 %)."),
            (Severity::Warning, "Deliveries that came again: 1."),
            (
                Severity::Warning,
                "Deliveries that a later message of the same sender overtook: 1 of 2 expected (50 %).",
            ),
            (
                Severity::Warning,
                "1 × connect: refused, first at 3.0 s, all from 127.0.0.9: connection refused (os error 111)",
            ),
            (Severity::Warning, "Users that did not get to the end of their session: 1 of 1."),
            (
                Severity::Warning,
                "Sends waited for their turn: the 99th percentile of the latency is 5.00 s from when messages were due, \
                 and 1.00 s from when they went. The first is what users feel.",
            ),
        ];
        let found: Vec<_> =
            findings.iter().map(|finding| (finding.severity, finding.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn connects_that_become_slower_with_the_crowd_are_said_to() {
        let connects: Vec<_> = (0..40)
            .map(|second| {
                let at = second * SECOND;
                let took = if second < 20 { 2_000_000 } else { 90_000_000 };
                Observation { at: at + took, ..of(Kind::Connect, Outcome::Ok, at) }
            })
            .collect();
        let findings = findings(&connects);
        assert!(findings[0].text.contains("slower with the crowd"), "{findings:?}");
        assert!(findings[0].text.contains("towards 40 connections"), "{findings:?}");
    }

    #[test]
    fn a_busy_generator_that_kept_up_is_a_warning_and_a_plateau_is_an_error() {
        let mut statistics = Statistics::new();
        statistics.observe(&of(Kind::Arrival, Outcome::Ok, 0));
        for second in 0..20 {
            for connect in 0..200 {
                let outcome =
                    if second * 200 + connect < 1000 { Outcome::Ok } else { Outcome::ConnectTimeout };
                statistics.observe(&of(Kind::Connect, outcome, second * SECOND + connect));
            }
            let sample = MachineSample { generator_thread_cpu_max: 0.95, ..MachineSample::default() };
            statistics.add_sample(second as u32, sample);
        }
        let summary = statistics.summary(&RunFacts::default());
        assert!(summary.verdict.valid, "{:?}", summary.verdict);
        let texts: Vec<_> = summary.findings.iter().map(|finding| finding.text.as_str()).collect();
        assert!(texts[0].starts_with("Connections stop at 1,000: from second 4 on"), "{texts:?}");
        assert!(texts[0].contains("(nofile)"), "{texts:?}");
        assert!(texts.iter().any(|text| text.contains("has nothing to spare")), "{texts:?}");
    }

    #[test]
    fn what_was_not_kept_sampled_or_judged_is_said() {
        let mut statistics = Statistics::new();
        statistics.observe(&of(Kind::Arrival, Outcome::Ok, 0));
        statistics.observe(&of(Kind::Finish, Outcome::Stopped, SECOND));
        let mut facts =
            RunFacts { losses: vec!["the event log: disk full".to_owned()], ..RunFacts::default() };
        facts.generator.samples_failed = 3;
        facts.generator.deliveries_unjudged = 2;
        facts.generator.publications_unjudged = 1;
        let summary = statistics.summary(&facts);
        let said: Vec<_> =
            summary.findings.iter().map(|finding| (finding.severity, &*finding.text)).collect();
        let expected = [
            (Severity::Error, "Not all of the run was kept: the event log: disk full."),
            (
                Severity::Warning,
                "Samples of the servers under test that failed, and leave gaps in their figures: 3.",
            ),
            (
                Severity::Info,
                "Deliveries that came too late to say whether they were in order, or had come before: 2.",
            ),
            (Severity::Info, "Publications that could not be followed to their receivers: 1."),
        ];
        assert_eq!(said, expected);
        let counts = summary.counts;
        assert_eq!(counts.users, counts.users_finished + counts.users_failed + counts.users_stopped);
    }
}
