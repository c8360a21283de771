//! The resolved form of a scenario: checked, with defaults applied and names replaced by indexes, ready to run.
//!
//! The format that people write is [`super::source`]; nothing here knows text positions or defaults.

mod connection;
mod load;
mod message;
mod names;
mod steps;
mod threshold;
mod values;

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use connection::{Connect, Dialect, HttpRequest, Join};
pub use load::{Arrivals, Load, Phase};
pub use message::{Audience, Body, Matcher, Push, Send, Wait};
pub use names::{BarrierId, FeederId, LabelId, SessionId, TargetId, VariableId};
pub use steps::{Action, Comparison, Condition, Loop, Session, Step};
pub use threshold::{Measure, Metric, Threshold, ThresholdComparison};
pub use values::{Expression, Extractor, Feeder};

/// A whole scenario.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Title of the report.
    pub name: String,
    /// Seed of all randomness. The same seed gives the same users: their sessions, targets, pauses, sizes and random
    /// values.
    pub seed: u64,
    /// The servers that users connect to, at least one.
    pub targets: Vec<Target>,
    /// The addresses and ports that they connect from.
    pub sources: Sources,
    /// Which certificates are trusted for targets that use TLS.
    pub tls: TlsTrust,
    /// When the users arrive.
    pub load: Load,
    /// What they do, at least one, chosen by weight.
    pub sessions: Vec<Session>,
    /// Names of the variables, by [`VariableId`].
    pub variables: Vec<String>,
    /// Names under which steps report, by [`LabelId`].
    pub labels: Vec<String>,
    /// Names of the barriers, by [`BarrierId`].
    pub barriers: Vec<String>,
    /// CSV files, already read.
    pub feeders: Vec<Feeder>,
    /// Number of sequences, which count across all users; a template refers to one by index.
    pub sequences: u16,
    /// Conditions for the exit code to be 0.
    pub thresholds: Vec<Threshold>,
    /// How long the run waits for messages in flight after the last user has finished or the time is up. A message that
    /// arrives in the first half is on time, in the second half late; one that has not arrived by then is lost.
    pub drain: Duration,
    /// Whether each message is written to the event log.
    pub event_log: bool,
    /// Limits for each user.
    pub limits: Limits,
}

/// A server under test.
#[derive(Clone, PartialEq, Debug)]
pub struct Target {
    /// Whether the connection is encrypted (`wss`, `https`).
    pub tls: bool,
    /// Host name or address, as used in `Host` and the TLS server name; resolved once, before the run.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Prefix for the path of each step; empty, or `/…` without a trailing slash.
    pub base_path: String,
    /// The target's share of the users is its weight divided by the sum of all weights; above 0.
    pub weight: f64,
}

/// Source addresses and ports of the users' connections.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Sources {
    /// Used in turn; an address whose ports are exhausted is skipped. Empty leaves the choice to the kernel.
    pub addresses: Vec<IpAddr>,
    /// First and last port to bind; `None` leaves the choice to the kernel, which uses each (address, port, target)
    /// combination once.
    pub ports: Option<(u16, u16)>,
}

/// Which certificates are trusted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TlsTrust {
    /// PEM file with additional certificate authorities.
    pub authorities: Option<PathBuf>,
    /// Whether any certificate is accepted.
    pub insecure: bool,
}

/// Limits for each user, and what happens when one is exceeded.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// Maximum size of an incoming message in bytes; a larger one closes the connection with 1009.
    pub message_bytes_max: u32,
    /// How many bytes of an HTTP response body are kept for captures; the rest is read and discarded.
    pub body_bytes_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { message_bytes_max: 16 * 1024 * 1024, body_bytes_max: 1024 * 1024 }
    }
}
