//! What a program's nodes say to each other by the bus, outside of any topic.
//!
//! It owns the two ends that a program sees: [`Handle::tell_nodes`](crate::Handle::tell_nodes) and what
//! [`GatewayBuilder::hear_nodes`](crate::GatewayBuilder::hear_nodes) is called with. Nothing is kept and nothing is sent
//! again: who must not miss anything numbers what it says.

use hub::{BusEvent, NodeId};
use std::sync::Arc;

/// What a node hears of the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FromNodes<'a> {
    /// The bus is there (again). What the others said meanwhile is lost.
    Up,
    /// The bus is away: nobody hears this node, and it hears nobody.
    Down,
    /// The nodes that live, this one among them; told after [`FromNodes::Up`], and whenever one comes or goes.
    Nodes(&'a [NodeId]),
    /// Another node has said this. What one node says comes in its order, each once or never.
    Told {
        /// Which node.
        node: NodeId,
        /// What.
        words: &'a [u8],
    },
}

/// Hears it, on the control plane's runtime.
pub(crate) type Ear = Arc<dyn Fn(FromNodes<'_>) + Send + Sync>;

impl<'a> FromNodes<'a> {
    /// What an event says to the program, if anything.
    pub(crate) fn of(event: &'a BusEvent) -> Option<FromNodes<'a>> {
        match event {
            BusEvent::Up => Some(FromNodes::Up),
            BusEvent::Down => Some(FromNodes::Down),
            BusEvent::Leases(nodes) => Some(FromNodes::Nodes(nodes)),
            BusEvent::Told { node, words } => Some(FromNodes::Told { node: *node, words }),
            BusEvent::Subscribed { .. }
            | BusEvent::Appended { .. }
            | BusEvent::Delivered { .. }
            | BusEvent::Lost { .. }
            | BusEvent::Ordered(_)
            | BusEvent::History { .. }
            | BusEvent::Head { .. }
            | BusEvent::Present { .. }
            | BusEvent::PresenceHead { .. }
            | BusEvent::People { .. }
            | BusEvent::Dismissed(_) => None,
        }
    }
}
