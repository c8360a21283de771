//! What the hub asks of a bus between nodes, and what a bus tells the hub.
//!
//! Nodes do not talk to each other; an engine such as Redis or NATS carries topics between them. With
//! [`HubConfig::bus`](crate::HubConfig) off there is one node and none of these effects is made.

use crate::publication::Publication;
use std::sync::Arc;

/// Made by a topic's home shard only.
#[derive(Debug, Clone)]
pub enum BusEffect {
    /// Something was published on this node, to go to the others.
    Publish(Arc<Publication>),
    /// This node now has members on the topic, or has none left.
    Interest {
        /// The topic.
        topic: Arc<str>,
        /// Whether there are members.
        on: bool,
    },
}

/// Given to the topic's home shard.
#[derive(Debug, Clone)]
pub enum BusEvent {
    /// Published on another node.
    Delivered(Arc<Publication>),
}
