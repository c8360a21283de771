//! The shards' metrics, readable from any thread without asking the shards.

mod close_reason;
mod histogram;
mod shard;
mod snapshot;

pub use close_reason::CloseReason;
pub use histogram::Histogram;
pub(crate) use shard::{
    CAPACITY, CONNECTION_RATE, LONGPOLL_BODIES, MEMORY_BUDGET, PROXY_PROTOCOL, ShardMetrics,
};
pub(crate) use snapshot::Metrics;
pub use snapshot::{ShardSnapshot, Snapshot};
