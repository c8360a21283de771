//! Tsung's report tables: main statistics, transactions, throughput, counters, errors, HTTP codes.

use super::chart::{Unit, grouped};
use super::{Cell, Run, Table};
use crate::statistics::{SeriesRow, Spread};

/// Tsung aggregates over this many seconds.
const STEP_SECONDS: usize = 10;

/// Tsung's tables of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TsungTables {
    /// Highest and lowest 10 s mean, highest rate, mean rate, mean and count of everything that is timed.
    pub main: Table,
    /// The same for the scenario's transactions and labelled steps, except the 10 s means, which are not kept for them.
    pub transactions: Table,
    /// Bytes sent and received.
    pub throughput: Table,
    /// Counters.
    pub counters: Table,
    /// Errors, named as Tsung names them.
    pub errors: Table,
    /// HTTP responses by status.
    pub http_codes: Table,
}

/// Returns the tables of a run.
pub fn tsung(run: &Run) -> TsungTables {
    TsungTables {
        main: main(run),
        transactions: transactions(run),
        throughput: throughput(run),
        counters: counters(run),
        errors: errors(run),
        http_codes: http_codes(run),
    }
}

fn statistics_table() -> Table {
    Table::new(&[
        "name",
        "highest 10 s mean",
        "lowest 10 s mean",
        "highest rate",
        "mean rate",
        "mean",
        "count",
    ])
}

fn main(run: &Run) -> Table {
    let times = &run.summary.times;
    let mut table = statistics_table();
    let mut add = |name: &str, whole: &Spread, of_row: Option<fn(&SeriesRow) -> &Spread>| {
        if whole.count > 0 {
            let steps = of_row.map(|of_row| Steps::of(&run.series, of_row));
            table.rows.push(statistics_row(name, whole, steps.as_ref(), run.seconds()));
        }
    };
    add("connect", &times.connect, Some(|row| &row.connect));
    add("join", &times.join, Some(|row| &row.join));
    add("message", &times.latency, Some(|row| &row.latency));
    add("reply", &times.reply, None);
    add("request", &times.http, Some(|row| &row.http_time));
    add("session", &times.session, None);
    table
}

fn transactions(run: &Run) -> Table {
    let mut table = statistics_table();
    for labelled in run.summary.times.labelled.iter().filter(|labelled| labelled.spread.count > 0) {
        let name = format!("tr_{}", labelled.label);
        table.rows.push(statistics_row(&name, &labelled.spread, None, run.seconds()));
    }
    table
}

fn statistics_row(name: &str, whole: &Spread, steps: Option<&Steps>, seconds: f64) -> Vec<Cell> {
    let time = |us: f64| Cell::figure(Unit::Microseconds.format(us));
    let rate = |rate: f64| Cell::figure(Unit::PerSecond.format(rate));
    let of_steps = |cell: &dyn Fn(&Steps) -> Cell| steps.map_or(Cell::Missing, cell);
    vec![
        Cell::words(name),
        of_steps(&|steps| time(steps.highest_mean)),
        of_steps(&|steps| time(steps.lowest_mean)),
        of_steps(&|steps| rate(steps.highest_rate)),
        rate(whole.count as f64 / seconds),
        time(whole.mean_us),
        Cell::figure(grouped(whole.count)),
    ]
}

/// The extremes over steps of 10 s.
struct Steps {
    highest_mean: f64,
    lowest_mean: f64,
    highest_rate: f64,
}

impl Steps {
    fn of(series: &[SeriesRow], times: fn(&SeriesRow) -> &Spread) -> Self {
        let mut steps = Self { highest_mean: 0.0, lowest_mean: f64::INFINITY, highest_rate: 0.0 };
        for rows in series.chunks(STEP_SECONDS) {
            let count: u64 = rows.iter().map(|row| times(row).count).sum();
            if count > 0 {
                let sum: f64 = rows.iter().map(|row| times(row).mean_us * times(row).count as f64).sum();
                steps.highest_mean = steps.highest_mean.max(sum / count as f64);
                steps.lowest_mean = steps.lowest_mean.min(sum / count as f64);
                steps.highest_rate = steps.highest_rate.max(count as f64 / rows.len() as f64);
            }
        }
        steps.lowest_mean = steps.lowest_mean.min(steps.highest_mean);
        steps
    }
}

