//! Connections that leave the engine.

use std::net::{SocketAddr, TcpStream};

use crate::driver::ListenerIndex;

/// Receives the connections that leave the shards. Called on the control thread, in the process's own descriptor table;
/// it should pass them on and return.
pub type Handoff = Box<dyn Fn(HandedOff) + Send + Sync>;

/// A connection that left its shard by [`Io::hand_off`](crate::Io::hand_off).
#[derive(Debug)]
pub struct HandedOff {
    /// The socket, non-blocking and with TCP_NODELAY.
    pub stream: TcpStream,
    /// The peer's address.
    pub remote: SocketAddr,
    /// The listener that it came in by; `u16::MAX` for an adopted or outgoing connection.
    pub listener: ListenerIndex,
    /// What was read from it and not consumed.
    pub unread: Vec<u8>,
}
