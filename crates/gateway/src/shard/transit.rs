//! Transfers between the control plane and the shards: sockets to a shard, and answers to polling clients. A drain
//! waits for them, since they belong to no shard or connection meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts the transfers.
#[derive(Default)]
pub(crate) struct Transits(Arc<AtomicUsize>);

/// One socket or answer in transit, until it is dropped.
pub(crate) struct Transit(Arc<AtomicUsize>);

impl Transits {
    pub(crate) fn begin(&self) -> Transit {
        self.0.fetch_add(1, SeqCst);
        Transit(self.0.clone())
    }

    pub(crate) fn are_over(&self) -> bool {
        self.0.load(SeqCst) == 0
    }
}

impl Drop for Transit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}
