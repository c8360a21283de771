//! A scenario as it is meant: everything resolved, checked and named by index, ready to be played.
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
