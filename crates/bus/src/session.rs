//! State shared by a session with an engine and its parts: the node's id, its clock, its time limits, and the way to
//! pass on events.

use crate::port::{NodeAddress, Port, RequestReceiver, Tell, TellPeers};
use crate::status::Numbers;
use crate::times::Times;
use hub::{BusEvent, Histories, Micros, NodeId, ShardIndex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Nodes with a valid lease, and where they listen for the others.
pub(crate) type Standing = BTreeMap<NodeId, Option<NodeAddress>>;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct SessionContext {
    pub(crate) node: NodeId,
    began: Instant,
    tell: Tell,
    tell_peers: TellPeers,
    /// The address where the node listens for the others.
    pub(crate) listening: Option<NodeAddress>,
    pub(crate) numbers: Arc<Numbers>,
    pub(crate) histories: Histories,
    pub(crate) times: Times,
    /// Whether the session is over: connections and tasks end a little later, and their events are then discarded.
    closed: Arc<AtomicBool>,
}

impl SessionContext {
    /// Creates the context of a node, and the receiver of its hubs' requests.
    pub(crate) fn new(
        port: Port,
        numbers: Arc<Numbers>,
        histories: Histories,
        times: Times,
    ) -> (SessionContext, RequestReceiver) {
        let Port { node, began, listening, requests, tell, tell_peers } = port;
        let closed = Arc::default();
        (
            SessionContext { node, began, tell, tell_peers, listening, numbers, histories, times, closed },
            requests,
        )
    }

    /// Returns one for a new session.
    pub(crate) fn for_session(&self) -> SessionContext {
        SessionContext { closed: Arc::default(), ..self.clone() }
    }

    /// Marks the session as over.
    pub(crate) fn close(&self) {
        self.closed.store(true, Relaxed);
    }

    /// Passes an event to the home of its topic, or to every shard.
    pub(crate) fn tell(&self, event: BusEvent) {
        self.say(None, event);
    }

    /// Passes an event to the shard that asked.
    pub(crate) fn answer(&self, shard: ShardIndex, event: BusEvent) {
        self.say(Some(shard), event);
    }

    /// Counts something of this node that the engine refused, while everything else continues.
    pub(crate) fn refuse(&self, what: &str) {
        if self.numbers.dropped.fetch_add(1, Relaxed) == 0 {
            tracing::warn!("the bus rejected {what}; `throng_bus_dropped_total` counts further ones");
        }
    }

    fn say(&self, shard: Option<ShardIndex>, event: BusEvent) {
        if !self.closed.load(Relaxed) {
            (self.tell)(shard, event);
        }
    }

    /// Reports the nodes with valid leases to the hubs, and their addresses to the forwarder.
    pub(crate) fn tell_standing(&self, standing: &Standing) {
        if self.closed.load(Relaxed) {
            return;
        }
        self.numbers.nodes.store(standing.len() as u64, Relaxed);
        let peers = standing.iter().filter_map(|(node, listening)| Some((*node, listening.clone()?)));
        (self.tell_peers)(peers.collect());
        self.tell(BusEvent::Leases(standing.keys().copied().collect()));
    }

    /// Returns the hubs' time.
    pub(crate) fn now(&self) -> Micros {
        Micros(self.began.elapsed().as_micros() as u64)
    }
}
