//! A request head that outlives the buffer it was read into.

use super::RemotePeer;
use crate::handshake::Head;
use crate::proxies::Proxies;
use hyper::{Request, Version};

/// A header's name and value.
type Field = (Box<str>, Box<[u8]>);

/// An owned request head, which can be lent out as a [`Head`].
pub(crate) struct OwnedHead {
    method: Box<str>,
    target: Box<str>,
    is_http11: bool,
    headers: Box<[Field]>,
    peer: RemotePeer,
}

impl OwnedHead {
    /// Creates the head of a request that came on `connection`.
    pub(crate) fn of<B>(request: &Request<B>, connection: RemotePeer, proxies: &Proxies) -> OwnedHead {
        let headers = request.headers().iter();
        let head = OwnedHead {
            method: request.method().as_str().into(),
            target: request.uri().path_and_query().map_or("/", |target| target.as_str()).into(),
            is_http11: request.version() == Version::HTTP_11,
            headers: headers.map(|(name, value)| (name.as_str().into(), value.as_bytes().into())).collect(),
            peer: connection,
        };
        head.of_origin(proxies)
    }

    /// Creates the head of a request that was parsed without the HTTP library.
    pub(crate) fn parsed(
        request: &httparse::Request<'_, '_>,
        connection: RemotePeer,
        proxies: &Proxies,
    ) -> OwnedHead {
        let headers = request.headers.iter();
        let head = OwnedHead {
            method: request.method.unwrap_or_default().into(),
            target: request.path.unwrap_or("/").into(),
            is_http11: request.version == Some(1),
            headers: headers.map(|header| (header.name.into(), header.value.into())).collect(),
            peer: connection,
        };
        head.of_origin(proxies)
    }

    /// Determines the client: a proxy's connection carries the requests of many.
    fn of_origin(mut self, proxies: &Proxies) -> OwnedHead {
        let RemotePeer { address, secure } = self.peer;
        if proxies.trusts(address.ip()) {
            let origin = self.lend(|head| proxies.origin(address, secure, head));
            self.peer = RemotePeer { address: origin.address, secure: origin.secure };
        }
        self
    }

    /// Returns the client.
    pub(crate) fn peer(&self) -> RemotePeer {
        self.peer
    }

    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    pub(crate) fn lend<T>(&self, look: impl FnOnce(&Head<'_>) -> T) -> T {
        let headers: Vec<(&str, &[u8])> =
            self.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        look(&Head {
            method: &self.method,
            target: &self.target,
            is_http11: self.is_http11,
            headers: &headers,
            secure: self.peer.secure,
            remote: Some(self.peer.address),
        })
    }
}
