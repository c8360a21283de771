//! The figures of the C10K test, under their original names.

use super::chart::{Unit, grouped};
use super::{Cell, Run, Table};
use crate::statistics::Spread;

/// Returns the test's counters and times. Latency is measured from the actual send, as in the original.
pub fn wsdemo(run: &Run) -> Table {
    let (counts, times) = (&run.summary.counts, &run.summary.times);
    let mut table = Table::new(&["figure", "connection_time", "latency", "count"]);
    let mut of_times = |name: &str, figure: fn(&Spread) -> f64| {
        let cell = |spread: &Spread| match spread.count {
            0 => Cell::Missing,
            _ => Cell::figure(Unit::Microseconds.format(figure(spread))),
        };
        table.rows.push(vec![
            Cell::words(name),
            cell(&times.connect),
            cell(&times.service_latency),
            Cell::Missing,
        ]);
    };
    of_times("min", |spread| spread.min_us as f64);
    of_times("max", |spread| spread.max_us as f64);
    of_times("arithmetic_mean", |spread| spread.mean_us);
    of_times("median", |spread| spread.p50_us as f64);
    of_times("standard_deviation", |spread| spread.stddev_us);
    of_times("percentile 75", |spread| spread.p75_us as f64);
    of_times("percentile 95", |spread| spread.p95_us as f64);
    of_times("percentile 99", |spread| spread.p99_us as f64);
    of_times("percentile 999", |spread| spread.p999_us as f64);
    let mut counter = |name: &str, count: u64| {
        table.rows.push(vec![Cell::words(name), Cell::Missing, Cell::Missing, Cell::figure(grouped(count))]);
    };
    counter("connections", counts.connects);
    counter("disconnections", counts.disconnects);
    counter("messages", counts.received);
    counter("connection_timeouts", counts.connect_timeouts);
    counter("crashes", crashes(run));
    table
}

/// Returns the number of clients that ended for any reason other than a slow TCP connect or a close by the server.
fn crashes(run: &Run) -> u64 {
    let counts = &run.summary.counts;
    counts.users_failed.saturating_sub(counts.connect_timeouts).saturating_sub(counts.disconnects)
}
