//! The results of a run: the content of `summary.json`.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::Spread;

/// The result of a run, for people and programs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this format; raised when the meaning of a field changes.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed of the run.
    pub seed: u64,
    /// Start time (RFC 3339, UTC).
    pub started: String,
    /// Duration from the start to the end of the drain, in seconds.
    pub seconds: f64,
    /// What ended the run: `finished`, `duration`, `stopped`, `aborted`, or an error.
    pub ended_by: String,
    /// Whether the figures are valid.
    pub verdict: Verdict,
    /// Results of the scenario's thresholds.
    pub thresholds: Vec<ThresholdResult>,
    /// Counts of events.
    pub counts: Counts,
    /// Measured times.
    pub times: Times,
    /// Publications with several receivers.
    pub fan_out: FanOut,
    /// Errors by kind, outcome, code and source address, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Findings in plain language, most severe first.
    pub findings: Vec<Finding>,
    /// The machine that generated the load, and the machines of the agents.
    pub machines: Vec<MachineFacts>,
    /// Facts about the generator.
    pub generator: GeneratorFacts,
}

/// Whether the generator was the limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// `false` is INVALID: the generator, not the server, shaped the figures, or the counts do not add up.
    pub valid: bool,
    /// Why the run is not valid; empty if it is.
    pub reasons: Vec<String>,
}

impl Default for Verdict {
    /// Valid: without figures, nothing speaks against them.
    fn default() -> Self {
        Self { valid: true, reasons: Vec::new() }
    }
}

/// One threshold of the scenario.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThresholdResult {
    /// The threshold, as written.
    pub text: String,
    /// The measured value, in `unit`; `null` if nothing was measured, in which case the threshold fails.
    pub measured: Option<f64>,
    /// Additional deliveries that cannot be judged; the threshold holds only if it also holds with these included.
    #[serde(default)]
    pub unjudged: u64,
    /// Unit of `measured`.
    #[serde(default)]
    pub unit: ThresholdUnit,
    /// Whether it holds.
    pub passed: bool,
}

/// Unit of a threshold's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdUnit {
    /// A count.
    #[default]
    Count,
    /// A time in microseconds.
    Microseconds,
    /// A share, 0 … 1.
    Share,
    /// A rate per second.
    PerSecond,
}

/// Totals of a run. Deliveries add up: `expected = delivered + lost + late + in_flight`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Users demanded by the scenario.
    pub users_wanted: u64,
    /// Users that arrived.
    pub users: u64,
    /// Users that completed their session.
    pub users_finished: u64,
    /// Users that failed.
    pub users_failed: u64,
    /// Users still active when the run was stopped; together with the finished and failed ones they add up to
    /// `users`.
    #[serde(default)]
    pub users_stopped: u64,
    /// Users that were not started.
    pub users_dropped: u64,
    /// Greatest number of users connected at the same time.
    pub connected_max: u64,
    /// WebSockets opened.
    pub connects: u64,
    /// Failed attempts to open a WebSocket.
    pub connects_failed: u64,
    /// Number of those that were TCP connects that timed out.
    pub connect_timeouts: u64,
    /// WebSockets that the server or the network closed.
    pub disconnects: u64,
    /// Successful joins.
    pub joins: u64,
    /// Joins that failed or were not answered.
    pub joins_failed: u64,
    /// Messages sent.
    pub sent: u64,
    /// Expected deliveries of the messages sent.
    pub expected: u64,
    /// Expected deliveries that arrived in time, each counted once.
    pub delivered: u64,
    /// Expected deliveries that never arrived although their receiver waited for them.
    pub lost: u64,
    /// Expected deliveries that arrived after the end of the run.
    pub late: u64,
    /// Expected deliveries that were in flight when their receiver left or the run was stopped.
    pub in_flight: u64,
    /// Deliveries between machines that did not arrive and may not have been expected; for a lost machine, one for
    /// each receiver that may have missed some. They are not part of the sum.
    #[serde(default)]
    pub unjudged: u64,
    /// Duplicate deliveries.
    pub duplicates: u64,
    /// Deliveries that arrived after a later message of the same sender; they are included in `delivered`.
    pub reordered: u64,
    /// Deliveries to users that should not have received them.
    pub unexpected: u64,
    /// Messages received without a stamp.
    pub unstamped: u64,
    /// All messages received.
    pub received: u64,
    /// Payload bytes sent.
    pub bytes_sent: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    /// Pushes that were answered.
    pub replies: u64,
    /// HTTP requests that were answered as expected.
    pub http: u64,
    /// HTTP requests that failed.
    pub http_failed: u64,
    /// Bytes of HTTP response bodies.
    pub http_bytes: u64,
    /// Transactions that ended.
    pub transactions: u64,
    /// Errors of all kinds.
    pub errors: u64,
}

/// Distributions of the times of a run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Message latency from the intended send time.
    pub latency: Spread,
    /// Message latency from the actual send time.
    pub service_latency: Spread,
    /// Connect times.
    pub connect: Spread,
    /// Join times.
    pub join: Spread,
    /// Times of replies to pushes, from the actual push.
    pub reply: Spread,
    /// Times of replies to pushes, from when the push was due: includes the wait for the reply before it.
    #[serde(default)]
    pub reply_intended: Spread,
    /// HTTP request times, from the start of the request.
    pub http: Spread,
    /// HTTP request times, from the due time: includes the wait for the previous request.
    #[serde(default)]
    pub http_intended: Spread,
    /// The generator's own delay of sends (send lag).
    pub send_lag: Spread,
    /// The generator's own delay of arrivals, connects, joins and HTTP requests. Waiting for other users that are
    /// due at the same moment is not part of this, but of `burst`.
    #[serde(default)]
    pub begin_lag: Spread,
    /// How long it took to start everything due at one moment and to read what arrived meanwhile: once for each
    /// arrival, connect, join and HTTP request of a burst, and each cut after which the user continues without a
    /// pause.
    #[serde(default)]
    pub burst: Spread,
    /// Durations of sessions.
    pub session: Spread,
    /// Times of steps and transactions, by label.
    pub labelled: Vec<LabelledSpread>,
}

