//! The results of a run: the content of `summary.json`.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::statistics::Spread;

/// Everything that a run's end says, for people and machines.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this form; raised when a field changes its meaning.
    pub format: u32,
    /// Name of the scenario.
    pub scenario: String,
    /// Seed that it was played with.
    pub seed: u64,
    /// Start in RFC 3339, UTC.
    pub started: String,
    /// From the start to the end of the drain, in seconds.
    pub seconds: f64,
    /// What ended it: `finished`, `duration`, `stopped`, `aborted`, or an error.
    pub ended_by: String,
    /// Whether the figures are to be believed.
    pub verdict: Verdict,
    /// The scenario's thresholds.
    pub thresholds: Vec<ThresholdResult>,
    /// How often things happened.
    pub counts: Counts,
    /// How long things took.
    pub times: Times,
    /// Publications with several receivers.
    pub fan_out: FanOut,
    /// By kind, outcome, code and source address, most frequent first.
    pub errors: Vec<ErrorCount>,
    /// What stands out, in plain language, gravest first.
    pub findings: Vec<Finding>,
    /// The machine that made the load, and each agent's.
    pub machines: Vec<MachineFacts>,
    /// What the generator did itself.
    pub generator: GeneratorFacts,
}

/// Whether the generator was the limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// `false` is INVALID: the generator, not the server, shaped the figures, or the counts do not add up.
    pub valid: bool,
    /// Why it is not valid; empty when it is.
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
    /// As written.
    pub text: String,
    /// What was measured, in `unit`; `None` when there was nothing to measure, which fails.
    pub measured: Option<f64>,
    /// How many more it may be, as it cannot be told; it holds only if it holds with these too.
    #[serde(default)]
    pub unjudged: u64,
    /// What `measured` is measured in.
    #[serde(default)]
    pub unit: ThresholdUnit,
    /// Whether it holds.
    pub passed: bool,
}

/// What a threshold's figure is measured in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdUnit {
    /// Things counted.
    #[default]
    Count,
    /// A time in microseconds.
    Microseconds,
    /// A part of a whole, 0 … 1.
    Share,
    /// Things per second.
    PerSecond,
}

/// Totals of a run. Messages add up: `expected = delivered + lost + late + in_flight`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Users that the scenario wanted.
    pub users_wanted: u64,
    /// Users that arrived.
    pub users: u64,
    /// Users that finished as they should.
    pub users_finished: u64,
    /// Users that ended otherwise.
    pub users_failed: u64,
    /// Users still there when the run was stopped; with the finished and the failed they are all `users`.
    #[serde(default)]
    pub users_stopped: u64,
    /// Users that were not started.
    pub users_dropped: u64,
    /// The most users connected at once.
    pub connected_max: u64,
    /// WebSockets opened.
    pub connects: u64,
    /// Attempts to open one that failed.
    pub connects_failed: u64,
    /// TCP connects among them that took too long.
    pub connect_timeouts: u64,
    /// WebSockets that the server, or the network, ended.
    pub disconnects: u64,
    /// Joins that were answered with success.
    pub joins: u64,
    /// Joins that failed or were not answered.
    pub joins_failed: u64,
    /// Messages sent.
    pub sent: u64,
    /// Deliveries that the messages sent should have led to.
    pub expected: u64,
    /// Expected deliveries that came in time, each once.
    pub delivered: u64,
    /// Expected deliveries that never came although their receiver waited for them.
    pub lost: u64,
    /// Expected deliveries that came after the end.
    pub late: u64,
    /// Expected deliveries that were on their way when their receiver left or the run was stopped.
    pub in_flight: u64,
    /// Deliveries between machines that did not come and of which cannot be told whether they were expected; of a machine
    /// that was lost, one for each receiver that may have missed some. They are not in the sum.
    #[serde(default)]
    pub unjudged: u64,
    /// Deliveries that came again.
    pub duplicates: u64,
    /// Deliveries that a later message of the same sender overtook; each is among the delivered.
    pub reordered: u64,
    /// Deliveries to users that were not expected to get them.
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
    /// HTTP requests that were not.
    pub http_failed: u64,
    /// Bytes of HTTP response bodies.
    pub http_bytes: u64,
    /// Transactions that ended.
    pub transactions: u64,
    /// Errors of every kind.
    pub errors: u64,
}

/// Spreads of a run's times.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// Message latency from the intended send time.
    pub latency: Spread,
    /// Message latency from the actual send time.
    pub service_latency: Spread,
    /// Connects.
    pub connect: Spread,
    /// Joins.
    pub join: Spread,
    /// Replies to pushes.
    pub reply: Spread,
    /// HTTP requests, from when they began.
    pub http: Spread,
    /// HTTP requests, from when they were due: what users feel who cannot wait for the request before.
    #[serde(default)]
    pub http_intended: Spread,
    /// The generator's own delay of sends.
    pub send_lag: Spread,
    /// The generator's own delay of users' arrivals, connects, joins and HTTP requests. Who is due at the same moment
    /// as others waits for those before it, which is no part of this but of `burst`.
    #[serde(default)]
    pub begin_lag: Spread,
    /// How long it took until all had begun who were due at one moment, and what had come meanwhile was read: once for
    /// each arrival, connect, join and HTTP request of a burst, and each cut after which the user goes on without a pause.
    #[serde(default)]
    pub burst: Spread,
    /// Whole sessions.
    pub session: Spread,
    /// Steps and transactions by their label.
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

