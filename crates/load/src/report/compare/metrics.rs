//! The metrics that are compared.

use serde::Serialize;

use super::super::chart::Unit;
use crate::statistics::{SeriesRow, Spread};

/// A metric that is compared: second by second, or by its total (errors and losses).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Median message latency from the intended send time.
    LatencyP50,
    /// 99th percentile of message latency from the intended send time.
    LatencyP99,
    /// 99th percentile of connect times.
    ConnectP99,
    /// 99th percentile of join times.
    JoinP99,
    /// 99th percentile of HTTP request times.
    HttpP99,
    /// Messages received per second.
    Received,
    /// HTTP responses per second.
    HttpAnswers,
    /// Errors per second.
    Errors,
    /// Resident memory of all sampled servers.
    ServerMemory,
    /// CPU of all sampled servers.
    ServerCpu,
    /// Expected deliveries that were lost or late, as a share, over the whole run.
    Losses,
}

impl Metric {
    /// The metrics that are compared second by second, by their ratio.
    pub(super) const PER_SECOND: [Self; 9] = [
        Self::LatencyP50,
        Self::LatencyP99,
        Self::ConnectP99,
        Self::JoinP99,
        Self::HttpP99,
        Self::Received,
        Self::HttpAnswers,
        Self::ServerMemory,
        Self::ServerCpu,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::LatencyP50 => "latency, median",
            Self::LatencyP99 => "latency, p99",
            Self::ConnectP99 => "connect, p99",
            Self::JoinP99 => "join, p99",
            Self::HttpP99 => "HTTP request, p99",
            Self::Received => "messages received",
            Self::HttpAnswers => "HTTP answers",
            Self::Errors => "errors",
            Self::ServerMemory => "server memory",
            Self::ServerCpu => "server CPU",
            Self::Losses => "deliveries lost or late",
        }
    }

    /// Returns the unit of its values.
    pub fn unit(self) -> Unit {
        match self {
            Self::LatencyP50 | Self::LatencyP99 | Self::ConnectP99 | Self::JoinP99 | Self::HttpP99 => {
                Unit::Microseconds
            }
            Self::Received | Self::HttpAnswers | Self::Errors => Unit::PerSecond,
            Self::ServerMemory => Unit::Bytes,
            Self::ServerCpu => Unit::Cores,
            Self::Losses => Unit::Share,
        }
    }

    /// Returns whether a larger value is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Received | Self::HttpAnswers)
    }

    /// Returns whether it is compared as a count rather than by the ratio of seconds.
    pub fn is_count(self) -> bool {
        matches!(self, Self::Errors | Self::Losses)
    }

    /// Returns the smallest value to use in a ratio, so that ratios stay finite: a microsecond, one per second, a byte,
    /// a thousandth of a core.
    pub(super) fn least(self) -> f64 {
        if self == Self::ServerCpu { 0.001 } else { 1.0 }
    }

    /// Returns the value of one second; `None` if nothing was measured.
    pub(super) fn of_second(self, row: &SeriesRow) -> Option<f64> {
        match self {
            Self::LatencyP50 => time(&row.latency, row.latency.p50_us),
            Self::LatencyP99 => time(&row.latency, row.latency.p99_us),
            Self::ConnectP99 => time(&row.connect, row.connect.p99_us),
            Self::JoinP99 => time(&row.join, row.join.p99_us),
            Self::HttpP99 => time(&row.http_time, row.http_time.p99_us),
            Self::Received => Some(row.received as f64),
            Self::HttpAnswers => Some(row.http as f64),
            Self::ServerMemory => {
                sum(row.servers.iter().map(|server| server.rss_bytes.map(|bytes| bytes as f64)))
            }
            Self::ServerCpu => sum(row.servers.iter().map(|server| server.cpu)),
            Self::Errors | Self::Losses => None,
        }
    }
}

fn time(spread: &Spread, percentile_us: u64) -> Option<f64> {
    (spread.count > 0).then_some(percentile_us as f64)
}

/// Returns `None` if there are no values or one is missing: a partial sum would be a different metric.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum())
}
