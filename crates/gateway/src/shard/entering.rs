//! New connections: which are admitted, before any byte has been read, and who their clients are.

use super::driver::{ShardDriver, ShardIo};
use super::peer::{Peer, Phase};
use crate::handshake::{Rejection, refusal};
use crate::metrics::PROXY_PROTOCOL;
use bytes::Bytes;
use engine::{ConnectionId, ListenerIndex};
use std::net::SocketAddr;

/// A connection that is not admitted.
pub(crate) struct Refused {
    pub(crate) reason: &'static str,
    /// The answer; empty for connections that are not known to speak HTTP.
    pub(crate) answer: Bytes,
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Refused {
        Refused { reason: rejection.reason, answer: refusal(&rejection).into() }
    }
}

impl ShardDriver {
    /// Decides on a new connection, of which only the address is known.
    pub(crate) fn let_in(&self, listener: ListenerIndex, remote: SocketAddr) -> Result<Peer, Refused> {
        if self.drain.is_some() {
            return Err(Rejection::draining().into());
        }
        if self.shared.allowance.is_exceeded() {
            return Err(Rejection::memory().into());
        }
        let peer = self.new_peer(listener, remote)?;
        // Last, so that a connection that is refused for its own address does not consume a token.
        if self.shared.pace.as_ref().is_some_and(|pace| !pace.admits()) {
            if let Some(address) = peer.address {
                self.shared.admission.leave(address);
            }
            return Err(Rejection::too_fast().into());
        }
        Ok(peer)
    }

    fn new_peer(&self, listener: ListenerIndex, remote: SocketAddr) -> Result<Peer, Refused> {
        let proxies = &self.shared.proxies;
        match (proxies.trusts(remote.ip()), proxies.are_announced_at(listener)) {
            (true, true) => Ok(Peer::new(None, Phase::ProxySilent)),
            (true, false) => Ok(Peer::new(None, Phase::Silent)),
            (false, true) => Err(Refused { reason: PROXY_PROTOCOL, answer: Bytes::new() }),
            (false, false) => match self.shared.admission.enter(remote) {
                Ok(address) => Ok(Peer::new(Some(address), Phase::Silent)),
                Err(excess) => Err(Rejection::excess(excess).into()),
            },
        }
    }

    /// Returns the client's address. Behind a proxy its port is not stored, and is 0.
    pub(crate) fn client(&self, io: &mut ShardIo<'_>, id: ConnectionId) -> Option<SocketAddr> {
        let counted = io.peer(id)?.address.map(|address| self.shared.admission.ip(address));
        let remote = io.remote(id)?;
        match counted {
            Some(ip) if ip != remote.ip().to_canonical() => Some(SocketAddr::new(ip, 0)),
            Some(_) | None => Some(remote),
        }
    }
}
