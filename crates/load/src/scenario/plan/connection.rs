//! Opening connections, joining topics and making HTTP requests.

use std::time::Duration;

use crate::draw::Distribution;
use crate::scenario::template::Template;

/// Opens a WebSocket.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Request target, prefixed with the target's base path. With Phoenix, `vsn` is appended to the query if it is
    /// missing.
    pub path: Template,
    /// The protocol spoken on it.
    pub dialect: Dialect,
    /// The room that the user is in while it is connected, for servers that name it in the URL. Not used with Phoenix,
    /// where topics are the rooms.
    pub room: Option<Template>,
    /// With `room`: whether the server sends the user's own messages back to it.
    pub echo: bool,
    /// Values of `Sec-WebSocket-Protocol`, in order of preference.
    pub subprotocols: Vec<String>,
    /// Value of `Origin`, if any.
    pub origin: Option<Template>,
    /// Additional header fields.
    pub headers: Vec<(String, Template)>,
    /// Whether permessage-deflate is offered.
    pub deflate: bool,
    /// Limit for the TCP connection and, if there is one, the TLS handshake.
    pub connect_timeout: Duration,
    /// Limit from there to the end of the 101 response's head.
    pub handshake_timeout: Duration,
    /// The pause before a user whose connection failed continues from this step, with another target; `None` ends its
    /// session instead.
    pub reconnect: Option<Distribution>,
}

/// The protocol spoken on a WebSocket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Dialect {
    /// Plain messages.
    Raw,
    /// Phoenix Channels.
    Phoenix {
        /// Serializer version.
        version: proto::phoenix::Version,
        /// Heartbeat interval; `None` sends none. A heartbeat that is not answered before the next one is due ends the
        /// connection, as in Phoenix's own client.
        heartbeat: Option<Duration>,
    },
}

/// A Phoenix join.
#[derive(Clone, Debug)]
pub struct Join {
    /// Topic; also the room of the messages that the user sends to it.
    pub topic: Template,
    /// JSON payload.
    pub payload: Template,
    /// Limit for the reply; after that, the join counts as timed out.
    pub timeout: Duration,
    /// Whether the user receives its own messages on this topic, as with `broadcast` but not with `broadcast_from`.
    pub echo: bool,
    /// Tracks who is present (`presence_state`, `presence_diff`) and reports their number.
    pub presence: bool,
    /// Whether the topic is recoverable (see `docs/protocol.md`): the user stays a member while it is disconnected, and
    /// requests what it missed when it rejoins.
    pub recover: bool,
}

/// An HTTP/1.1 request.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// Method, such as `GET`.
    pub method: String,
    /// A path on the user's target, or an absolute URL on one of the targets.
    pub url: Template,
    /// Header fields besides `Host`, `Content-Length` and `User-Agent`.
    pub headers: Vec<(String, Template)>,
    /// Body.
    pub body: Option<Template>,
    /// Limit from the start of the request until a new connection for it is established; at most `timeout`.
    pub connect_timeout: Duration,
    /// Limit from the start of the request to the last byte of the response.
    pub timeout: Duration,
    /// Status codes that count as success; empty means 200 to 399.
    pub expect: Vec<u16>,
    /// Whether the connection is reused for the next request.
    pub keep_alive: bool,
}
