//! How connections are opened, topics joined and requests made.

use std::time::Duration;

use crate::draw::Distribution;
use crate::scenario::template::Template;

/// How a WebSocket is opened.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Request target; the target's base path goes before it. With Phoenix, `vsn` is appended to the query if it is
    /// not there.
    pub path: Template,
    /// What is spoken on it.
    pub dialect: Dialect,
    /// The room that the user is in as long as it is connected, on servers whose URL names it. Not with Phoenix, where
    /// the topics are the rooms.
    pub room: Option<Template>,
    /// With `room`: whether the user gets its own messages back.
    pub echo: bool,
    /// `Sec-WebSocket-Protocol`, in order of preference.
    pub subprotocols: Vec<String>,
    /// `Origin`, if any.
    pub origin: Option<Template>,
    /// Further header lines.
    pub headers: Vec<(String, Template)>,
    /// Whether permessage-deflate is offered.
    pub deflate: bool,
    /// For the TCP connection, and the TLS handshake where there is one.
    pub connect_timeout: Duration,
    /// From there to the end of the 101 response's head.
    pub handshake_timeout: Duration,
    /// The pause before a user whose connection failed goes on from here again, at another target; `None` ends its
    /// session instead.
    pub reconnect: Option<Distribution>,
}

/// What is spoken on a WebSocket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dialect {
    /// Plain messages.
    Raw,
    /// Phoenix Channels.
    Phoenix {
        /// Serializer.
        version: proto::phoenix::Version,
        /// Between heartbeats; `None` sends none. A heartbeat without a reply before the next one is due ends the
        /// connection, as in Phoenix's own client.
        heartbeat: Option<Duration>,
    },
}

/// A Phoenix join.
#[derive(Clone, Debug)]
pub struct Join {
    /// Topic; it is the room of the messages that follow on it.
    pub topic: Template,
    /// JSON.
    pub payload: Template,
    /// For the reply; afterwards the join counts as timed out.
    pub timeout: Duration,
    /// Whether the user gets its own messages on this topic back, as a broadcast does and `broadcast_from` does not.
    pub echo: bool,
    /// Keeps a list of who is present (`presence_state`, `presence_diff`), whose size is reported.
    pub presence: bool,
    /// Whether the topic is recoverable, as `docs/protocol.md` has it: the user stays a member while it has no connection,
    /// and asks for what it missed when it joins again.
    pub recover: bool,
}

/// An HTTP/1.1 request.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// `GET` and the like.
    pub method: String,
    /// A path at the user's target, or an absolute URL of one of the targets.
    pub url: Template,
    /// Header lines besides `Host`, `Content-Length` and `User-Agent`.
    pub headers: Vec<(String, Template)>,
    /// Body.
    pub body: Option<Template>,
    /// From the request's begin until a new connection for it is established; at most `timeout`.
    pub connect_timeout: Duration,
    /// From the request's begin to the response's last byte.
    pub timeout: Duration,
    /// Statuses that count as success; empty is 200 to 399.
    pub expect: Vec<u16>,
    /// Whether the connection is kept for the next request.
    pub keep_alive: bool,
}
