//! What is compared.

use serde::Serialize;

use super::super::chart::Unit;
use crate::statistics::{SeriesRow, Spread};

/// What is compared: second by second, and errors and losses by their totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Median message latency from the intended send.
    LatencyP50,
    /// 99th percentile of it.
    LatencyP99,
    /// 99th percentile of connect times.
    ConnectP99,
    /// 99th percentile of join times.
    JoinP99,
    /// 99th percentile of HTTP request times.
    HttpP99,
    /// Messages received per second.
    Received,
    /// HTTP answers per second.
    HttpAnswers,
    /// Errors per second.
    Errors,
    /// Resident memory of all sampled servers.
    ServerMemory,
    /// CPU of all sampled servers.
    ServerCpu,
    /// Expected deliveries that never came or came late, as a share: of the whole run.
    Losses,
}

impl Metric {
    /// All whose seconds are compared by their ratio.
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

    /// What it is called.
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

    /// What its values are measured in.
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

    /// Whether more of it is better.
    pub fn more_is_better(self) -> bool {
        matches!(self, Self::Received | Self::HttpAnswers)
    }

    /// Whether it is compared as a count rather than by the ratio of seconds.
    pub fn is_count(self) -> bool {
        matches!(self, Self::Errors | Self::Losses)
    }

    /// What is not told apart from nothing, so that ratios stay finite: a microsecond, one in a second, a byte, a
    /// thousandth of a core.
    pub(super) fn least(self) -> f64 {
        if self == Self::ServerCpu { 0.001 } else { 1.0 }
    }

    /// The value of one second; `None` where nothing was measured.
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

/// `None` when there is nothing, or a part is missing: a sum without it would be another metric.
fn sum(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum())
}