/// Messages that several users should get.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FanOut {
    /// Publications with at least two expected receivers.
    pub publications: u64,
    /// Those of which every expected receiver got it.
    pub complete: u64,
    /// From the intended send time to the first receiver.
    pub first_receiver: Spread,
    /// From the intended send time to the last receiver, of the complete ones.
    pub last_receiver: Spread,
}

/// One kind of error.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// What was tried: `connect`, `join`, …
    pub kind: String,
    /// How it went wrong: `refused`, `timeout`, …
    pub outcome: String,
    /// HTTP status or close code; 0 where there is none.
    pub code: u16,
    /// How often.
    pub count: u64,
    /// By source address.
    pub sources: BTreeMap<String, u64>,
    /// Seconds since the start when it was first seen.
    pub first_second: f64,
    /// What the first one said.
    pub example: String,
}

/// Something worth saying.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// How grave.
    pub severity: Severity,
    /// A sentence or two.
    pub text: String,
}

/// How grave a finding is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The figures are wrong or the goal was missed.
    Error,
    /// Something limits what the figures say.
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
    /// What stands in the way, with the command that changes it.
    pub warnings: Vec<String>,
}

/// What the generator did itself.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorFacts {
    /// Version of Stampede.
    pub version: String,
    /// Threads with connections.
    pub shards: u32,
    /// Mean CPU in cores.
    pub cpu_mean: f64,
    /// The busiest thread's mean, 0 … 1.
    pub thread_cpu_max: f64,
    /// Mean share of the machine's CPU time given to others, 0 … 1.
    pub steal_mean: f64,
    /// Resident memory at its greatest, in bytes.
    pub rss_max_bytes: u64,
    /// How long shards waited because the collector or the log could not keep up, in milliseconds, all shards together.
    pub stalled_ms: u64,
    /// What this clock and that of the agents may differ, in microseconds; 0 on one machine.
    pub clock_error_us: u64,
    /// Agents that were lost during the run.
    pub agents_lost: u32,
    /// The busiest threads, busiest first.
    #[serde(default)]
    pub threads: Vec<ThreadUse>,
    /// How often the servers under test were sampled in vain.
    #[serde(default)]
    pub samples_failed: u64,
    /// Of each server under test: processes first, then endpoints, in the order in which they were given.
    #[serde(default)]
    pub servers_sampled: Vec<ServerSamples>,
    /// Deliveries of which it is not known whether they came in order, or again; they count as in order and once.
    #[serde(default)]
    pub deliveries_unjudged: u64,
    /// Publications that could not be followed to their receivers.
    #[serde(default)]
    pub publications_unjudged: u64,
    /// How long what users read had been ready at least when it was read; of several machines, that of the worst.
    #[serde(default)]
    pub read_lag: Spread,
    /// How long threads with connections waited for a CPU before they looked at what users then read, once for each thing
    /// read; of several machines, that of the worst. Nothing where the kernel does not say.
    #[serde(default)]
    pub cpu_wait: Spread,
    /// The lists of who is present that users kept.
    #[serde(default)]
    pub presence: PresenceLists,
    /// What of the memory was the users'.
    #[serde(default)]
    pub memory: GeneratorMemory,
}

/// Memory of the generator's tables, of all machines together, when they took most. What is resident besides is the
/// program, the threads, the statistics, and what only some users need or all of them for a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorMemory {
    /// Slots of connections, taken or free, in bytes.
    pub connections_bytes: u64,
    /// Places of users, taken or free, in bytes.
    pub users_bytes: u64,
    /// Their timers, in bytes.
    pub timers_bytes: u64,
    /// The threads' own buffers for reading and writing at the end, in bytes.
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

/// The lists of who is present that users keep who join with `presence`. No event tells them: they are counted where
/// they are kept, and are 0 where nobody keeps one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct PresenceLists {
    /// Entries of all users' lists together, at the moment when they were most.
    pub entries_max: u64,
    /// Entries of the longest list of one user at any moment.
    pub longest_max: u64,
}

/// How often one server under test was sampled.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ServerSamples {
    /// Its process or URL.
    pub name: String,
    /// Samples that succeeded.
    pub samples: u64,
    /// Samples that failed. A process that is gone fails once a second.
    pub failed: u64,
    /// What the first that failed said.
    pub first_error: Option<String>,
}

/// The mean of one of the generator's threads.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ThreadUse {
    /// The thread's name.
    pub name: String,
    /// CPU, 0 … 1, over the time that was watched.
    pub cpu: f64,
}
