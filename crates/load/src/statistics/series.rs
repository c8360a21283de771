//! The rows of the per-second series.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a set of times is spread, in microseconds. All 0 when there are none.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// How many times.
    pub count: u64,
    /// Shortest.
    pub min_us: u64,
    /// Arithmetic mean.
    pub mean_us: f64,
    /// Standard deviation.
    pub stddev_us: f64,
    /// Median.
    pub p50_us: u64,
    /// 75th percentile.
    pub p75_us: u64,
    /// 90th percentile.
    pub p90_us: u64,
    /// 95th percentile.
    pub p95_us: u64,
    /// 99th percentile.
    pub p99_us: u64,
    /// 99.9th percentile.
    pub p999_us: u64,
    /// Longest.
    pub max_us: u64,
}

/// One second of a run, over all machines.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SeriesRow {
    /// Seconds since the run's start; the row covers the second that begins then.
    pub second: u32,
    /// Users that the scenario wants in the run at the end of the second.
    pub users_wanted: u64,
    /// Users that have arrived and not finished, at the end of the second.
    pub users: u64,
    /// WebSockets open, at the end of the second.
    pub connected: u64,
    /// Joins in force, at the end of the second.
    pub joined: u64,
    /// Users that arrived.
    pub arrivals: u64,
    /// Users that finished.
    pub finished: u64,
    /// WebSockets opened.
    pub connects: u64,
    /// Messages sent.
    pub sent: u64,
    /// Messages received.
    pub received: u64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// HTTP requests answered.
    pub http: u64,
    /// Errors of every kind.
    pub errors: u64,
    /// Message latency from the intended send time.
    pub latency: Spread,
    /// Message latency from the actual send time.
    pub service_latency: Spread,
    /// Times of connects.
    pub connect: Spread,
    /// Times of joins.
    pub join: Spread,
    /// Times of HTTP requests.
    pub http_time: Spread,
    /// The generator's own delay of sends.
    pub send_lag: Spread,
    /// CPU that the generator used, in cores (1.0 is one core busy).
    pub generator_cpu: f64,
    /// The busiest of the generator's threads, 0 … 1.
    pub generator_thread_cpu_max: f64,
    /// Share of the machine's CPU time that the hypervisor gave to others, 0 … 1.
    pub steal: f64,
    /// What was sampled of the servers under test.
    pub servers: Vec<ServerRow>,
}

/// One server in one second; what is not known is `None`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerRow {
    /// Process id or scraped URL.
    pub name: String,
    /// Resident memory, in bytes.
    pub rss_bytes: Option<u64>,
    /// CPU used, in cores.
    pub cpu: Option<f64>,
    /// Open descriptors.
    pub descriptors: Option<u64>,
    /// Connections, where the server says.
    pub connections: Option<u64>,
    /// Further figures by the name of their metric.
    pub figures: Vec<(String, f64)>,
    /// Scrapes that failed in this second.
    pub failed_scrapes: u32,
}
