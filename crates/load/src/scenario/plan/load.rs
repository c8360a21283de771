//! When users arrive.

use std::time::Duration;

/// The arrival schedule of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Load {
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// How many times the phases are repeated, at least 1.
    pub rounds: u32,
    /// Ends the run regardless of what the users are doing.
    pub duration: Option<Duration>,
}

/// A part of the run with one arrival process.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// Shown while the phase runs.
    pub name: String,
    /// How long the phase lasts, even if its last user has already arrived. `None`: until its last user has arrived
    /// (open model) or finished (closed model).
    pub duration: Option<Duration>,
    /// How users arrive.
    pub arrivals: Arrivals,
    /// Maximum number of users in this phase.
    pub users_max: Option<u64>,
    /// Weights of the sessions in this phase, which replace their own weights, in the order of
    /// [`Plan::sessions`](super::Plan::sessions).
    pub weights: Option<Vec<f64>>,
    /// Whether the next phase waits until all users have finished.
    pub wait_for_users: bool,
}

/// How users arrive in one phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arrivals {
    /// Open model, evenly spaced, in users per second.
    Constant(f64),
    /// Open model, changing linearly from the first rate to the second over the phase's duration, in users per second.
    Ramp(f64, f64),
    /// Open model, independent arrivals, in mean users per second.
    Poisson(f64),
    /// All users at once.
    Burst(u64),
    /// Closed model: a fixed number of users, each of which restarts its session when it finishes, until the phase ends
    /// or each has completed `iterations` sessions. They start evenly spread over `ramp`.
    Closed {
        /// Number of concurrent users.
        users: u64,
        /// Sessions per user; `None` continues until the end of the phase.
        iterations: Option<u64>,
        /// The time over which the users start.
        ramp: Duration,
    },
    /// No arrivals.
    Pause,
}
