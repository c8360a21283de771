//! Limits of the in-memory queue, and the error for exceeding them.

use std::fmt;

/// Limits of a [`MemoryQueue`](super::MemoryQueue).
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimits {
    /// Waiting messages per endpoint. Beyond it new ones are refused.
    pub waiting_per_endpoint_max: usize,
    /// Bytes of all bodies, including dead letters. Beyond it the oldest dead letters are dropped; messages that still
    /// do not fit are refused.
    pub bytes_max: usize,
    /// The same per community, so that none takes the others' room.
    pub bytes_per_community_max: usize,
    /// Dead letters kept per endpoint. Beyond it the oldest is dropped.
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

/// Why a message was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueFull {
    /// The endpoint has the maximum number of waiting messages.
    Messages,
    /// The waiting messages have the maximum number of bytes.
    Bytes,
    /// The community's waiting messages have the maximum number of bytes.
    BytesOfCommunity,
    /// The endpoint is unknown, or gone.
    NoEndpoint,
}

impl fmt::Display for QueueFull {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            QueueFull::Messages => "too many webhooks are waiting for this endpoint",
            QueueFull::Bytes => "too many bytes of webhooks are waiting",
            QueueFull::BytesOfCommunity => {
                "too many bytes of webhooks are waiting for this community's endpoints"
            }
            QueueFull::NoEndpoint => "the endpoint does not exist, or has answered that it is gone (410)",
        })
    }
}

impl std::error::Error for QueueFull {}
