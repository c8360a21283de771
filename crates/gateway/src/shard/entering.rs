//! New connections: who is let in, before a byte of theirs has been read, and whose they are.

use super::driver::{ShardDriver, ShardIo};
use super::peer::{Peer, Phase};
use crate::handshake::{Rejection, refusal};
use crate::metrics::PROXY_PROTOCOL;
use bytes::Bytes;
use engine::{ConnectionId, ListenerIndex};
use std::net::SocketAddr;

/// Somebody who is not let in.
pub(crate) struct Refused {
    pub(crate) reason: &'static str,
    /// What is said; nothing to those of whom it is not known that they speak HTTP.
    pub(crate) answer: Bytes,
}

impl From<Rejection> for Refused {
    fn from(rejection: Rejection) -> Refused {
        Refused { reason: rejection.reason, answer: refusal(&rejection).into() }
    }
}

impl ShardDriver {
    /// Decides on a new connection, of which nothing is known but where it comes from.
    pub(crate) fn let_in(&self, listener: ListenerIndex, remote: SocketAddr) -> Result<Peer, Refused> {
        if self.drain.is_some() {
            return Err(Rejection::draining().into());
        }
        if self.shared.allowance.is_exceeded() {
            return Err(Rejection::memory().into());
        }
        let peer = self.new_peer(listener, remote)?;
        // Last, so that nobody who is refused for themselves takes a place from others.
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

    /// Where a connection's client is. Behind a proxy its port is not kept, and is 0.
    pub(crate) fn client(&self, io: &mut ShardIo<'_>, id: ConnectionId) -> Option<SocketAddr> {
        let counted = io.peer(id)?.address.map(|address| self.shared.admission.ip(address));
        let remote = io.remote(id)?;
        match counted {
            Some(ip) if ip != remote.ip().to_canonical() => Some(SocketAddr::new(ip, 0)),
            Some(_) | None => Some(remote),
        }
    }
}
