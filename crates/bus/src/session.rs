//! What a session with an engine and its pieces share: this node's name, its clock, and where events go.

use crate::port::Tell;
use crate::status::Numbers;
use hub::{BusEvent, Histories, Micros, NodeId, ShardIndex};
use std::sync::Arc;
use std::time::Instant;

/// Cheap to hand on.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) node: NodeId,
    pub(crate) began: Instant,
    pub(crate) tell: Tell,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) histories: Histories,
}

impl Desk {
    /// Tells the home of the event's topic, or everybody.
    pub(crate) fn tell(&self, event: BusEvent) {
        (self.tell)(None, event);
    }

    /// Tells the shard that asked.
    pub(crate) fn answer(&self, shard: ShardIndex, event: BusEvent) {
        (self.tell)(Some(shard), event);
    }

    /// The hubs' time.
    pub(crate) fn now(&self) -> Micros {
        Micros(self.began.elapsed().as_micros() as u64)
    }
}
