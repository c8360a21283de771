//! What the driver keeps beside each connection, inline in the engine's slab.

use crate::admission::AddressIndex;
use hub::MountIndex;
use proto::ws::Pending;

/// Sixteen bytes: there are millions of these.
pub(crate) struct Peer {
    /// A message that has come in part.
    pub(crate) pending: Pending,
    /// Where the client's address is counted. Of a connection that a trusted proxy brings this is known when the request
    /// says whose it is.
    pub(crate) address: Option<AddressIndex>,
    pub(crate) mount: MountIndex,
    pub(crate) phase: Phase,
    /// The window that this connection's messages may be compressed with; 0 without compression.
    pub(crate) window_bits: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing has come yet of the PROXY protocol header that stands before the request.
    ProxySilent,
    /// Part of it has, or all of it and not all of the request's head.
    ProxyHead,
    /// Nothing of the request has come yet.
    Silent,
    /// Part of the request's head has.
    Head,
    Channels,
    Echo,
    /// A close frame or a refusal is on its way, or the connection leaves for the control plane.
    Ending,
}

impl Peer {
    pub(crate) fn new(address: Option<AddressIndex>, phase: Phase) -> Peer {
        Peer { pending: Pending::default(), address, mount: MountIndex(0), phase, window_bits: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_stays_within_its_bytes() {
        assert!(size_of::<Peer>() <= 16, "{} bytes", size_of::<Peer>());
    }
}
