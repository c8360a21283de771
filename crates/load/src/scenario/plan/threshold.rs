//! What must hold at the end.

use serde::{Deserialize, Serialize};

use super::LabelId;

/// What must hold at the end, such as `p99 < 100ms` or `errors == 0`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Threshold {
    /// As written.
    pub text: String,
    /// What is judged.
    pub measure: Measure,
    /// How.
    pub comparison: ThresholdComparison,
    /// Times in microseconds, shares as 0 … 1, everything else as it is.
    pub value: f64,
}

/// What a threshold judges.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A percentile (0 … 100) of a metric's times.
    Percentile(Metric, f64),
    /// Mean of a metric's times.
    Mean(Metric),
    /// Longest of a metric's times.
    Max(Metric),
    /// Errors of every kind.
    Errors,
    /// Errors by operations begun, 0 … 1.
    ErrorRate,
    /// Messages that never came.
    Lost,
    /// Messages that came again.
    Duplicates,
    /// Messages that one sender's later message overtook.
    Reordered,
    /// Messages that came after the end.
    Late,
    /// Messages received per second, mean over the run.
    ReceiveRate,
    /// The most users connected at once.
    ConnectedMax,
}

/// Times that are measured. Latencies count from the intended send time.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Message latency from the intended send time.
    Latency,
    /// Message latency from the actual send time.
    ServiceLatency,
    /// From a message's intended send time until the last of its receivers had it.
    LastReceiver,
    /// From a user's connect until the 101 head was complete.
    Connect,
    /// From a join until its reply.
    Join,
    /// From a push until its reply.
    Reply,
    /// From an HTTP request until the response's last byte.
    Http,
    /// The generator's own delay: from when a send could have gone until it went.
    SendLag,
    /// A transaction's or step's time, by its label.
    Labelled(LabelId),
}

/// How a threshold compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdComparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
}
