//! When users come.

use std::time::Duration;

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
    /// Weights of the sessions in this phase instead of their own, in the order of
    /// [`Plan::sessions`](super::Plan::sessions).
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
