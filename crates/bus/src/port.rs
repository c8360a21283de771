//! Both ends of a bus, as a node's hubs see it.

use hub::{BusEffect, BusEvent, NodeId, ShardIndex};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedReceiver;

/// What each shard wants, in its order, some wishes at a time. Never waits long: the bus takes what is there at once,
/// and bounds what it keeps itself.
pub type Requests = UnboundedReceiver<(ShardIndex, Vec<BusEffect>)>;

/// Takes what the bus says. With a shard, for that one, which asked; otherwise for the home of the event's topic, or for
/// every shard where there is none. Must not block.
pub type Tell = Arc<dyn Fn(Option<ShardIndex>, BusEvent) + Send + Sync>;

/// What a bus is given to run with.
pub struct Port {
    /// The node's name, from its start to its end.
    pub node: NodeId,
    /// When the hubs' time began.
    pub began: Instant,
    /// What the hubs want. The bus ends when nobody is left who could want something.
    pub requests: Requests,
    /// Where it says what it has to say.
    pub tell: Tell,
}
