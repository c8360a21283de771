//! A scenario as it is meant: everything resolved, checked and named by index, ready to be played.
//!
//! The format that people write is [`super::source`]; nothing here knows text positions or defaults.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::draw::Distribution;
use crate::scenario::template::Template;

/// Names a variable of the scenario; each user has a value for it, or none yet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct VariableId(pub u16);

/// Names a label of [`Plan::labels`]: a transaction, a request or a step that reports under a name of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabelId(pub u16);

/// Place of a session in [`Plan::sessions`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct SessionId(pub u16);

/// Place of a target in [`Plan::targets`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct TargetId(pub u16);

/// Place of a feeder in [`Plan::feeders`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct FeederId(pub u16);

/// Place of a barrier in [`Plan::barriers`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct BarrierId(pub u16);

/// A whole scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the report is headed with.
    pub name: String,
    /// The same seed plays the same users: their sessions, targets, pauses, sizes and random values.
    pub seed: u64,
    /// Where the users go, at least one.
    pub targets: Vec<Target>,
    /// Where they come from.
    pub sources: Sources,
    /// What certificates are trusted, where a target is reached by TLS.
    pub tls: TlsTrust,
    /// When the users come.
    pub load: Load,
    /// What they do, at least one, drawn by weight.
    pub sessions: Vec<Session>,
    /// Names of the variables, by [`VariableId`].
    pub variables: Vec<String>,
    /// Names under which steps report, by [`LabelId`].
    pub labels: Vec<String>,
    /// Names of the barriers, by [`BarrierId`].
    pub barriers: Vec<String>,
    /// CSV files, read.
    pub feeders: Vec<Feeder>,
    /// How many sequences count across all users; a template names one by its index.
    pub sequences: u16,
    /// What must hold for the exit code to be 0.
    pub thresholds: Vec<Threshold>,
    /// How long the run waits, after the last user has finished or the time is up, for messages on their way. What
    /// comes in its first half is in time, in its second half late; what has not come by then is lost.
    pub drain: Duration,
    /// Whether each message leaves a line in the event log.
    pub event_log: bool,
    /// Bounds of one user.
    pub limits: Limits,
}

/// A server under test.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Whether the connection is encrypted (`wss`, `https`).
    pub tls: bool,
    /// Name or address, as it goes into `Host` and the TLS server name; resolved once, before the run.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// What goes before the path of each step; empty, or `/…` without a slash at its end.
    pub base_path: String,
    /// Its share of the users is its weight by the sum of all weights; above 0.
    pub weight: f64,
}

/// Source addresses and ports of the users' connections.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sources {
    /// They take turns; one whose ports are used up is passed over. Empty leaves the choice to the kernel.
    pub addresses: Vec<IpAddr>,
    /// First and last port to bind; `None` leaves the choice to the kernel, which uses each (address, port, target)
    /// once.
    pub ports: Option<(u16, u16)>,
}

/// Whom TLS trusts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TlsTrust {
    /// PEM file with further authorities.
    pub authorities: Option<PathBuf>,
    /// Accept any certificate.
    pub insecure: bool,
}

/// When users come.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// One after the other.
    pub phases: Vec<Phase>,
    /// How many times the phases are gone through, at least 1.
    pub rounds: u32,
    /// Ends the run whatever the users are doing.
    pub duration: Option<Duration>,
}

/// A part of the run with one way of arriving.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// Shown while it runs.
    pub name: String,
    /// How long it lasts, even when its last user has come already. `None`: until its last user has come (open) or
    /// finished (closed).
    pub duration: Option<Duration>,
    /// How users come.
    pub arrivals: Arrivals,
    /// At most so many in this phase.
    pub users_max: Option<u64>,
    /// Weights of the sessions in this phase instead of their own, in the order of [`Plan::sessions`].
    pub weights: Option<Vec<f64>>,
    /// Whether the next phase waits until all users have finished.
    pub wait_for_users: bool,
}

