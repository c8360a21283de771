//! What a run is started with besides its plan.

use std::time::Instant;

/// How this machine plays its part of a plan.
#[derive(Clone, Debug)]
pub struct Options {
    /// Threads with connections; `None` is one a core, and more where the descriptor limit asks for it.
    pub shards: Option<usize>,
    /// Which users this machine plays.
    pub share: Share,
    /// The moment that all times count from. It may lie in the future, so that several machines start together.
    pub start: Instant,
    /// The same moment in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Tells the messages of this run from those of another one.
    pub run_tag: u16,
}

/// Which users of the plan a machine plays.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// This machine's place in `weights`.
    pub index: usize,
    /// How much of the load each machine takes, at least one; above 0.
    pub weights: Vec<f64>,
}

impl Share {
    /// One machine plays everybody.
    #[must_use]
    pub fn whole() -> Self {
        Self { index: 0, weights: vec![1.0] }
    }
}
