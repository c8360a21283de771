//! The input and the result of a connect callback.

use serde_json::{Map, Value};
use std::any::Any;
use std::net::SocketAddr;
use std::sync::Arc;

/// A client that requests a socket, after the checks of its origin, protocols and version.
#[derive(Debug)]
pub struct ConnectRequest<'a> {
    pub(crate) remote: Option<SocketAddr>,
    pub(crate) uri: &'a str,
    pub(crate) params: &'a Map<String, Value>,
    pub(crate) auth_token: Option<&'a str>,
    pub(crate) headers: &'a [(&'a str, &'a [u8])],
}

impl ConnectRequest<'_> {
    /// Returns the client's address. Behind a trusted proxy it is that of the proxy's client, whose port may be 0;
    /// `None` if the client has disconnected already.
    pub fn remote(&self) -> Option<SocketAddr> {
        self.remote
    }

    /// Returns the request target: path and query.
    pub fn uri(&self) -> &str {
        self.uri
    }

    /// Returns the decoded query string and the path's variables, which take precedence. Brackets make objects and
    /// lists; leaves are strings.
    pub fn params(&self) -> &Map<String, Value> {
        self.params
    }

    /// Returns one parameter, if it is a string.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }

    /// Returns the token that the client sent outside the URL, if the mount has auth tokens enabled.
    pub fn auth_token(&self) -> Option<&str> {
        self.auth_token
    }

    /// Returns a request header by its case-insensitive name, if its value is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(header, _)| header.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()
    }
}

/// An accepted socket: the id by which `disconnect` finds it, and a value for its channels.
#[derive(Default)]
pub struct Socket {
    pub(crate) id: Option<Box<str>>,
    pub(crate) assigns: Option<Arc<dyn Any + Send + Sync>>,
}

impl Socket {
    /// Creates a socket without an id.
    pub fn new() -> Socket {
        Socket::default()
    }

    /// Sets the socket's id; several sockets may have the same one.
    pub fn id(mut self, id: &str) -> Socket {
        self.id = Some(id.into());
        self
    }

    /// Assigns a value for the channels of this socket; see [`Context::assigns`](crate::Context::assigns).
    pub fn assign<T: Send + Sync + 'static>(mut self, value: T) -> Socket {
        self.assigns = Some(Arc::new(value));
        self
    }
}

/// A refusal. Long-poll clients get only the status, in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Refusal {
    /// Refuses with 403 and an empty body.
    pub fn forbidden() -> Refusal {
        Refusal { status: 403, body: String::new() }
    }

    /// Refuses with a status from 400 to 599 and a text for the body, such as 429 `slow down`.
    pub fn with(status: u16, body: &str) -> Refusal {
        Refusal { status: status.clamp(400, 599), body: body.to_owned() }
    }
}
