//! What a session with an engine and its pieces share: this node's name, its clock, its
//! patience, and where events go.

use crate::port::Tell;
use crate::status::Numbers;
use crate::times::Times;
use hub::{BusEvent, Histories, Micros, NodeId, ShardIndex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Cheap to hand on.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) node: NodeId,
    began: Instant,
    tell: Tell,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) histories: Histories,
    pub(crate) times: Times,
    /// Whether the session is over: connections and tasks end a little later, and what they say then is nobody's.
    closed: Arc<AtomicBool>,
}

impl Desk {
    pub(crate) fn new(
        (node, began): (NodeId, Instant),
        tell: Tell,
        numbers: Arc<Numbers>,
        histories: Histories,
        times: Times,
    ) -> Desk {
        Desk { node, began, tell, numbers, histories, times, closed: Arc::default() }
    }

    /// One for a new session.
    pub(crate) fn for_session(&self) -> Desk {
        Desk { closed: Arc::default(), ..self.clone() }
    }

    /// The session is over.
    pub(crate) fn close(&self) {
        self.closed.store(true, Relaxed);
    }

    /// Tells the home of the event's topic, or everybody.
    pub(crate) fn tell(&self, event: BusEvent) {
        self.say(None, event);
    }

    /// Tells the shard that asked.
    pub(crate) fn answer(&self, shard: ShardIndex, event: BusEvent) {
        self.say(Some(shard), event);
    }

    fn say(&self, shard: Option<ShardIndex>, event: BusEvent) {
        if !self.closed.load(Relaxed) {
            (self.tell)(shard, event);
        }
    }

    /// The hubs' time.
    pub(crate) fn now(&self) -> Micros {
        Micros(self.began.elapsed().as_micros() as u64)
    }
}