/// The times of one label.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct LabelledSpread {
    /// The label.
    pub label: String,
    /// Its times.
    pub spread: Spread,
}

/// Messages that several users should receive.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FanOut {
    /// Publications with at least two expected receivers.
    pub publications: u64,
    /// Publications that every expected receiver got.
    pub complete: u64,
    /// Time from the intended send time to the first receiver.
    pub first_receiver: Spread,
    /// Time from the intended send time to the last receiver, for complete publications.
    pub last_receiver: Spread,
}

/// One kind of error.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// The operation: `connect`, `join`, …
    pub kind: String,
    /// The outcome: `refused`, `timeout`, …
    pub outcome: String,
    /// HTTP status or close code; 0 if there is none.
    pub code: u16,
    /// How often it occurred.
    pub count: u64,
    /// Counts by source address.
    pub sources: BTreeMap<String, u64>,
    /// Time of the first error, in seconds since the start.
    pub first_second: f64,
    /// Text of the first error.
    pub example: String,
}

/// A finding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// One or two sentences.
    pub text: String,
}

/// Severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The figures are wrong, or a threshold was missed.
    Error,
    /// Something limits the meaning of the figures.
    Warning,
    /// Good to know.
    Info,
}

/// A machine, as it was at the start.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MachineFacts {
    /// Host name of the generator or agent.
    pub name: String,
    /// Facts by name, such as `cores`, `cpu`, `memory`, `kernel`, `nofile`; in reading order.
    pub facts: Vec<(String, String)>,
    /// Warnings, with the command that fixes each.
    pub warnings: Vec<String>,
}

/// Facts about the generator.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorFacts {
    /// Version of Stampede.
    pub version: String,
    /// Number of threads with connections.
    pub shards: u32,
    /// Mean CPU in cores.
    pub cpu_mean: f64,
    /// Mean CPU use of the busiest thread, 0 … 1.
    pub thread_cpu_max: f64,
    /// Mean share of the machine's CPU time that the hypervisor gave to others, 0 … 1.
    pub steal_mean: f64,
    /// Peak resident memory, in bytes.
    pub rss_max_bytes: u64,
    /// How long shards waited because the collector or the log could not keep up, in milliseconds, summed over all
    /// shards.
    pub stalled_ms: u64,
    /// Maximum difference between this clock and those of the agents, in microseconds; 0 on one machine.
    pub clock_error_us: u64,
    /// Agents that were lost during the run.
    pub agents_lost: u32,
    /// The busiest threads, busiest first.
    #[serde(default)]
    pub threads: Vec<ThreadUse>,
    /// Failed samples of the servers under test.
    #[serde(default)]
    pub samples_failed: u64,
    /// Samples of each server under test: processes first, then endpoints, in the given order.
    #[serde(default)]
    pub servers_sampled: Vec<ServerSamples>,
    /// Deliveries that may have been reordered or duplicates, which is not known; they count as in order and as
    /// first deliveries.
    #[serde(default)]
    pub deliveries_unjudged: u64,
    /// Publications that could not be tracked to their receivers.
    #[serde(default)]
    pub publications_unjudged: u64,
    /// How long, at least, data had been ready when users read it; for several machines, that of the worst.
    #[serde(default)]
    pub read_lag: Spread,
    /// How long threads with connections waited for a CPU before they read data, once for each read; for several
    /// machines, that of the worst. Empty if the kernel does not provide it.
    #[serde(default)]
    pub cpu_wait: Spread,
    /// Presence lists kept by users.
    #[serde(default)]
    pub presence: PresenceLists,
    /// Memory used by the users.
    #[serde(default)]
    pub memory: GeneratorMemory,
}

/// Peak memory of the generator's tables, summed over all machines. Other resident memory is the program, the
/// threads, the statistics, and what only some users need, or all of them for a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorMemory {
    /// Slots of connections, used or free, in bytes.
    pub connections_bytes: u64,
    /// Slots of users, used or free, in bytes.
    pub users_bytes: u64,
    /// Timers of the users, in bytes.
    pub timers_bytes: u64,
    /// The threads' read and write buffers at the end, in bytes.
    pub buffers_bytes: u64,
}

impl AddAssign for GeneratorMemory {
    fn add_assign(&mut self, other: Self) {
        self.connections_bytes += other.connections_bytes;
        self.users_bytes += other.users_bytes;
        self.timers_bytes += other.timers_bytes;
        self.buffers_bytes += other.buffers_bytes;
    }
}

/// Presence lists of users that join with `presence`. The event log does not contain them; they are 0 if no user
/// keeps one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PresenceLists {
    /// Greatest number of entries of all users' lists together.
    pub entries_max: u64,
    /// Greatest number of entries of the list of one user.
    pub longest_max: u64,
}

/// How often one server under test was sampled.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerSamples {
    /// Its process or URL.
    pub name: String,
    /// Successful samples.
    pub samples: u64,
    /// Failed samples. A process that has ended fails once a second.
    pub failed: u64,
    /// Error of the first failed sample.
    pub first_error: Option<String>,
}

/// Mean CPU use of one of the generator's threads.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUse {
    /// The thread's name.
    pub name: String,
    /// CPU use, 0 … 1, over the observed time.
    pub cpu: f64,
}
