//! Several runs side by side: how percentiles, means and losses differ between configurations.

use std::path::{Path, PathBuf};

use super::chart::{Bars, Boxes, Figure, Group, Mean, Means, Percentiles, Tone, Unit};
use super::plots::{curve, percentile_box};
use super::write::write_all;
use super::{Cell, Plot, ReportError, Run, Table, html, metric};
use crate::report::chart::{Chart, grouped};

/// Percentiles above this are written rather than drawn: a longer wait would be unacceptable.
const CUT_US: f64 = 2_000_000.0;
/// More curves than this are hard to distinguish in one chart.
const CURVES: usize = 8;

/// Returns the charts of several runs: latency percentiles per configuration, cut off at 2 s; mean ± standard
/// deviation; sent against received; and the distributions overlaid.
pub fn configurations(runs: &[Run]) -> Vec<Plot> {
    vec![percentiles(runs), means(runs), sent_and_received(runs), distributions(runs)]
}

/// Writes `report.html`, `plots/*.svg` and `plots/*.png` of several runs into `folder`.
///
/// # Errors
/// [`ReportError`], as with one run.
pub fn write_configurations(folder: &Path, runs: &[Run]) -> Result<Vec<PathBuf>, ReportError> {
    let plots = configurations(runs);
    write_all(folder, &html::several(runs, &plots, &table(runs)), &plots)
}

fn percentiles(runs: &[Run]) -> Plot {
    let boxes = runs
        .iter()
        .filter_map(|run| Some(percentile_box(&run.configuration, run.histogram(metric::LATENCY)?)))
        .collect();
    let figure = Figure::Boxes(Boxes { unit: Unit::Microseconds, cut: CUT_US, boxes });
    plot("latency-percentiles", "Latency percentiles per configuration", "", "latency", figure)
}

fn means(runs: &[Run]) -> Plot {
    let measured = runs.iter().filter(|run| run.summary.times.latency.count > 0);
    let means = measured.map(|run| Mean {
        name: run.configuration.clone(),
        mean: run.summary.times.latency.mean_us,
        deviation: run.summary.times.latency.stddev_us,
    });
    let figure = Figure::Means(Means { unit: Unit::Microseconds, means: means.collect() });
    let note = "The line is one standard deviation up and down; below 0 there is no latency.";
    plot("latency-mean", "Mean latency ± standard deviation per configuration", note, "latency", figure)
}

fn sent_and_received(runs: &[Run]) -> Plot {
    let kinds = [
        ("expected", Tone::Wanted),
        ("delivered", Tone::Good),
        ("late", Tone::Fair),
        ("in flight at the end", Tone::Neutral),
        ("lost", Tone::Bad),
    ];
    let groups = runs.iter().map(|run| {
        let counts = &run.summary.counts;
        let came = [counts.delivered, counts.late, counts.in_flight, counts.lost];
        let came = came.iter().enumerate().map(|(index, count)| (index + 1, *count as f64));
        Group {
            name: run.configuration.clone(),
            stacks: vec![vec![(0, counts.expected as f64)], came.collect()],
        }
    });
    let figure = Figure::Bars(Bars {
        unit: Unit::Count,
        kinds: kinds.map(|(name, tone)| (name.to_owned(), tone)).to_vec(),
        groups: groups.collect(),
    });
    let note = "Left: deliveries that the messages sent should have led to. Right: what became of them.";
    plot("sent-and-received", "Sent against received per configuration", note, "deliveries", figure)
}

fn distributions(runs: &[Run]) -> Plot {
    let curves = runs
        .iter()
        .filter_map(|run| Some(curve(&run.configuration, run.histogram(metric::LATENCY)?)))
        .take(CURVES)
        .collect();
    let figure = Figure::Percentiles(Percentiles { unit: Unit::Microseconds, curves });
    let note =
        if runs.len() > CURVES { format!("The first {CURVES} configurations.") } else { String::new() };
    let mut plot = plot("latency-distribution", "Latency by percentile", &note, "latency", figure);
    plot.chart.horizontal = "percentile".to_owned();
    plot
}

fn plot(name: &'static str, title: &str, note: &str, vertical: &str, figure: Figure) -> Plot {
    let chart = Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        vertical: vertical.to_owned(),
        horizontal: String::new(),
        empty: "No run measured this.".to_owned(),
        figure,
    };
    Plot { name, wide: true, chart }
}

fn table(runs: &[Run]) -> Table {
    let mut table = Table::new(&[
        "configuration",
        "verdict",
        "connected",
        "sent",
        "expected",
        "delivered",
        "lost",
        "late",
        "errors",
        "mean",
        "± sd",
        "median",
        "p90",
        "p99",
        "max",
    ]);
    for run in runs {
        let (counts, latency) = (&run.summary.counts, &run.summary.times.latency);
        let verdict = if run.summary.verdict.valid { "VALID" } else { "INVALID" };
        let mut cells = vec![Cell::words(&run.configuration), Cell::words(verdict)];
        let figures = [
            counts.connected_max,
            counts.sent,
            counts.expected,
            counts.delivered,
            counts.lost,
            counts.late,
            counts.errors,
        ];
        cells.extend(figures.map(|count| Cell::figure(grouped(count))));
        let times = [
            latency.mean_us,
            latency.stddev_us,
            latency.p50_us as f64,
            latency.p90_us as f64,
            latency.p99_us as f64,
            latency.max_us as f64,
        ];
        let measured = latency.count > 0;
        let time =
            |us: f64| if measured { Cell::figure(Unit::Microseconds.format(us)) } else { Cell::Missing };
        cells.extend(times.map(time));
        table.rows.push(cells);
    }
    table
}
