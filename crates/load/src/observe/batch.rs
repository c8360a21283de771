//! Observations on their way from a shard to the collector.

use super::Observation;

/// What one shard saw, in its order. Batches of one shard keep their order; those of several have none.
#[derive(Clone, PartialEq, Debug)]
pub struct Batch {
    /// Which shard.
    pub shard: u16,
    /// At most [`Batch::LEN_MAX`].
    pub observations: Vec<Observation>,
}

impl Batch {
    /// The most observations in one batch.
    pub const LEN_MAX: usize = 1024;
}
