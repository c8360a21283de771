//! Time limits.

use crate::limits::{ANSWER_TIME_MAX, CONNECT_TIME_MAX, LEASE_INTERVAL, LEASE_TIME};
use std::time::Duration;

/// The time limits of a bus; the same on all nodes of a cluster. Use the default unless there is a reason not to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// Time limit for connecting to an engine. Beyond it the engine counts as away.
    pub connect_max: Duration,
    /// Time limit for an engine's answer. Beyond it the engine counts as away.
    pub answer_max: Duration,
    /// How long a node's lease is valid without renewal: how long the people of a killed node remain visible.
    pub lease: Duration,
    /// How often it is renewed and the other nodes' leases are checked.
    pub lease_interval: Duration,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            connect_max: CONNECT_TIME_MAX,
            answer_max: ANSWER_TIME_MAX,
            lease: LEASE_TIME,
            lease_interval: LEASE_INTERVAL,
        }
    }
}
