//! The address of a node.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// The address where a node listens for the others, and the secret that they must present there.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeAddress {
    /// The address.
    pub address: SocketAddr,
    /// 256 random bits, encoded as text.
    pub secret: Arc<str>,
}

/// Omits the secret, which must not appear in logs.
impl fmt::Debug for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeAddress").field("address", &self.address).finish_non_exhaustive()
    }
}
