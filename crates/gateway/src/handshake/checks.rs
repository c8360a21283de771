//! The checks of one handshake, in the order of reference section 1.2: method, origin, token and subprotocol, version,
//! the connect callback, and only then whether it is an upgrade at all.

use super::head::Head;
use crate::admission::Excess;
use crate::connect::{ConnectRequest, Refusal, Socket};
use crate::metrics::{CAPACITY, CONNECTION_RATE, MEMORY_BUDGET};
use crate::mount::{Mount, MountKind, Transport};
use hub::MountIndex;
use proto::handshake::{
    BadQuery, auth_token_and_protocols, choose_protocol, decode_path_segment, is_websocket_key, parse_query,
};
use proto::phoenix::Version;
use proto::ws::deflate::{Agreed, DeflateConfig, negotiate};
use serde_json::{Map, Value};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The mounts of a gateway.
pub(crate) struct Handshakes {
    pub(crate) mounts: Vec<Mount>,
}

/// The outcome of the checks.
pub(crate) enum Decision {
    /// The request is not for a mount's WebSocket.
    NotAWebSocket,
    Accept(Accepted),
    Reject(Rejection),
}

/// A socket to be opened.
pub(crate) struct Accepted {
    pub(crate) mount: MountIndex,
    pub(crate) protocol: Protocol,
    /// The subprotocol to echo.
    pub(crate) subprotocol: Option<String>,
    pub(crate) deflate: Option<Agreed>,
    pub(crate) key: String,
}

pub(crate) enum Protocol {
    Channels { version: Version, socket: Socket },
    Echo,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: u16,
    /// Text, never JSON: the refused client may be polling, and phoenix.js takes any JSON as the answer to its poll,
    /// and stops polling if it does not know the `status` in it. After a text it retries.
    pub(crate) body: String,
    /// The name of the reason in the counter of refused connections.
    pub(crate) reason: &'static str,
}

impl Rejection {
    /// The gateway is draining.
    pub(crate) fn draining() -> Rejection {
        Rejection::overload(503, "the server is shutting down", "draining")
    }

    /// The connection limit is reached, or descriptors have run out.
    pub(crate) fn full() -> Rejection {
        Rejection::overload(503, "the server has reached its maximum number of connections", CAPACITY)
    }

    /// The memory budget has no room.
    pub(crate) fn memory() -> Rejection {
        Rejection::overload(503, "the server has reached its memory budget", MEMORY_BUDGET)
    }

    /// New connections exceed the rate limit.
    pub(crate) fn too_fast() -> Rejection {
        Rejection::overload(
            503,
            "the server has reached its limit of new connections per second",
            CONNECTION_RATE,
        )
    }

    pub(crate) fn head_too_large() -> Rejection {
        Rejection {
            status: 431,
            body: "the request headers are too large".to_owned(),
            reason: "header_bytes",
        }
    }

    /// The request head did not arrive in time.
    pub(crate) fn late() -> Rejection {
        let body = "the request headers did not arrive in time".to_owned();
        Rejection { status: 408, body, reason: "timeout" }
    }

    /// One address has, or makes, too many connections.
    pub(crate) fn excess(excess: Excess) -> Rejection {
        let body = match excess {
            Excess::Connections => "too many connections from this address",
            Excess::Rate => "too many new connections from this address per second",
        };
        Rejection::overload(429, body, excess.reason())
    }

    /// Refuses a client that may come back later.
    fn overload(status: u16, body: &str, reason: &'static str) -> Rejection {
        Rejection { status, body: body.to_owned(), reason }
    }

    /// Returns whether a later attempt may succeed; the answer then contains `Retry-After`.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self.status, 429 | 503)
    }

    pub(crate) fn bad(body: &str) -> Rejection {
        Rejection { status: 400, body: body.to_owned(), reason: "bad_request" }
    }

    fn forbidden(reason: &'static str) -> Rejection {
        Rejection { status: 403, body: String::new(), reason }
    }
}

/// The result of the checks that precede the upgrade.
struct Admitted {
    protocol: Protocol,
    subprotocol: Option<String>,
}

