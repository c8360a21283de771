//! How a run is started, apart from its plan.

use std::time::Instant;

/// How this machine plays its part of a plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of threads with connections; `None` is one per core, and more if the descriptor limit requires it.
    pub shards: Option<usize>,
    /// The users that this machine plays.
    pub share: Share,
    /// The start of the run's time. It may be in the future, so that several machines start together.
    pub start: Instant,
    /// The same moment in nanoseconds since the Unix epoch.
    pub start_unix_ns: u64,
    /// Distinguishes the messages of this run from those of another one.
    pub run_tag: u16,
}

/// The part of the plan's users that a machine plays.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// This machine's index in `weights`.
    pub index: usize,
    /// Each machine's share of the load, as weights above 0; at least one.
    pub weights: Vec<f64>,
}

impl Share {
    /// Returns the share of a single machine that plays all users.
    #[must_use]
    pub fn whole() -> Self {
        Self { index: 0, weights: vec![1.0] }
    }
}
