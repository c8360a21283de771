//! What the driver talks to, and what it says there.

use std::net::SocketAddrV4;

use crate::wire;

/// A server's address and what each connection says until it counts as open.
#[derive(Clone, Debug)]
pub struct Target {
    pub(crate) address: SocketAddrV4,
    pub(crate) request: Vec<u8>,
    pub(crate) join: Option<Vec<u8>>,
}

/// How far a connection goes before it counts as open.
#[derive(Clone, Debug)]
pub enum Conversation {
    /// The upgrade alone, as on an echo mount.
    Upgrade,
    /// The upgrade, then a Phoenix V1 join of this topic.
    Join(String),
}

impl Target {
    /// A target at `address`, with `path` in the upgrade request.
    pub fn new(address: SocketAddrV4, path: &str, conversation: &Conversation) -> Self {
        let join = match conversation {
            Conversation::Upgrade => None,
            Conversation::Join(topic) => Some(wire::client_frame(&wire::join(topic))),
        };
        Self { address, request: wire::request_head(path, &address.to_string()), join }
    }
}
