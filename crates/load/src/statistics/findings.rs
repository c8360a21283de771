//! What stands out in a run, in plain language.

use super::limits::{OPEN_PUBLICATIONS_MAX, SERIES_SECONDS_MAX, TIME_US_MAX};
use super::text::{count_of, duration_us, percent};
use super::verdict::{BUSY_SECONDS_SHARE_MAX, THREAD_BUSY};
use super::{Counts, ErrorCount, Finding, Severity, Statistics, Summary, plateau};

/// Kinds of errors that are told one by one; the rest is in the table.
const ERRORS_TOLD: usize = 5;
/// So many times the latency from the actual send: users felt that sends had waited.
const WAITING_MATTERS: f64 = 2.0;
/// So many times the connect time of the run's first quarter.
const SLOWER_MATTERS: u64 = 3;

/// Everything that stands out, gravest first. The summary has everything but its findings.
pub(super) fn find(statistics: &Statistics, summary: &Summary) -> Vec<Finding> {
    let mut findings = Findings(Vec::new());
    findings.verdict(summary);
    findings.thresholds(summary);
    findings.plateau(statistics);
    findings.messages(&summary.counts);
    findings.errors(summary);
    findings.waiting(summary);
    findings.crowd(statistics);
    findings.generator(statistics, summary);
    findings.bounds(statistics);
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

    fn thresholds(&mut self, summary: &Summary) {
        for threshold in summary.thresholds.iter().filter(|threshold| !threshold.passed) {
            let measured = match threshold.measured {
                Some(measured) => format!("measured {}", (measured * 1000.0).round() / 1000.0),
                None => "there was nothing to measure".to_owned(),
            };
            self.add(
                Severity::Error,
                format!("The threshold `{}` does not hold: {measured}.", threshold.text),
            );
        }
    }

    fn plateau(&mut self, statistics: &Statistics) {
        let Some(plateau) = plateau::find(statistics) else { return };
        let known_as =
            plateau.known_as.map(|meaning| format!(" That is about {meaning}.")).unwrap_or_default();
        self.add(
            Severity::Error,
            format!(
                "Connections stop at {}: from second {} on, {} more connects failed, whatever the rate.{known_as}",
                count_of(plateau.connected),
                plateau.from_second,
                count_of(plateau.failed),
            ),
        );
    }

    fn messages(&mut self, counts: &Counts) {
        let of_expected = |part: u64| {
            format!(
                "{} of {} expected deliveries ({})",
                count_of(part),
                count_of(counts.expected),
                percent(part as f64 / counts.expected.max(1) as f64)
            )
        };
        for (severity, count, text) in [
            (Severity::Error, counts.lost, format!("{} never came.", of_expected(counts.lost))),
            (
                Severity::Warning,
                counts.late,
                format!("{} came after the run's end.", of_expected(counts.late)),
            ),
            (
                Severity::Warning,
                counts.duplicates,
                format!("{} deliveries came again.", count_of(counts.duplicates)),
            ),
            (
                Severity::Warning,
                counts.reordered,
                format!(
                    "{} were overtaken by a later message of the same sender.",
                    of_expected(counts.reordered)
                ),
            ),
            (
                Severity::Warning,
                counts.unexpected,
                format!(
                    "{} deliveries came to users that should not have got them.",
                    count_of(counts.unexpected)
                ),
            ),
            (
                Severity::Info,
                counts.in_flight,
                format!(
                    "{} were on their way when their receiver left or the run was stopped.",
                    of_expected(counts.in_flight)
                ),
            ),
        ] {
            if count > 0 {
                self.add(severity, text);
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
            self.add(Severity::Warning, format!("{} errors of {kinds} further kinds.", count_of(rest)));
        }
        if summary.counts.users_failed > 0 {
            self.add(
                Severity::Warning,
                format!(
                    "{} of {} users did not get to the end of their session.",
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

    /// Connects that take longer the more users there are.
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

    /// Where a bound of what is kept was reached.
    fn bounds(&mut self, statistics: &Statistics) {
        let times = &statistics.times;
        let beyond: u64 =
            [&times.latency, &times.connect, &times.join, &times.reply, &times.http, &times.session]
                .iter()
                .map(|population| population.beyond_range())
                .sum();
        for (count, text) in [
            (
                beyond,
                format!("times were longer than {}, and count as that", duration_us(TIME_US_MAX as f64)),
            ),
            (
                statistics.seconds.beyond(),
                format!("observations after second {SERIES_SECONDS_MAX} are in the totals only"),
            ),
            (
                statistics.unlabelled,
                "times have labels beyond those that are kept, and are in the totals only".to_owned(),
            ),
            (
                statistics.publications.settled_early(),
                format!(
                    "publications were not followed to their last receiver, since more than {} were open",
                    count_of(OPEN_PUBLICATIONS_MAX as u64)
                ),
            ),
        ] {
            if count > 0 {
                self.add(Severity::Info, format!("{} {text}.", count_of(count)));
            }
        }
    }
}

/// One kind of error as a sentence.
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
