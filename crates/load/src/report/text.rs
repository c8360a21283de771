//! Formats one run for the terminal.

use std::fmt::Write as _;

use super::chart::{Unit, grouped};
use super::plots::memory_fits;
use super::{Cell, Run, Table, generator_facts, siege};
use crate::floor::FACT;
use crate::statistics::{MachineFacts, Severity, Spread};

/// Whether escape sequences for colours are written. Off unless the output is a terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// No escape sequences.
    Plain,
    /// Bold and colours.
    Coloured,
}

#[derive(Clone, Copy)]
enum Paint {
    Strong,
    Good,
    Fair,
    Bad,
}

impl Style {
    fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Strong => "1",
            Paint::Good => "1;32",
            Paint::Fair => "33",
            Paint::Bad => "1;31",
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// Returns verdict, thresholds, findings, users, messages, times, errors, servers, the generator and the floor of one
/// run. Control characters in text from peers are replaced, so that no server can write to the reader's terminal.
pub fn text(run: &Run, style: Style) -> String {
    let mut text = String::new();
    verdict(&mut text, run, style);
    findings(&mut text, run, style);
    section(&mut text, style, "Users and messages", &counts(run));
    section(&mut text, style, "Times", &times(run).text());
    if !run.summary.errors.is_empty() {
        section(&mut text, style, "Errors", &errors(run).text());
    }
    servers(&mut text, run, style);
    let generator = generator_facts(&run.summary.generator);
    if !generator.is_empty() {
        let lines: String = generator.iter().map(|(name, value)| format!("{name:<26}{value}\n")).collect();
        section(&mut text, style, "Generator", &clean_lines(&lines));
    }
    run.summary.machines.iter().for_each(|machine| floor(&mut text, machine, style));
    if run.summary.counts.http + run.summary.counts.http_failed > 0 {
        section(&mut text, style, "HTTP (Siege's report)", &siege(&run.summary));
    }
    text.chars().map(|character| if is_harmful(character, style) { '\u{fffd}' } else { character }).collect()
}

/// Returns whether a control character is removed. The only escape sequences left at this point are our own: text from
/// peers was cleaned when it was inserted.
fn is_harmful(character: char, style: Style) -> bool {
    character.is_control() && character != '\n' && !(character == '\u{1b}' && style == Style::Coloured)
}

/// Like [`clean`], for several lines, whose line breaks are kept.
fn clean_lines(lines: &str) -> String {
    lines.lines().map(|line| clean(line) + "\n").collect()
}

fn clean(words: &str) -> String {
    words.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

fn verdict(text: &mut String, run: &Run, style: Style) {
    let summary = &run.summary;
    let heading = style.paint(Paint::Strong, &clean(run.heading()));
    let (ended, seconds) = (clean(&summary.ended_by), Unit::Clock.format(summary.seconds));
    let _ = writeln!(text, "{heading}  seed {}, {seconds} long, ended by: {ended}", summary.seed);
    if run.name() != run.heading() {
        let _ = writeln!(text, "{}", clean(run.name()));
    }
    match summary.verdict.valid {
        true => text.push_str(&style.paint(Paint::Good, "VALID")),
        false => text.push_str(&style.paint(Paint::Bad, "INVALID")),
    }
    text.push('\n');
    for reason in &summary.verdict.reasons {
        let _ = writeln!(text, "  {}", clean(reason));
    }
    for threshold in &summary.thresholds {
        let measured = threshold.measured_in_words();
        let (mark, paint) = if threshold.passed { ("holds ", Paint::Good) } else { ("FAILED", Paint::Bad) };
        let _ = writeln!(text, "  {} {} ({measured})", style.paint(paint, mark), clean(&threshold.text));
    }
}

fn findings(text: &mut String, run: &Run, style: Style) {
    let mut lines = String::new();
    for finding in &run.summary.findings {
        let mark = match finding.severity {
            Severity::Error => style.paint(Paint::Bad, "error  "),
            Severity::Warning => style.paint(Paint::Fair, "warning"),
            Severity::Info => "note   ".to_owned(),
        };
        let _ = writeln!(lines, "{mark}  {}", clean(&finding.text));
    }
    if !lines.is_empty() {
        section(text, style, "Findings", &lines);
    }
}

fn section(text: &mut String, style: Style, heading: &str, body: &str) {
    let _ = write!(text, "\n{}\n", style.paint(Paint::Strong, heading));
    for line in body.lines() {
        let _ = writeln!(text, "  {line}");
    }
}

fn counts(run: &Run) -> String {
    let counts = &run.summary.counts;
    let seconds = run.seconds();
    let rate = |count: u64| Unit::PerSecond.format(count as f64 / seconds);
    let mut lines = vec![
        (
            "users",
            format!(
                "{} of {} wanted: {} finished, {} failed, {} stopped at the end of the run; {} not started",
                grouped(counts.users),
                grouped(counts.users_wanted),
                grouped(counts.users_finished),
                grouped(counts.users_failed),
                grouped(counts.users_stopped),
                grouped(counts.users_dropped)
            ),
        ),
        (
            "connections",
            format!(
                "maximum {}, {} opened, {} attempts failed, {} ended by the server",
                grouped(counts.connected_max),
                grouped(counts.connects),
                grouped(counts.connects_failed),
                grouped(counts.disconnects)
            ),
        ),
    ];
    if counts.joins + counts.joins_failed > 0 {
        lines.push(("joins", format!("{}, {} failed", grouped(counts.joins), grouped(counts.joins_failed))));
    }
    lines.push((
        "messages",
        format!(
            "{} sent ({}), {} received ({})",
            grouped(counts.sent),
            rate(counts.sent),
            grouped(counts.received),
            rate(counts.received)
        ),
    ));
    if counts.expected > 0 {
        lines.push((
            "deliveries",
            format!(
                "{} expected = {} delivered + {} lost + {} late + {} in flight",
                grouped(counts.expected),
                grouped(counts.delivered),
                grouped(counts.lost),
                grouped(counts.late),
                grouped(counts.in_flight)
            ),
        ));
        lines.push((
            "",
            format!(
                "{} duplicated, {} reordered, {} unexpected",
                grouped(counts.duplicates),
                grouped(counts.reordered),
                grouped(counts.unexpected)
            ),
        ));
        if counts.unjudged > 0 {
            lines.push(("", format!("{} between machines could not be judged", grouped(counts.unjudged))));
        }
    }
    lines.push((
        "payload",
        format!(
            "{} sent, {} received",
            Unit::Bytes.format(counts.bytes_sent as f64),
            Unit::Bytes.format(counts.bytes_received as f64)
        ),
    ));
    lines.push(("errors", grouped(counts.errors)));
    lines.iter().map(|(name, value)| format!("{name:<13}{value}\n")).collect()
}

/// Returns a table of every kind of time that was measured.
pub(super) fn times(run: &Run) -> Table {
    let mut table = Table::new(&["", "count", "mean", "± sd", "median", "p90", "p99", "p99.9", "max"]);
    let (times, fan_out) = (&run.summary.times, &run.summary.fan_out);
    let rows = [
        ("latency from intended send time", &times.latency),
        ("latency from actual send time", &times.service_latency),
        ("to the first receiver", &fan_out.first_receiver),
        ("to the last receiver", &fan_out.last_receiver),
        ("connect", &times.connect),
        ("join", &times.join),
        ("reply", &times.reply),
        ("reply from due time", &times.reply_intended),
        ("HTTP request", &times.http),
        ("HTTP request from due time", &times.http_intended),
        ("session", &times.session),
        ("generator: send lag", &times.send_lag),
        ("generator: begin lag", &times.begin_lag),
        ("generator: burst", &times.burst),
        ("generator: read lag", &run.summary.generator.read_lag),
        ("generator: wait for a CPU", &run.summary.generator.cpu_wait),
    ];
    let labelled = times.labelled.iter().map(|labelled| (labelled.label.as_str(), &labelled.spread));
    for (name, spread) in rows.into_iter().chain(labelled).filter(|(_, spread)| spread.count > 0) {
        table.rows.push(row(&clean(name), spread));
    }
    table
}

fn row(name: &str, spread: &Spread) -> Vec<Cell> {
    let time = |us: f64| Cell::figure(Unit::Microseconds.format(us));
    vec![
        Cell::words(name),
        Cell::figure(grouped(spread.count)),
        time(spread.mean_us),
        time(spread.stddev_us),
        time(spread.p50_us as f64),
        time(spread.p90_us as f64),
        time(spread.p99_us as f64),
        time(spread.p999_us as f64),
        time(spread.max_us as f64),
    ]
}

/// Returns a table of errors by kind, with their source addresses if they are few.
pub(super) fn errors(run: &Run) -> Table {
    /// More source addresses than this are counted instead of listed.
    const SOURCES: usize = 3;
    let mut table = Table::new(&["what", "how", "code", "count", "first at", "sources", "first example"]);
    for error in &run.summary.errors {
        let named: Vec<String> =
            error.sources.iter().map(|(source, count)| format!("{source}: {}", grouped(*count))).collect();
        let sources = match named.len() {
            0..=SOURCES => named.join(", "),
            many => format!("{many} addresses"),
        };
        table.rows.push(vec![
            Cell::words(clean(&error.kind)),
            Cell::words(clean(&error.outcome)),
            if error.code == 0 { Cell::Missing } else { Cell::figure(error.code.to_string()) },
            Cell::figure(grouped(error.count)),
            Cell::figure(format!("{:.1} s", error.first_second)),
            Cell::words(clean(&sources)),
            Cell::words(clean(&error.example)),
        ]);
    }
    table
}

fn floor(text: &mut String, machine: &MachineFacts, style: Style) {
    let figures = machine.facts.iter().filter_map(|(name, value)| Some((name.strip_prefix(FACT)?, value)));
    let lines: String = figures.map(|(name, value)| format!("{name:<36}{value}\n")).collect();
    if !lines.is_empty() {
        let heading = format!("Kernel limits (floor) of {}", clean(&machine.name));
        section(text, style, &heading, &clean_lines(&lines));
    }
}

fn servers(text: &mut String, run: &Run, style: Style) {
    let mut lines = String::new();
    for one in memory_fits(run) {
        let slope = match one.fit {
            Some(fit) => format!("{:.0} ± {:.0} bytes per connection", fit.slope, fit.slope_error),
            None => "memory sampled, but too few different connection counts to fit a slope".to_owned(),
        };
        let _ = writeln!(lines, "{}: {slope}", clean(&one.server));
    }
    if !lines.is_empty() {
        section(text, style, "Servers", &lines);
    }
}