/// How users come in one phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrivals {
    /// Open model, evenly spaced: users per second.
    Constant(f64),
    /// Open model, evenly changing from the first rate to the second over the phase's duration: users per second.
    Ramp(f64, f64),
    /// Open model, independent of each other: mean users per second.
    Poisson(f64),
    /// Everybody at once.
    Burst(u64),
    /// Closed model: so many users, each starting its session anew when it has finished, until the phase is over or
    /// each has done it `iterations` times. They start evenly over `ramp`.
    Closed {
        /// Users at the same time.
        users: u64,
        /// Sessions of each; `None` is until the end of the phase.
        iterations: Option<u64>,
        /// Over which the users start.
        ramp: Duration,
    },
    /// Nobody comes.
    Pause,
}

/// What a user does.
#[derive(Clone, Debug)]
pub struct Session {
    /// Shown in reports.
    pub name: String,
    /// Its share of the users is its weight by the sum of all weights; 0 or more.
    pub weight: f64,
    /// In order; at the end the user closes what is open, orderly, and is gone.
    pub steps: Vec<Step>,
    /// Label of the whole session's time.
    pub label: LabelId,
}

/// One step, with where it reports.
#[derive(Clone, Debug)]
pub struct Step {
    /// Under which its times are counted besides their kind.
    pub label: Option<LabelId>,
    /// What is done.
    pub action: Action,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Opens the user's WebSocket. A user that has one open fails.
    Connect(Connect),
    /// Phoenix: joins a topic and waits for the reply.
    Join(Join),
    /// Phoenix: leaves a topic and waits for the reply.
    Leave(Template),
    /// Phoenix: pushes an event to a joined topic.
    Push(Push),
    /// Sends one WebSocket message.
    Send(Send),
    /// Waits for what comes in.
    Wait(Wait),
    /// Does nothing for a time counted from the end of the step before; incoming messages are handled meanwhile.
    Think(Distribution),
    /// Waits for the next beat: one interval after the beat before (the first time: after now). When that is past
    /// already, goes on at once; what is sent next counts as intended for the beat.
    Pace(Distribution),
    /// Waits until as many users as there are in the run at this barrier have come, or the time is over: then all go
    /// on at once.
    Barrier {
        /// Which.
        barrier: BarrierId,
        /// How many users; `None` is all of the run's plan that have not finished.
        users: Option<u64>,
        /// Afterwards the users go on all the same, and the barrier is reported as incomplete.
        timeout: Duration,
    },
    /// Does steps again and again.
    Loop(Loop),
    /// Chooses.
    If {
        /// What is asked.
        condition: Condition,
        /// Done when it holds.
        then: Vec<Step>,
        /// Done when it does not.
        otherwise: Vec<Step>,
    },
    /// Chooses one branch by weight.
    Choose(Vec<(f64, Vec<Step>)>),
    /// Gives a variable a value.
    Set(VariableId, Expression),
    /// Takes a value out of the last message or response into a variable; empty text where nothing matches.
    Capture(VariableId, Extractor),
    /// One HTTP request and its response.
    Http(HttpRequest),
    /// Steps whose time together is reported under the step's label.
    Transaction(Vec<Step>),
    /// Closes the WebSocket with the closing handshake.
    Close {
        /// Status code of the close frame.
        code: u16,
        /// Its reason, at most 123 bytes.
        reason: String,
    },
    /// Drops the connection without a close frame: the server sees a reset.
    Cut,
    /// Keeps the connection open and says and hears nothing more on it for so long, then cuts it.
    HalfOpen(Duration),
    /// From here on reads at most so many bytes per second; 0 reads nothing. `None` reads at full speed again.
    SlowReader(Option<u64>),
    /// Has done all that it came for, and stays as it is until the run ends: such a user does not hold up the end of
    /// the run, and still gets what others say until the drain is over.
    Stay,
    /// Ends the user's session as failed (`false`) or the whole run (`true`).
    Abort(bool),
}

