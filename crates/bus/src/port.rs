//! Both ends of a bus, as a node's hubs see it.

use hub::{BusEffect, BusEvent, NodeId, ShardIndex};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;

/// What each shard wants, in its order, some wishes at a time. Never waits long: the bus takes what is there at once,
/// and bounds what it keeps itself.
pub type Requests = UnboundedReceiver<(ShardIndex, Vec<BusEffect>)>;

/// Takes what the bus says. With a shard, for that one, which asked; otherwise for the home of the event's topic, or for
/// every shard where there is none. Must not block.
pub type Tell = Arc<dyn Fn(Option<ShardIndex>, BusEvent) + Send + Sync>;

/// The nodes of the cluster, for what they have to say to each other beside the bus.
#[derive(Clone, PartialEq, Eq)]
pub struct Peers {
    /// What nodes show each other. The engine keeps it, so that who may use the engine knows it, and nobody else.
    pub secret: Arc<str>,
    /// Where those listen whose leases stand, this one among them. Nodes that listen nowhere are missing.
    pub addresses: Vec<(NodeId, SocketAddr)>,
}

/// The secret is not for logs.
impl fmt::Debug for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peers").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

/// Hears of the nodes whenever something changes, never while the engine is away. Must not block.
pub type TellPeers = Arc<dyn Fn(Peers) + Send + Sync>;

/// What a bus is given to run with.
pub struct Port {
    /// The node's name, from its start to its end.
    pub node: NodeId,
    /// When the hubs' time began.
    pub began: Instant,
    /// Where the node listens for the others, which the bus announces; see also [`Settings::announced`](crate::Settings).
    /// Of the unspecified address, the one by which this machine reaches the engine is announced.
    pub listening: Option<SocketAddr>,
    /// What the hubs want. The bus ends when nobody is left who could want something.
    pub requests: Requests,
    /// Where it says what it has to say.
    pub tell: Tell,
    /// Who hears of the nodes.
    pub tell_peers: TellPeers,
}
