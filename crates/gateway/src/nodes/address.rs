//! Where a node is found.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// Where a node listens for the others, and what they have to show there.
#[derive(Clone, PartialEq, Eq)]
pub struct NodeAddress {
    /// Where.
    pub address: SocketAddr,
    /// 256 random bits as text.
    pub secret: Arc<str>,
}

/// The secret is not for logs.
impl fmt::Debug for NodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeAddress").field("address", &self.address).finish_non_exhaustive()
    }
}
