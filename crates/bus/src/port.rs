//! The interface between a bus and a node's hubs.

use hub::{BusEffect, BusEvent, NodeId, ShardIndex};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;

/// The requests of each shard, in order, several at a time. The bus receives them without delay, and bounds what it
/// keeps.
pub type RequestReceiver = UnboundedReceiver<(ShardIndex, Vec<BusEffect>)>;

/// Receives the bus's events. With a shard, the event is for that one, which asked; otherwise for the home of the
/// event's topic, or for every shard if it has no topic. Must not block.
pub type Tell = Arc<dyn Fn(Option<ShardIndex>, BusEvent) + Send + Sync>;

/// The address where a node listens for the others, and the secret that they must present there. Only users of the
/// engine learn it.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeAddress {
    /// The address.
    pub address: SocketAddr,
    /// The secret; it contains no whitespace.
    pub secret: Arc<str>,
}

/// Omits the secret, which must not appear in logs.
impl fmt::Debug for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeAddress").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Receives the listening nodes with a valid lease, including this one, whenever they change; never called while the
/// engine is away. Must not block.
pub type TellPeers = Arc<dyn Fn(Vec<(NodeId, NodeAddress)>) + Send + Sync>;

/// The inputs of a bus.
pub struct Port {
    /// The node's id, from its start to its end.
    pub node: NodeId,
    /// The zero of the hubs' time.
    pub began: Instant,
    /// The address where the node listens for the others, which the bus announces; see also
    /// [`Settings::announced`](crate::Settings). If it is the unspecified address, the one from which this machine
    /// reaches the engine is announced.
    pub listening: Option<NodeAddress>,
    /// The hubs' requests. The bus ends when no hub is left.
    pub requests: RequestReceiver,
    /// The receiver of its events.
    pub tell: Tell,
    /// The receiver of the nodes' addresses.
    pub tell_peers: TellPeers,
}
