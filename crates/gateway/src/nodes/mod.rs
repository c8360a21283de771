//! The other nodes of a cluster, for long-polling: a client's requests come to any node, and its session lives on one.
//!
//! A session's token names its node. Another node forwards the request there, over HTTP/2 to the address that the node has
//! announced by the bus, and shows the secret that the node has announced with it. There a listener of its own takes it and
//! answers for that node's sessions alone, so that nothing is ever forwarded twice. Who does not answer in time, or at
//! all, counts as a node that knows no such session, which is what clients know how to go on from.
//!
//! It must hold no rule of long-polling: what is forwarded is what a client said, and what comes back what it is told.

mod accept;
mod address;
mod line;
mod peers;

pub(crate) use accept::accept;
pub use address::NodeAddress;
pub(crate) use line::Forwarded;
pub(crate) use peers::Nodes;