impl Handshakes {
    pub(crate) fn mount(&self, mount: MountIndex) -> &Mount {
        &self.mounts[usize::from(mount.0)]
    }

    /// Returns whether any mount has a connect callback, which needs to know who connects.
    pub(crate) fn ask_who_connects(&self) -> bool {
        self.mounts.iter().any(|mount| mount.connect.is_some())
    }

    /// Returns the mount that a path belongs to.
    pub(crate) fn find<'p>(&'p self, path: &'p str) -> Option<Found<'p>> {
        let found = self.mounts.iter().enumerate();
        let mut found = found.filter_map(|(at, mount)| Some((at, mount.matches(path)?)));
        let (at, (transport, variables)) = found.next()?;
        Some((MountIndex(at as u16), transport, variables))
    }

    pub(crate) fn websocket(&self, head: &Head<'_>) -> Decision {
        let Some((mount, Transport::WebSocket, variables)) = self.find(head.path()) else {
            return Decision::NotAWebSocket;
        };
        match self.check(mount, &variables, head) {
            Ok(accepted) => Decision::Accept(accepted),
            Err(rejection) => Decision::Reject(rejection),
        }
    }

    fn check(
        &self,
        at: MountIndex,
        variables: &[(&str, &str)],
        head: &Head<'_>,
    ) -> Result<Accepted, Rejection> {
        let mount = self.mount(at);
        if head.method != "GET" {
            return Err(Rejection::bad(""));
        }
        let Admitted { protocol, subprotocol } = admit(mount, variables, head)?;
        let key = upgrade_key(head)?;
        let deflate = mount.compression.and_then(|config| agree(&config, mount.kind, head));
        Ok(Accepted { mount: at, protocol, subprotocol, deflate, key })
    }

    /// Checks the request that begins a long-poll session.
    pub(crate) fn longpoll(
        &self,
        mount: MountIndex,
        variables: &[(&str, &str)],
        head: &Head<'_>,
    ) -> Result<(Version, Socket), Rejection> {
        let mount = self.mount(mount);
        let params = params(head, variables)?;
        let token = if mount.auth_token { head.first("x-phoenix-authtoken") } else { None };
        let version = version(&params)?;
        Ok((version, connect(mount, head, &params, token)?))
    }

    pub(crate) fn origin_allowed(&self, mount: MountIndex, head: &Head<'_>) -> bool {
        origin_allowed(self.mount(mount), head)
    }
}

type Found<'p> = (MountIndex, Transport, Vec<(&'p str, &'p str)>);

fn origin_allowed(mount: &Mount, head: &Head<'_>) -> bool {
    // A header that is not text is not an origin that a rule could allow.
    let origin = head.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("origin"));
    let origin = origin.map(|(_, value)| std::str::from_utf8(value).unwrap_or(""));
    mount.origins.allows(origin, &head.address(), mount.lenient_origins)
}

fn admit(mount: &Mount, variables: &[(&str, &str)], head: &Head<'_>) -> Result<Admitted, Rejection> {
    if !origin_allowed(mount, head) {
        return Err(Rejection::forbidden("origin"));
    }
    if mount.kind == MountKind::Echo {
        return Ok(Admitted { protocol: Protocol::Echo, subprotocol: None });
    }
    let (token, subprotocol) = subprotocol(mount, head)?;
    let params = params(head, variables)?;
    let version = version(&params)?;
    let socket = connect(mount, head, &params, token.as_deref())?;
    Ok(Admitted { protocol: Protocol::Channels { version, socket }, subprotocol })
}

