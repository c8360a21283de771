//! Conditions on the results of a run.

use serde::{Deserialize, Serialize};

use super::LabelId;

/// A condition on the results of a run, such as `p99 < 100ms` or `errors == 0`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Threshold {
    /// As written.
    pub text: String,
    /// The measured quantity.
    pub measure: Measure,
    /// Operator.
    pub comparison: ThresholdComparison,
    /// The limit: times in microseconds, ratios as 0 … 1, everything else as written.
    pub value: f64,
}

/// The quantity that a threshold compares.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// A percentile (0 … 100) of a metric's times.
    Percentile(Metric, f64),
    /// Mean of a metric's times.
    Mean(Metric),
    /// Maximum of a metric's times.
    Max(Metric),
    /// Number of errors of any kind.
    Errors,
    /// Errors divided by operations started, 0 … 1.
    ErrorRate,
    /// Messages that never arrived.
    Lost,
    /// Messages that arrived more than once.
    Duplicates,
    /// Messages overtaken by a later message of the same sender.
    Reordered,
    /// Messages that arrived after the end.
    Late,
    /// Messages received per second, mean over the run.
    ReceiveRate,
    /// Maximum number of users connected at the same time.
    ConnectedMax,
}

/// The times that are measured. Latencies count from the intended send time.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Message latency from the intended send time.
    Latency,
    /// Message latency from the actual send time.
    ServiceLatency,
    /// From a message's intended send time until its last receiver had it.
    LastReceiver,
    /// From a user's connect until the 101 head was complete.
    Connect,
    /// From a join until its reply.
    Join,
    /// From a push until its reply.
    Reply,
    /// From when a push was due until its reply.
    ReplyIntended,
    /// From the start of an HTTP request to the last byte of the response.
    Http,
    /// From when an HTTP request was due to the last byte of the response.
    HttpIntended,
    /// The generator's own delay: from when a message could have been sent until it was sent.
    SendLag,
    /// The duration of a transaction or step, by its label.
    Labelled(LabelId),
}

impl Metric {
    /// All but the labels, by the names that thresholds and results use.
    pub const NAMED: [(&str, Self); 10] = [
        ("latency", Self::Latency),
        ("service_latency", Self::ServiceLatency),
        ("last_receiver", Self::LastReceiver),
        ("connect", Self::Connect),
        ("join", Self::Join),
        ("reply", Self::Reply),
        ("reply_intended", Self::ReplyIntended),
        ("http", Self::Http),
        ("http_intended", Self::HttpIntended),
        ("send_lag", Self::SendLag),
    ];
}

/// The comparison operator of a threshold.
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
