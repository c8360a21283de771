//! Formats a comparison for people.

use std::fmt::Write as _;

use super::super::chart::Unit;
use super::super::{Cell, Table};
use super::Comparison;
use super::change::{Change, Outcome};
use super::metrics::Metric;

pub(super) fn text(comparison: &Comparison) -> String {
    let mut text = format!("before: {}\nafter:  {}\n\n", comparison.before, comparison.after);
    for caution in &comparison.cautions {
        let _ = writeln!(text, "caution: {caution}");
    }
    if !comparison.cautions.is_empty() {
        text.push('\n');
    }
    text.push_str(&table(comparison).text());
    let _ = write!(text, "\n{}\n\n{METHOD}", conclusion(comparison));
    text
}

/// Returns the changes as a table.
fn table(comparison: &Comparison) -> Table {
    let mut table = Table::new(&[
        "metric",
        "before",
        "after",
        "change",
        "95 % interval",
        "p",
        "blocks",
        "what it comes to",
    ]);
    for change in &comparison.changes {
        let value = |value: f64| Cell::figure(change.metric.unit().format(value));
        let interval = |(low, high): (f64, f64)| {
            Cell::figure(format!("{} … {}", signed(change.metric, low), signed(change.metric, high)))
        };
        table.rows.push(vec![
            Cell::words(change.metric.name()),
            value(change.before),
            value(change.after),
            Cell::figure(signed(change.metric, change.change)),
            change.interval.map_or(Cell::Missing, interval),
            change.p.map_or(Cell::Missing, |p| Cell::figure(chance(p))),
            blocks(change),
            Cell::words(in_words(change.outcome)),
        ]);
    }
    table
}

const METHOD: &str = "\
Seconds are paired, neighbours that resemble each other are put into blocks, and Wilcoxon's signed-rank test goes over
the blocks; errors and losses are compared as counts. Holm's correction keeps the chance of calling any metric of two
equal runs different at 5 %. This knows the noise within the runs, not what differs from one start of a server to the
next: repeat what matters.
";

fn conclusion(comparison: &Comparison) -> String {
    if !comparison.comparable {
        return "An INVALID run tells nothing about the server: not comparable.".to_owned();
    }
    let named = |outcome: Outcome| {
        let changes = comparison.changes.iter().filter(move |change| change.outcome == outcome);
        changes.map(|change| change.metric.name()).collect::<Vec<_>>().join("; ")
    };
    let (worse, better, tolerated) =
        (named(Outcome::Worse), named(Outcome::Better), named(Outcome::Tolerated));
    let mut sentences = Vec::new();
    for (what, names) in [
        ("Worse", worse),
        ("Worse within the tolerance", tolerated),
        ("Better", better),
        ("Too short to tell", named(Outcome::TooShort)),
    ] {
        if !names.is_empty() {
            sentences.push(format!("{what}: {names}."));
        }
    }
    let all_the_same = comparison.changes.iter().all(|change| change.outcome == Outcome::Same);
    match (comparison.changes.is_empty(), all_the_same) {
        (true, _) => "The runs measured nothing that could be compared.".to_owned(),
        (false, true) => "No difference that is more than noise.".to_owned(),
        (false, false) => sentences.join(" "),
    }
}

fn in_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Better => "better",
        Outcome::Worse => "WORSE",
        Outcome::Tolerated => "worse within tolerance",
        Outcome::Same => "no more than noise",
        Outcome::TooShort => "too short to tell",
    }
}

/// Formats a change with its sign, or without one if it rounds to zero.
fn signed(metric: Metric, change: f64) -> String {
    let size = change.abs();
    let text = match (metric.is_count(), metric.unit()) {
        (false, _) => format!("{:.1} %", size * 100.0),
        (true, Unit::Share) => format!("{:.3} %", size * 100.0),
        (true, unit) => unit.format(size),
    };
    let nothing = !text.contains(|character: char| character.is_ascii_digit() && character != '0');
    match (nothing, change < 0.0) {
        (true, _) => text,
        (false, true) => format!("-{text}"),
        (false, false) => format!("+{text}"),
    }
}

fn chance(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

fn blocks(change: &Change) -> Cell {
    if change.block_seconds == 0 {
        return Cell::Missing;
    }
    Cell::figure(format!("{} × {} s", change.blocks, change.block_seconds))
}
