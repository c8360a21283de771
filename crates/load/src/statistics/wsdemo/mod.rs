//! The statistics of the WebSocket C10K test (`wsdemo`, 2012): what it counted, its formulas, and its output format.
//!
//! The formulas reproduce exactly those of the statistics library that it used, `bear`; they are not meant as
//! improvements.

mod bear;
mod erlang;
mod reservoir;

use std::fmt::{self, Display};

pub use bear::Bear;
pub use reservoir::{RESERVOIR_SAMPLES, Reservoir, Samples};

use super::Statistics;

/// The result of the C10K test. Times are in microseconds.
#[derive(Clone, PartialEq, Debug)]
pub struct C10k {
    /// From the start of a client until its WebSocket was open.
    pub connection_time: Bear,
    /// From sending a message until its echo arrived.
    pub latency: Bear,
    /// Clients whose WebSocket was opened.
    pub connections: u64,
    /// WebSockets closed by the server.
    pub disconnections: u64,
    /// Messages received by the clients.
    pub messages: u64,
    /// TCP connects that timed out.
    pub connection_timeouts: u64,
    /// Clients that ended for any other reason.
    pub crashes: u64,
}

impl C10k {
    /// Computes the result from all times of a run.
    #[must_use]
    pub fn of_population(statistics: &Statistics) -> Self {
        let times = &statistics.times;
        Self::with(
            Bear::of_population(&times.connect),
            Bear::of_population(&times.service_latency),
            statistics,
        )
    }

    /// Computes the result from samples of a run's times, as the original did; `None` if none were kept.
    #[must_use]
    pub fn of_samples(statistics: &Statistics) -> Option<Self> {
        let samples = statistics.samples()?;
        let connection_time = Bear::of_samples(samples.connection_time.samples());
        let latency = Bear::of_samples(samples.latency.samples());
        Some(Self::with(connection_time, latency, statistics))
    }

    fn with(connection_time: Bear, latency: Bear, statistics: &Statistics) -> Self {
        let counts = statistics.counts();
        Self {
            connection_time,
            latency,
            connections: counts.connects,
            disconnections: counts.disconnects,
            messages: counts.received,
            connection_timeouts: counts.connect_timeouts,
            crashes: counts.users_failed.saturating_sub(counts.connect_timeouts + counts.disconnects),
        }
    }
}

impl Display for C10k {
    /// Writes the Erlang term that the original printed after `Result: `, with the same indentation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        erlang::write(self, f)
    }
}