/// How a WebSocket is opened.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Request target; the target's base path goes before it. With Phoenix, `vsn` is appended to the query if it is
    /// not there.
    pub path: Template,
    /// What is spoken on it.
    pub dialect: Dialect,
    /// The room that the user is in as long as it is connected, on servers whose URL names it. Not with Phoenix, where
    /// the topics are the rooms.
    pub room: Option<Template>,
    /// With `room`: whether the user gets its own messages back.
    pub echo: bool,
    /// `Sec-WebSocket-Protocol`, in order of preference.
    pub subprotocols: Vec<String>,
    /// `Origin`, if any.
    pub origin: Option<Template>,
    /// Further header lines.
    pub headers: Vec<(String, Template)>,
    /// Whether permessage-deflate is offered.
    pub deflate: bool,
    /// For the TCP connection, and the TLS handshake where there is one.
    pub connect_timeout: Duration,
    /// From there to the end of the 101 response's head.
    pub handshake_timeout: Duration,
}

/// What is spoken on a WebSocket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dialect {
    /// Plain messages.
    Raw,
    /// Phoenix Channels.
    Phoenix {
        /// Serializer.
        version: proto::phoenix::Version,
        /// Between heartbeats; `None` sends none. A heartbeat without a reply before the next one is due ends the
        /// connection, as in Phoenix's own client.
        heartbeat: Option<Duration>,
    },
}

/// A Phoenix join.
#[derive(Clone, Debug)]
pub struct Join {
    /// Topic; it is the room of the messages that follow on it.
    pub topic: Template,
    /// JSON.
    pub payload: Template,
    /// For the reply; afterwards the join counts as timed out.
    pub timeout: Duration,
    /// Whether the user gets its own messages on this topic back, as a broadcast does and `broadcast_from` does not.
    pub echo: bool,
    /// Keeps a list of who is present (`presence_state`, `presence_diff`), whose size is reported.
    pub presence: bool,
}

/// A Phoenix push.
#[derive(Clone, Debug)]
pub struct Push {
    /// Topic, which must be joined.
    pub topic: Template,
    /// Event.
    pub event: Template,
    /// JSON, or the bytes of a binary push.
    pub body: Body,
    /// Whether it is a binary push (V2 only).
    pub binary: bool,
    /// Wait so long for the reply; `None` does not wait.
    pub reply: Option<Duration>,
    /// Who gets it.
    pub audience: Audience,
}

/// A plain message.
#[derive(Clone, Debug)]
pub struct Send {
    /// Text or binary.
    pub binary: bool,
    /// What.
    pub body: Body,
    /// Who gets it.
    pub audience: Audience,
}

/// What a message carries.
#[derive(Clone, Debug)]
pub enum Body {
    /// Text; a stamp in it (see [`crate::ledger`]) lets whoever receives it tell message, sender and times.
    Template(Template),
    /// The C10K test's 17 bytes: `ping:` and the send time as three 32-bit big-endian integers (megaseconds, seconds,
    /// microseconds). Its echo is told by these bytes.
    C10kPing,
}

/// Who is expected to get a message: what makes a message that did not come a lost one.
#[derive(Clone, PartialEq, Debug)]
pub enum Audience {
    /// Nobody in particular: counted as sent, and whatever comes back is just received.
    Nobody,
    /// The sender itself, once: an echo.
    Echo,
    /// All members of the room that the user is in at the time.
    Room,
}

/// What is waited for.
#[derive(Clone, Debug)]
pub struct Wait {
    /// What ends the wait.
    pub until: Matcher,
    /// So many times.
    pub count: u32,
    /// Afterwards the step has failed.
    pub timeout: Duration,
    /// Whether a failed wait ends the session.
    pub required: bool,
}

/// What an incoming message must be like; all that is given must hold.
#[derive(Clone, Debug, Default)]
pub struct Matcher {
    /// Phoenix: topic.
    pub topic: Option<Template>,
    /// Phoenix: event.
    pub event: Option<Template>,
    /// Somewhere in the message's text or payload.
    pub contains: Option<Template>,
    /// Matches the message's text or payload.
    pub regex: Option<Arc<regex::Regex>>,
    /// A stamped message of the user's own: its echo.
    pub own_echo: bool,
}

