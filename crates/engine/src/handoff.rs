//! Connections that leave the engine.

use std::net::{SocketAddr, TcpStream};

use crate::driver::ListenerIndex;

/// Takes the connections that leave the shards. Called on a control thread, in the process's own descriptor table; it
/// should hand them on and return.
pub type Handoff = Box<dyn Fn(HandedOff) + Send + Sync>;

/// A connection that left its shard by [`Io::hand_off`](crate::Io::hand_off).
#[derive(Debug)]
pub struct HandedOff {
    /// The socket, non-blocking and without delay.
    pub stream: TcpStream,
    /// The peer's address.
    pub remote: SocketAddr,
    /// Where it came in; of an adopted connection, or one that went out, `u16::MAX`.
    pub listener: ListenerIndex,
    /// What was read from it and not used.
    pub unread: Vec<u8>,
}
