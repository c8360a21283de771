//! Messages between a program's nodes over the bus, outside of any topic.
//!
//! This module defines the two ends that a program uses: [`Handle::tell_nodes`](crate::Handle::tell_nodes) and the
//! callback of [`GatewayBuilder::hear_nodes`](crate::GatewayBuilder::hear_nodes). Nothing is stored or retransmitted: a
//! program that must not miss a message has to number its messages.

use hub::{BusEvent, NodeId};
use std::sync::Arc;

/// A notification about the other nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FromNodes<'a> {
    /// The bus is available (again). What the others sent meanwhile is lost.
    Up,
    /// The bus is away: this node can neither reach the others nor be reached.
    Down,
    /// The live nodes, including this one; sent after [`FromNodes::Up`], and whenever one joins or is lost.
    Nodes(&'a [NodeId]),
    /// A message from another node. The messages of one node arrive in order, each at most once.
    Told {
        /// The node.
        node: NodeId,
        /// The message.
        words: &'a [u8],
    },
}

/// The program's callback, which runs on the control plane's runtime.
pub(crate) type Ear = Arc<dyn Fn(FromNodes<'_>) + Send + Sync>;

impl<'a> FromNodes<'a> {
    /// Returns the notification for an event, if the event concerns the program.
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
