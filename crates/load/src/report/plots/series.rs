//! Charts of the run's per-second series.

use super::super::Run;
use super::super::chart::{Bands, Chart, Cloud, Figure, Lines, Moment, Scatter, Series, Unit};
use super::plot::Plot;
use crate::statistics::{SeriesRow, Spread};

const CLOCK: &str = "time since the start (min:s)";

pub(super) fn users(run: &Run) -> Plot {
    let series = vec![
        line("in the run", run, |row| Some(row.users as f64)),
        line("connected", run, |row| Some(row.connected as f64)),
        Series { dashed: true, ..line("wanted", run, |row| Some(row.users_wanted as f64)) },
    ];
    lines("users", "Simultaneous users", "", "users", Unit::Count, series, true)
}

pub(super) fn joins(run: &Run) -> Plot {
    let series = non_zero(vec![line("joins in force", run, |row| Some(row.joined as f64))]);
    let mut plot = lines("joins", "Joins in force", "", "joins", Unit::Count, series, true);
    plot.chart.empty = "Nobody joined anything.".to_owned();
    plot
}

pub(super) fn connect_by_users(run: &Run) -> Plot {
    by_users(run, "connect-by-users", "Connect times as the crowd grows", "connect time", |row| &row.connect)
}

pub(super) fn join_by_users(run: &Run) -> Plot {
    by_users(run, "join-by-users", "Join times as the crowd grows", "join time", |row| &row.join)
}

pub(super) fn latency(run: &Run) -> Plot {
    bands(
        run,
        "latency",
        "Message latency over time",
        "From the moment at which a message ought to have been sent.",
        |row| &row.latency,
    )
}

pub(super) fn http(run: &Run) -> Plot {
    bands(run, "http", "HTTP request times over time", "", |row| &row.http_time)
}

pub(super) fn send_lag(run: &Run) -> Plot {
    let note = "How late the generator itself sent: what it adds to latency is not the server's.";
    Plot { wide: false, ..bands(run, "send-lag", "Send lag", note, |row| &row.send_lag) }
}

pub(super) fn generator_cpu(run: &Run) -> Plot {
    let measured = run
        .series
        .iter()
        .any(|row| row.generator_cpu > 0.0 || row.generator_thread_cpu_max > 0.0 || row.steal > 0.0);
    let share = |name: &str, figure: fn(&SeriesRow) -> f64| line(name, run, move |row| Some(figure(row)));
    let series = match measured {
        true => vec![
            share("busiest thread", |row| row.generator_thread_cpu_max),
            share("taken by the hypervisor", |row| row.steal),
        ],
        false => Vec::new(),
    };
    let note = "A thread near 100 % is a generator at its limit.";
    lines(
        "generator-cpu",
        "The generator's own CPU",
        note,
        "share of a core's time",
        Unit::Share,
        series,
        false,
    )
}

pub(super) fn messages(run: &Run) -> Plot {
    let http = run.series.iter().any(|row| row.http > 0);
    let mut series = vec![
        line("received", run, |row| Some(row.received as f64)),
        line("sent", run, |row| Some(row.sent as f64)),
    ];
    if http {
        series.push(line("HTTP answers", run, |row| Some(row.http as f64)));
    }
    lines("messages", "Messages per second", "", "messages", Unit::PerSecond, non_zero(series), false)
}

pub(super) fn bytes(run: &Run) -> Plot {
    let series = vec![
        line("received", run, |row| Some(row.bytes_received as f64)),
        line("sent", run, |row| Some(row.bytes_sent as f64)),
    ];
    lines("bytes", "Payload per second", "", "payload", Unit::BytesPerSecond, non_zero(series), false)
}

pub(super) fn errors(run: &Run) -> Plot {
    let series = vec![line("errors", run, |row| Some(row.errors as f64))];
    let mut plot =
        lines("errors", "Errors per second", "", "errors", Unit::PerSecond, non_zero(series), true);
    plot.chart.empty = "No errors.".to_owned();
    plot
}

/// Drops the series if all values are zero, so that the chart shows its text instead of an empty frame.
fn non_zero(series: Vec<Series>) -> Vec<Series> {
    let any =
        series.iter().flat_map(|series| &series.points).any(|point| point.1.is_some_and(|value| value > 0.0));
    if any { series } else { Vec::new() }
}

pub(super) fn line(name: &str, run: &Run, figure: impl Fn(&SeriesRow) -> Option<f64>) -> Series {
    Series { name: name.to_owned(), points: run.over_time(figure), dashed: false }
}

pub(super) fn lines(
    name: &'static str,
    title: &str,
    note: &str,
    vertical: &str,
    unit: Unit,
    series: Vec<Series>,
    wide: bool,
) -> Plot {
    let figure = Figure::Lines(Lines { unit, series, limit: None });
    Plot { name, wide, chart: chart(title, note, vertical, CLOCK, figure) }
}

fn bands(
    run: &Run,
    name: &'static str,
    title: &str,
    note: &str,
    times: impl Fn(&SeriesRow) -> &Spread,
) -> Plot {
    let moments = run.series.iter().map(|row| (f64::from(row.second), moment(times(row)))).collect();
    let figure = Figure::Bands(Bands { unit: Unit::Microseconds, moments });
    Plot { name, wide: true, chart: chart(title, note, "time", CLOCK, figure) }
}

fn moment(spread: &Spread) -> Option<Moment> {
    (spread.count > 0).then_some(Moment {
        p50: spread.p50_us as f64,
        p90: spread.p90_us as f64,
        p99: spread.p99_us as f64,
        max: spread.max_us as f64,
    })
}

/// Plots each second as a point at the number of users connected in it.
fn by_users(
    run: &Run,
    name: &'static str,
    title: &str,
    vertical: &str,
    times: impl Fn(&SeriesRow) -> &Spread,
) -> Plot {
    let cloud = |name: &str, figure: fn(&Spread) -> u64| {
        let rows = run.series.iter().filter(|row| times(row).count > 0);
        let points = rows.map(|row| (row.connected as f64, figure(times(row)) as f64)).collect();
        Cloud { name: name.to_owned(), points, line: None }
    };
    let clouds = match run.measured(&times) {
        true => vec![
            cloud("median of a second", |spread| spread.p50_us),
            cloud("p99 of a second", |spread| spread.p99_us),
        ],
        false => Vec::new(),
    };
    let figure = Figure::Scatter(Scatter { x: Unit::Count, y: Unit::Microseconds, clouds, by_factors: true });
    Plot { name, wide: false, chart: chart(title, "", vertical, "users connected", figure) }
}

pub(super) fn chart(title: &str, note: &str, vertical: &str, horizontal: &str, figure: Figure) -> Chart {
    Chart {
        title: title.to_owned(),
        note: note.to_owned(),
        vertical: vertical.to_owned(),
        horizontal: horizontal.to_owned(),
        empty: "Nothing was measured.".to_owned(),
        figure,
    }
}
