//! Connections through a trusted proxy: their clients, and at which address they are counted.
//!
//! The PROXY protocol header stays in the buffer before the request until the request is complete, so that the control
//! plane, if the request goes there, reads the same bytes.

use super::driver::{ShardDriver, ShardIo};
use super::peer::Phase;
use crate::handshake::{PROXY_HEADER_BYTES_MAX, Rejection, parse_proxy_header};
use crate::metrics::{CloseReason, PROXY_PROTOCOL};
use engine::{ConnectionId, LEFTOVER_BYTES_MAX};
use std::net::SocketAddr;

/// There must be room for a request head after the header.
const _: () = assert!(PROXY_HEADER_BYTES_MAX <= LEFTOVER_BYTES_MAX / 2);

impl ShardDriver {
    pub(crate) fn read_proxied_head(
        &mut self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        bytes: &mut [u8],
    ) -> usize {
        let header = match parse_proxy_header(bytes) {
            Ok(Some(header)) => header,
            Ok(None) => {
                self.wait_for_head(io, id);
                return 0;
            }
            Err(error) => {
                tracing::debug!(%error, proxy = ?io.remote(id), "a proxy's connection was closed: invalid PROXY \
                     protocol header");
                self.cut_unannounced(io, id);
                return bytes.len();
            }
        };
        // Counted now and not with the request, which may take long to arrive, unless another proxy is to name the
        // client.
        let client = header.client.filter(|client| !self.shared.proxies.trusts(client.ip()));
        let is_counted = io.peer(id).is_some_and(|peer| peer.address.is_some());
        if let Some(client) = client
            && !is_counted
            && let Err(rejection) = self.count(io, id, client)
        {
            self.refuse(io, id, &rejection);
            return bytes.len();
        }
        self.read_head(io, id, bytes, Some(header))
    }

    /// Counts a connection for its client's address.
    pub(crate) fn count(
        &self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        client: SocketAddr,
    ) -> Result<(), Rejection> {
        let Some(peer) = io.peer(id) else { return Ok(()) };
        peer.address = Some(self.shared.admission.enter(client).map_err(Rejection::excess)?);
        Ok(())
    }

    /// Cuts a connection that did not begin with the required header. It may speak any protocol, so nothing is sent.
    pub(crate) fn cut_unannounced(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        if self.begin_ending(io, id, CloseReason::Handshake) {
            self.metrics().reject(PROXY_PROTOCOL);
            io.close(id);
        }
    }

    /// Starts the time limit for the rest of the head.
    pub(crate) fn wait_for_head(&mut self, io: &mut ShardIo<'_>, id: ConnectionId) {
        let Some(peer) = io.peer(id) else { return };
        let phase = match peer.phase {
            Phase::ProxySilent => Phase::ProxyHead,
            Phase::Silent => Phase::Head,
            Phase::ProxyHead | Phase::Head | Phase::Channels | Phase::Echo | Phase::Ending => return,
        };
        peer.phase = phase;
        self.heads.push_back((io.now(), id));
    }
}
