//! The driver's state of a connection, inline in the engine's slab.

use crate::admission::AddressIndex;
use hub::MountIndex;
use proto::ws::Pending;

/// Sixteen bytes: there are millions of these.
pub(crate) struct Peer {
    /// An incomplete message.
    pub(crate) pending: Pending,
    /// The entry where the client's address is counted. For a connection through a trusted proxy it is set when the
    /// client is known.
    pub(crate) address: Option<AddressIndex>,
    pub(crate) mount: MountIndex,
    pub(crate) phase: Phase,
    /// The window for compressing this connection's messages; 0 without compression.
    pub(crate) window_bits: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Nothing has arrived yet of the PROXY protocol header that must precede the request.
    ProxySilent,
    /// That header has arrived in part, or completely but the request head has not.
    ProxyHead,
    /// Nothing of the request has arrived yet.
    Silent,
    /// Part of the request head has arrived.
    Head,
    Channels,
    Echo,
    /// A close frame or a refusal has been sent, or the connection moves to the control plane.
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