/// Returns the highest 10 s mean rate.
fn highest_rate(series: &[SeriesRow], count: fn(&SeriesRow) -> u64) -> f64 {
    let rate = |rows: &[SeriesRow]| rows.iter().map(count).sum::<u64>() as f64 / rows.len() as f64;
    series.chunks(STEP_SECONDS).map(rate).fold(0.0, f64::max)
}

fn throughput(run: &Run) -> Table {
    let counts = &run.summary.counts;
    let mut table = Table::new(&["name", "highest rate", "mean rate", "total"]);
    let mut add = |name: &str, total: u64, of_row: fn(&SeriesRow) -> u64| {
        table.rows.push(vec![
            Cell::words(name),
            Cell::figure(Unit::BytesPerSecond.format(highest_rate(&run.series, of_row))),
            Cell::figure(Unit::BytesPerSecond.format(total as f64 / run.seconds())),
            Cell::figure(Unit::Bytes.format(total as f64)),
        ]);
    };
    add("size_sent", counts.bytes_sent, |row| row.bytes_sent);
    add("size_rcv", counts.bytes_received, |row| row.bytes_received);
    table
}

fn counters(run: &Run) -> Table {
    let counts = &run.summary.counts;
    let mut table = Table::new(&["name", "highest rate", "mean rate", "total"]);
    let mut add = |name: &str, total: u64, of_row: fn(&SeriesRow) -> u64| {
        table.rows.push(vec![
            Cell::words(name),
            Cell::figure(Unit::PerSecond.format(highest_rate(&run.series, of_row))),
            Cell::figure(Unit::PerSecond.format(total as f64 / run.seconds())),
            Cell::figure(grouped(total)),
        ]);
    };
    add("users_count", counts.users, |row| row.arrivals);
    add("finish_users_count", counts.users_finished + counts.users_failed, |row| row.finished);
    add("websocket_connected", counts.connects, |row| row.connects);
    add("messages_sent", counts.sent, |row| row.sent);
    add("messages_received", counts.received, |row| row.received);
    add("http_requests", counts.http, |row| row.http);
    add("errors", counts.errors, |row| row.errors);
    table.rows.push(vec![
        Cell::words("connected (max)"),
        Cell::Missing,
        Cell::Missing,
        Cell::figure(grouped(counts.connected_max)),
    ]);
    table
}

fn errors(run: &Run) -> Table {
    let mut table = Table::new(&["name", "mean rate", "total"]);
    for error in &run.summary.errors {
        let code = if error.code == 0 { String::new() } else { format!("_{}", error.code) };
        table.rows.push(vec![
            Cell::words(format!("error_{}_{}{code}", error.kind, error.outcome)),
            Cell::figure(Unit::PerSecond.format(error.count as f64 / run.seconds())),
            Cell::figure(grouped(error.count)),
        ]);
    }
    table
}

/// Counts unexpected responses by status, and all expected ones together.
fn http_codes(run: &Run) -> Table {
    let mut table = Table::new(&["status", "total"]);
    let counts = &run.summary.counts;
    if counts.http > 0 {
        table.rows.push(vec![Cell::words("as expected"), Cell::figure(grouped(counts.http))]);
    }
    for error in run.summary.errors.iter().filter(|error| error.kind == "http" && error.code != 0) {
        table.rows.push(vec![Cell::words(error.code.to_string()), Cell::figure(grouped(error.count))]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_are_of_ten_seconds_weighted_by_count() {
        let row = |second: u32, count: u64, mean_us: f64| SeriesRow {
            second,
            latency: Spread { count, mean_us, ..Spread::default() },
            ..SeriesRow::default()
        };
        let mut series: Vec<SeriesRow> = (0..10).map(|second| row(second, 10, 1000.0)).collect();
        series[3] = row(3, 110, 3000.0);
        series.extend((10..20).map(|second| row(second, 0, 0.0)));
        series.extend((20..25).map(|second| row(second, 40, 500.0)));
        let steps = Steps::of(&series, |row| &row.latency);
        assert_eq!((steps.highest_mean, steps.lowest_mean, steps.highest_rate), (2100.0, 500.0, 40.0));
    }
}
