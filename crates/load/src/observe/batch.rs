//! Observations on their way from a shard to the collector.

use super::Observation;

/// Observations of one shard, in the order in which it made them. Batches of one shard stay in order; there is no order
/// across shards.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// Index of the shard.
    pub shard: u16,
    /// At most [`Batch::LEN_MAX`].
    pub observations: Vec<Observation>,
}

impl Batch {
    /// The most observations in one batch.
    pub const LEN_MAX: usize = 1024;
}
