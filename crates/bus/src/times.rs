//! How long things may take before they are taken for lost.

use crate::limits::{ANSWER_TIME_MAX, CONNECT_TIME_MAX, LEASE_INTERVAL, LEASE_TIME};
use std::time::Duration;

/// What a bus waits for. All nodes of a cluster are told the same; who has no reason takes the default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Times {
    /// How long an engine may take to accept a connection. Past it the engine is away.
    pub connect_max: Duration,
    /// How long an engine may take to answer. Past it the engine is away.
    pub answer_max: Duration,
    /// How long a node's lease stands without being renewed: how long the people of a node that was killed are seen.
    pub lease: Duration,
    /// How often it is renewed, and the other nodes' are looked at.
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
