//! What a connect callback sees and decides.

use serde_json::{Map, Value};
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;

/// A client that wants a socket, after its origin, protocols and version were found good.
#[derive(Debug)]
pub struct ConnectRequest<'a> {
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) uri: &'a str,
    pub(crate) params: &'a Map<String, Value>,
    pub(crate) auth_token: Option<&'a str>,
    pub(crate) headers: &'a [(&'a str, &'a [u8])],
}

impl ConnectRequest<'_> {
    /// The client's address, behind a trusted proxy that of the proxy's client, whose port may be 0; absent if the client is gone already.
    pub fn remote(&self) -> Option<SocketAddr> {
        self.remote
    }

    /// The request's target: path and query.
    pub fn uri(&self) -> &str {
        self.uri
    }

    /// The decoded query string with the path's variables, which win. Brackets make objects and lists; leaves are strings.
    pub fn params(&self) -> &Map<String, Value> {
        self.params
    }

    /// One parameter, if it is a string.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }

    /// The token that the client gave outside the URL, where the mount has auth tokens enabled.
    pub fn auth_token(&self) -> Option<&str> {
        self.auth_token
    }

    /// A request header, by its name in any case, if it is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }
}

/// An accepted socket: what `disconnect` knows it by, and what its channels may read.
#[derive(Default)]
pub struct Socket {
    pub(crate) id: Option<Box<str>>,
    pub(crate) assigns: Option<Arc<dyn Any + Send + Sync>>,
}

impl Socket {
    /// A socket without an id.
    pub fn new() -> Socket {
        Socket::default()
    }

    /// Names the socket; several sockets may have one id.
    pub fn id(mut self, id: &str) -> Socket {
        self.id = Some(id.into());
        self
    }

    /// Leaves a value for the channels of this socket; see [`Context::assigns`](crate::Context::assigns).
    pub fn assign<T: Send + Sync + 'static>(mut self, value: T) -> Socket {
        self.assigns = Some(Arc::new(value));
        self
    }
}

/// A refused socket. Long-poll clients get only the status, in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Refusal {
    /// 403 with an empty body.
    pub fn forbidden() -> Refusal {
        Refusal { status: 403, body: String::new() }
    }

    /// A status from 400 to 599 with a text for the body, such as 429 `slow down`.
    pub fn with(status: u16, body: &str) -> Refusal {
        Refusal { status: status.clamp(400, 599), body: body.to_owned() }
    }
}