/// Negotiates the subprotocol: reference section 1.4.
fn subprotocol(mount: &Mount, head: &Head<'_>) -> Result<(Option<String>, Option<String>), Rejection> {
    let Some(header) = head.first("sec-websocket-protocol") else { return Ok((None, None)) };
    let mut supported = vec!["phoenix"];
    supported.extend(mount.protocols.iter().map(String::as_str));
    if !mount.auth_token {
        let offered: Vec<&str> = header.split(',').map(str::trim).collect();
        return match choose_protocol(&offered, &supported) {
            Ok(chosen) => Ok((None, chosen.map(str::to_owned))),
            // Without configured subprotocols, the header is ignored.
            Err(_) if mount.protocols.is_empty() => Ok((None, None)),
            Err(_) => Err(Rejection::forbidden("subprotocol")),
        };
    }
    let offered = auth_token_and_protocols(Some(header)).map_err(|_| Rejection {
        status: 400,
        body: "the auth token in `sec-websocket-protocol` is not base64".to_owned(),
        reason: "auth_token",
    })?;
    let chosen =
        choose_protocol(&offered.protocols, &supported).map_err(|_| Rejection::forbidden("subprotocol"))?;
    Ok((offered.auth_token, chosen.map(str::to_owned)))
}

fn params(head: &Head<'_>, variables: &[(&str, &str)]) -> Result<Map<String, Value>, Rejection> {
    let bad = |error: BadQuery| Rejection::bad(&error.to_string());
    let mut params = parse_query(head.query()).map_err(bad)?;
    for &(name, value) in variables {
        params.insert(name.to_owned(), Value::String(decode_path_segment(value).map_err(bad)?));
    }
    Ok(params)
}

fn version(params: &Map<String, Value>) -> Result<Version, Rejection> {
    let vsn = match params.get("vsn") {
        None => None,
        Some(Value::String(vsn)) => Some(vsn.as_str()),
        Some(_) => return Err(Rejection::forbidden("version")),
    };
    Version::negotiate(vsn).map_err(|_| Rejection::forbidden("version"))
}

fn connect(
    mount: &Mount,
    head: &Head<'_>,
    params: &Map<String, Value>,
    auth_token: Option<&str>,
) -> Result<Socket, Rejection> {
    let Some(connect) = &mount.connect else { return Ok(Socket::new()) };
    let (remote, uri, headers) = (head.remote, head.target, head.headers);
    let request = ConnectRequest { remote, uri, params, auth_token, headers };
    // The application's code runs on a shard: its panic must not end the shard.
    let decision = catch_unwind(AssertUnwindSafe(|| connect(&request))).unwrap_or_else(|_| {
        tracing::error!(mount = mount.path, "a connect callback panicked; the client gets status 500");
        Err(Refusal::with(500, ""))
    });
    decision.map_err(|Refusal { status, body }| Rejection { status, body, reason: "connect" })
}

/// Checks the upgrade headers and returns the key: RFC 6455 section 4.2.1.
fn upgrade_key(head: &Head<'_>) -> Result<String, Rejection> {
    if !head.is_http11 {
        return Err(Rejection::bad("a WebSocket upgrade requires HTTP/1.1"));
    }
    if head.first("host").is_none_or(str::is_empty) {
        return Err(Rejection::bad("the `host` header is missing"));
    }
    if !head.lists("connection", "upgrade") {
        return Err(Rejection::bad("the `connection` header must contain `upgrade`"));
    }
    if !head.lists("upgrade", "websocket") {
        return Err(Rejection::bad("the `upgrade` header must contain `websocket`"));
    }
    if head.first("sec-websocket-version").map(str::trim) != Some("13") {
        return Err(Rejection::bad("the `sec-websocket-version` header must be `13`"));
    }
    match head.first("sec-websocket-key").map(str::trim) {
        Some(key) if is_websocket_key(key) => Ok(key.to_owned()),
        Some(_) => Err(Rejection::bad("the `sec-websocket-key` header must be 16 bytes in base64")),
        None => Err(Rejection::bad("the `sec-websocket-key` header is missing")),
    }
}

/// A broadcast is compressed once for all members, with the full window; a channels client that wants a smaller window
/// gets no compression.
fn agree(config: &DeflateConfig, kind: MountKind, head: &Head<'_>) -> Option<Agreed> {
    let agreed = negotiate(config, head.all("sec-websocket-extensions"))?;
    let shared = agreed.server_window_bits == config.server_window_bits_max;
    (kind == MountKind::Echo || shared).then_some(agreed)
}
