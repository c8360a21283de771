//! The charts of a run.

mod distributions;
mod plot;
mod series;
mod servers;

use super::Run;

pub use plot::Plot;

pub(super) use distributions::{curve, percentile_box};
pub(super) use servers::memory_fits;

/// Returns all charts of a run, in the order of the report; some may be empty.
pub fn plots(run: &Run) -> Vec<Plot> {
    vec![
        series::users(run),
        series::joins(run),
        series::connect_by_users(run),
        series::join_by_users(run),
        series::latency(run),
        distributions::latency(run),
        distributions::latency_histogram(run),
        series::http(run),
        series::send_lag(run),
        series::generator_cpu(run),
        series::messages(run),
        series::bytes(run),
        series::errors(run),
        distributions::fan_out(run),
        servers::memory_by_connections(run),
        servers::memory(run),
        servers::cpu(run),
    ]
}
