//! The other nodes of a cluster, for long-polling: a client's requests may arrive at any node, but its session lives on
//! one.
//!
//! A session's token names its node. Another node forwards the request there, over HTTP/2 to the address that the node
//! has announced on the bus, and presents the secret that was announced with it. There a separate listener answers
//! requests for that node's own sessions only, so that nothing is ever forwarded twice. A node that does not answer in
//! time, or at all, is treated as one that does not know the session; clients know how to continue from that.
//!
//! It must not contain rules of long-polling: requests and answers are forwarded unchanged.

mod accept;
mod address;
mod line;
mod peers;

pub(crate) use accept::accept;
pub use address::NodeAddress;
pub(crate) use line::Forwarded;
pub(crate) use peers::Nodes;
