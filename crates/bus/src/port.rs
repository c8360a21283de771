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

/// Where a node listens for the others, and what they have to show there: who may use the engine learns it, and nobody else.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeAddress {
    /// Where.
    pub address: SocketAddr,
    /// What has to be shown: no blanks, no line ends.
    pub secret: Arc<str>,
}

/// The secret is not for logs.
impl fmt::Debug for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeAddress").field("address", &self.address).finish_non_exhaustive()
    }
}

/// Hears which nodes listen whose leases stand, this one among them, whenever that changes; never while the engine is away.
/// Must not block.
pub type TellPeers = Arc<dyn Fn(Vec<(NodeId, NodeAddress)>) + Send + Sync>;

/// What a bus is given to run with.
pub struct Port {
    /// The node's name, from its start to its end.
    pub node: NodeId,
    /// When the hubs' time began.
    pub began: Instant,
    /// Where the node listens for the others, which the bus announces; see also [`Settings::announced`](crate::Settings).
    /// Of the unspecified address, the one by which this machine reaches the engine is announced.
    pub listening: Option<NodeAddress>,
    /// What the hubs want. The bus ends when nobody is left who could want something.
    pub requests: Requests,
    /// Where it says what it has to say.
    pub tell: Tell,
    /// Who hears of the nodes.
    pub tell_peers: TellPeers,
}
