//! From the first bytes of a connection to a WebSocket, a refusal, or a hand-off to the control plane.

use super::driver::{ShardDriver, ShardIo, key};
use super::mail::new_connection;
use super::peer::Phase;
use crate::handshake::{Accepted, Decision, Head, Protocol, ProxyHeader, Rejection, switching_protocols};
use engine::{ConnectionId, LEFTOVER_BYTES_MAX};
use hub::{Dialect, Event, Transport};
use proto::phoenix::Version;

/// Requests with more headers are refused with 431.
const HEADERS_MAX: usize = 96;

pub(crate) fn dialect(version: Version, deflate: bool) -> Dialect {
    let transport = if deflate { Transport::WebSocketDeflate } else { Transport::WebSocket };
    Dialect { version, transport }
}

/// The result of parsing the first bytes.
enum Opening {
    /// More bytes are needed.
    Incomplete,
    /// A request for a mount, with the size of its head including what precedes it.
    Accept(usize, Accepted),
    Reject(Rejection),
    /// A request for the control plane.
    HandOff,
}

impl ShardDriver {
    /// Reads a request head, after the PROXY protocol header if there is one.
    pub(crate) fn read_head(
        &mut self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        bytes: &mut [u8],
        announced: Option<ProxyHeader>,
    ) -> usize {
        match self.judge(io, id, bytes, announced) {
            Opening::Incomplete => {
                self.wait_for_head(io, id);
                0
            }
            Opening::Reject(rejection) => {
                self.refuse(io, id, &rejection);
                bytes.len()
            }
            Opening::HandOff => {
                if let Some(peer) = io.peer(id) {
                    peer.phase = Phase::Ending;
                }
                io.hand_off(id, bytes.to_vec());
                bytes.len()
            }
            Opening::Accept(head_bytes, accepted) => {
                self.open_socket(io, id, accepted);
                head_bytes + self.read_frames(io, id, &mut bytes[head_bytes..])
            }
        }
    }

    fn judge(
        &self,
        io: &mut ShardIo<'_>,
        id: ConnectionId,
        bytes: &[u8],
        announced: Option<ProxyHeader>,
    ) -> Opening {
        let before = announced.map_or(0, |header| header.bytes);
        let bytes = &bytes[before..];
        let head_bytes_max = self.shared.limits.header_bytes_max.min(LEFTOVER_BYTES_MAX - before);
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut request = httparse::Request::new(&mut headers);
        let head_bytes = match request.parse(bytes) {
            Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
            Ok(httparse::Status::Partial) if bytes.len() < head_bytes_max => {
                return Opening::Incomplete;
            }
            Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
                return Opening::Reject(Rejection::head_too_large());
            }
            Err(_) => return Opening::Reject(Rejection::bad("this is not an HTTP/1.1 request")),
        };
        if head_bytes > head_bytes_max {
            return Opening::Reject(Rejection::head_too_large());
        }
        let headers = request.headers.iter().map(|header| (header.name, header.value));
        let mut fields = [("", &b""[..]); HEADERS_MAX];
        let mut count = 0;
        for (field, header) in fields.iter_mut().zip(headers) {
            *field = header;
            count += 1;
        }
        let mut head = Head {
            method: request.method.unwrap_or(""),
            target: request.path.unwrap_or(""),
            is_http11: request.version == Some(1),
            headers: &fields[..count],
            secure: false,
            remote: None,
        };
        let is_counted = io.peer(id).is_some_and(|peer| peer.address.is_some());
        if !is_counted || self.shared.handshakes.ask_who_connects() {
            let remote = announced.and_then(|header| header.client).or_else(|| io.remote(id));
            if let Some(origin) = remote.map(|remote| self.shared.proxies.origin(remote, false, &head)) {
                if !is_counted && let Err(rejection) = self.count(io, id, origin.address) {
                    return Opening::Reject(rejection);
                }
                (head.remote, head.secure) = (Some(origin.address), origin.secure);
            }
        }
        match self.shared.handshakes.websocket(&head) {
            Decision::NotAWebSocket => Opening::HandOff,
            Decision::Accept(_) | Decision::Reject(_) if self.drain.is_some() => {
                Opening::Reject(Rejection::draining())
            }
            Decision::Accept(accepted) => Opening::Accept(before + head_bytes, accepted),
            Decision::Reject(rejection) => Opening::Reject(rejection),
        }
    }

    fn open_socket(&mut self, io: &mut ShardIo<'_>, id: ConnectionId, accepted: Accepted) {
        io.send(id, &switching_protocols(&accepted));
        let Some(peer) = io.peer(id) else { return };
        peer.mount = accepted.mount;
        peer.window_bits = accepted.deflate.map_or(0, |agreed| agreed.server_window_bits);
        match accepted.protocol {
            Protocol::Echo => peer.phase = Phase::Echo,
            Protocol::Channels { version, socket } => {
                peer.phase = Phase::Channels;
                let dialect = dialect(version, accepted.deflate.is_some());
                self.handle(
                    io,
                    Event::Opened(new_connection(key(id), accepted.mount, dialect, socket.into())),
                );
            }
        }
    }
}