/// How often steps are done.
#[derive(Clone, Debug)]
pub struct Loop {
    /// How often at most; `None` is for ever.
    pub times: Option<Distribution>,
    /// For how long at most: no new round begins afterwards.
    pub during: Option<Duration>,
    /// Another round is done as long as this holds: asked before each round, or after it with `at_end`.
    pub condition: Option<Condition>,
    /// The condition is asked after each round, so one is done at least.
    pub at_end: bool,
    /// Counts the rounds, from 1, if named.
    pub counter: Option<VariableId>,
    /// What is done.
    pub steps: Vec<Step>,
}

/// A comparison. Numbers compare as numbers where both sides are numbers, else as text.
#[derive(Clone, Debug)]
pub struct Condition {
    /// One side.
    pub left: Template,
    /// How.
    pub comparison: Comparison,
    /// The other.
    pub right: Template,
}

/// How two values compare.
#[derive(Clone, Debug)]
pub enum Comparison {
    /// Same.
    Equal,
    /// Not the same.
    NotEqual,
    /// Greater.
    Greater,
    /// Greater or the same.
    GreaterOrEqual,
    /// Less.
    Less,
    /// Less or the same.
    LessOrEqual,
    /// The left side matches; the right side is not used.
    Matches(Arc<regex::Regex>),
    /// The left side does not match; the right side is not used.
    DoesNotMatch(Arc<regex::Regex>),
}

/// What a variable is set to.
#[derive(Clone, Debug)]
pub enum Expression {
    /// Text with variables.
    Text(Template),
    /// Sum of two numbers; what is not a number counts as 0.
    Sum(Template, Template),
    /// A number drawn.
    Draw(Distribution),
    /// Random letters and digits, so many.
    RandomText(u32),
    /// The feeder's next row, one of its columns; the same row for all columns set in one `Set` chain is had by
    /// [`Expression::FeederRow`] first.
    FeederColumn(FeederId, u16),
    /// Advances the user to the feeder's next row (its number is the value).
    FeederRow(FeederId),
    /// One of these, by weight.
    OneOf(Vec<(f64, Template)>),
}

/// A CSV file.
#[derive(Clone, Debug)]
pub struct Feeder {
    /// As the scenario calls it.
    pub name: String,
    /// Its columns.
    pub columns: Vec<String>,
    /// Its rows, at least one.
    pub rows: Arc<Vec<Vec<String>>>,
    /// Random rows instead of one after the other (from the first again after the last).
    pub random: bool,
}

/// How a value is found in a message or response.
#[derive(Clone, Debug)]
pub enum Extractor {
    /// RFC 9535; of several matches the first. Text without quotes, anything else as JSON.
    JsonPath(Arc<serde_json_path::JsonPath>),
    /// Group 1, or the whole match where there is no group.
    Regex(Arc<regex::Regex>),
    /// Value of a header line of the last HTTP response.
    Header(String),
}

/// An HTTP/1.1 request.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// `GET` and the like.
    pub method: String,
    /// A path at the user's target, or an absolute URL of one of the targets.
    pub url: Template,
    /// Header lines besides `Host`, `Content-Length` and `User-Agent`.
    pub headers: Vec<(String, Template)>,
    /// Body.
    pub body: Option<Template>,
    /// From the request's begin to the response's last byte.
    pub timeout: Duration,
    /// Statuses that count as success; empty is 200 to 399.
    pub expect: Vec<u16>,
    /// Whether the connection is kept for the next request.
    pub keep_alive: bool,
}

/// Bounds of one user, with what happens beyond each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Bytes of one incoming message; beyond it the connection is closed with 1009.
    pub message_bytes_max: u32,
    /// Bytes of one HTTP response body that are kept for captures; the rest is read and dropped.
    pub body_bytes_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message_bytes_max: 16 * 1024 * 1024, body_bytes_max: 1024 * 1024 }
    }
}

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
