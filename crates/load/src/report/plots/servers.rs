//! Charts of the samples of the servers under test.

use std::collections::BTreeSet;

use super::super::chart::{Cloud, Figure, Scatter, Series, Unit};
use super::super::{Fit, Run, fit};
use super::plot::Plot;
use super::series::{chart, lines};
use crate::statistics::{SeriesRow, ServerRow};

/// A server's memory by number of connections.
pub(in super::super) struct MemoryFit {
    /// Its process id or URL.
    pub(in super::super) server: String,
    /// Connections and bytes, while the number of connections grew.
    points: Vec<(f64, f64)>,
    /// The fitted line, if there is one.
    pub(in super::super) fit: Option<Fit>,
}

/// Returns one fit for each server whose memory was sampled.
pub(in super::super) fn memory_fits(run: &Run) -> Vec<MemoryFit> {
    let fits = names(run).into_iter().map(|server| {
        let points = growing(run, &server);
        MemoryFit { fit: fit(&points), points, server }
    });
    fits.filter(|fit| !fit.points.is_empty()).collect()
}

pub(super) fn memory_by_connections(run: &Run) -> Plot {
    let fits = memory_fits(run);
    let clouds = fits.iter().map(|one| {
        let end = one.points.iter().map(|point| point.0).fold(0.0, f64::max);
        let line = one.fit.map(|fit| [(0.0, fit.intercept), (end, fit.intercept + fit.slope * end)]);
        Cloud { name: one.server.clone(), points: one.points.clone(), line }
    });
    let figure = Scatter { x: Unit::Count, y: Unit::Bytes, clouds: clouds.collect(), by_factors: false };
    let note = fits.iter().map(in_words).collect::<Vec<_>>().join(" ");
    let title = "Server memory against connections";
    let mut chart = chart(title, &note, "resident memory", "connections", Figure::Scatter(figure));
    chart.empty = "No server was sampled (`--pid`, `--scrape`).".to_owned();
    Plot { name: "memory-by-connections", wide: true, chart }
}

pub(super) fn memory(run: &Run) -> Plot {
    let series = per_server(run, |server| server.rss_bytes.map(|bytes| bytes as f64));
    lines("server-memory", "Server memory over time", "", "resident memory", Unit::Bytes, series, false)
}

pub(super) fn cpu(run: &Run) -> Plot {
    let series = per_server(run, |server| server.cpu);
    lines("server-cpu", "Server CPU over time", "", "cores busy", Unit::Cores, series, false)
}

fn in_words(one: &MemoryFit) -> String {
    match one.fit {
        Some(fit) => format!(
            "{}: {} ± {} bytes per connection (the dashed line: slope over {} seconds in which the crowd grew, ± \
             standard error), {} without any.",
            one.server,
            bytes(fit.slope),
            bytes(fit.slope_error),
            fit.points,
            Unit::Bytes.format(fit.intercept),
        ),
        None => format!("{}: too few numbers of connections for a slope.", one.server),
    }
}

/// Formats whole bytes, because slopes are compared in bytes.
fn bytes(value: f64) -> String {
    format!("{value:.0}")
}

/// Returns a server's points at each new maximum of connections: memory that stays allocated after connections close is
/// not part of the cost of a connection.
fn growing(run: &Run, server: &str) -> Vec<(f64, f64)> {
    let alone = names(run).len() == 1;
    let mut most = None;
    let mut points = Vec::new();
    for row in &run.series {
        let Some((connections, bytes)) = point(row, server, alone) else { continue };
        if most.is_none_or(|most| connections > most) {
            most = Some(connections);
            points.push((connections as f64, bytes as f64));
        }
    }
    points
}

/// Returns connections and memory. The connections are those that the server reports; if it reports none and is the
/// only server, those that the generator counts: WebSockets or, if there are none, users, each of which has an HTTP
/// request outstanding.
fn point(row: &SeriesRow, name: &str, alone: bool) -> Option<(u64, u64)> {
    let server = row.servers.iter().find(|server| server.name == name)?;
    let own = if row.connected > 0 { row.connected } else { row.users };
    let connections = server.connections.or(alone.then_some(own))?;
    Some((connections, server.rss_bytes?))
}

fn per_server(run: &Run, figure: fn(&ServerRow) -> Option<f64>) -> Vec<Series> {
    let series = names(run).into_iter().map(|name| {
        let of_row = |row: &SeriesRow| figure(row.servers.iter().find(|server| server.name == name)?);
        Series { points: run.over_time(of_row), name, dashed: false }
    });
    series.filter(|series| series.points.iter().any(|point| point.1.is_some())).collect()
}

fn names(run: &Run) -> BTreeSet<String> {
    run.series.iter().flat_map(|row| &row.servers).map(|server| server.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_left_behind_by_a_shrinking_crowd_does_not_count() {
        let row = |second: u32, connected: u64, rss: u64| SeriesRow {
            second,
            connected,
            servers: vec![ServerRow { name: "1".to_owned(), rss_bytes: Some(rss), ..ServerRow::default() }],
            ..SeriesRow::default()
        };
        let mut series: Vec<_> = (0..50)
            .map(|second| row(second, u64::from(second) * 100, 1_000_000 + u64::from(second) * 70_000))
            .collect();
        series.extend((50..100).map(|second| row(second, 10, 4_500_000)));
        let fits = memory_fits(&Run { series, ..Run::default() });
        let fit = fits[0].fit.expect("a line");
        assert_eq!(fit.points, 50);
        assert!((fit.slope - 700.0).abs() < 1e-6 && (fit.intercept - 1e6).abs() < 1.0, "{fit:?}");
    }
}
