//! The bounds of a queue in memory, and what is past them.

use std::fmt;

/// Bounds of a [`MemoryQueue`](super::MemoryQueue).
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimits {
    /// Messages that may wait for one endpoint. Past it a new one is refused.
    pub waiting_per_endpoint_max: usize,
    /// Bytes of all bodies, those of dead letters included. Past it the oldest dead letters are forgotten; what does not fit
    /// then is refused.
    pub bytes_max: usize,
    /// The same of one community, so that none takes the others' room.
    pub bytes_per_community_max: usize,
    /// Dead letters that are kept for each endpoint. Past it the oldest is forgotten.
    pub dead_per_endpoint_max: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        MemoryLimits {
            waiting_per_endpoint_max: 10_000,
            bytes_max: 64 << 20,
            bytes_per_community_max: 8 << 20,
            dead_per_endpoint_max: 100,
        }
    }
}

/// Why a message was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueFull {
    /// As many wait for the endpoint as may.
    Messages,
    /// What waits has as many bytes as it may.
    Bytes,
    /// What waits for its community's endpoints has.
    BytesOfCommunity,
    /// There is no such endpoint, or it is gone.
    NoEndpoint,
}

impl fmt::Display for QueueFull {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            QueueFull::Messages => "too many webhooks wait for this endpoint",
            QueueFull::Bytes => "too many bytes of webhooks wait",
            QueueFull::BytesOfCommunity => "too many bytes of webhooks wait for this community's endpoints",
            QueueFull::NoEndpoint => "there is no such endpoint, or it said that it is gone",
        })
    }
}

impl std::error::Error for QueueFull {}
