//! The address of a room.

use std::fmt;

use axum::http::Uri;

const PHOENIX_PATH_END: &str = "/websocket";
const PHOENIX_DEFAULT_TOPIC: &str = "rooms:lobby";

/// A server, a path on it, and the protocol spoken there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    pub(super) secure: bool,
    /// Host name or address; without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
    /// Value of the `Host` header.
    pub(super) authority: String,
    /// Path and query of the request.
    pub(super) target: String,
    /// The Phoenix topic, if the server speaks Phoenix.
    pub(super) topic: Option<String>,
    /// The room's name for display.
    pub(super) room: String,
}

/// Why a URL does not identify a room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadAddress {
    url: String,
    problem: &'static str,
}

impl BadAddress {
    pub(super) fn new(url: &str, problem: &'static str) -> Self {
        Self { url: url.to_owned(), problem }
    }
}

impl Address {
    pub(super) fn parse(url: &str, topic: Option<&str>) -> Result<Self, BadAddress> {
        let bad = |problem| BadAddress::new(url, problem);
        let uri: Uri = url.parse().map_err(|_| bad("it is not a URL"))?;
        let secure = match uri.scheme_str() {
            Some("ws") => false,
            Some("wss") => true,
            Some(_) | None => return Err(bad("it does not begin with ws:// or wss://")),
        };
        let authority = uri.authority().ok_or_else(|| bad("the host is missing"))?;
        if authority.as_str().contains('@') {
            return Err(bad("user names in URLs are not supported"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let has_port = authority.as_str().len() > authority.host().len();
        let port = match (authority.port_u16(), secure) {
            (None, _) if has_port => return Err(bad("the port is invalid")),
            (Some(port), _) => port,
            (None, false) => 80,
            (None, true) => 443,
        };
        let path = uri.path();
        let is_phoenix = topic.is_some() || path.ends_with(PHOENIX_PATH_END);
        let topic = is_phoenix.then(|| topic.unwrap_or(PHOENIX_DEFAULT_TOPIC).to_owned());
        let mut target = uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
        let has_version =
            uri.query().is_some_and(|query| query.split('&').any(|pair| pair.starts_with("vsn=")));
        if is_phoenix && !has_version {
            target += if uri.query().is_some() { "&vsn=2.0.0" } else { "?vsn=2.0.0" };
        }
        if is_phoenix && has_version && !target.contains("vsn=2.") {
            return Err(bad("only version 2.0.0 of Phoenix's serializer is supported (vsn=2.0.0)"));
        }
        let room = topic.clone().unwrap_or_else(|| path.trim_start_matches('/').to_owned());
        let authority = authority.as_str().to_owned();
        Ok(Self { secure, host, port, authority, target, topic, room })
    }
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid URL {:?}: {}; use ws://HOST:PORT/ROOM, a Phoenix socket such as \
             ws://127.0.0.1:4000/socket/websocket, or the page of a stored room such as \
             http://127.0.0.1:4000/c/default/r/lobby",
            self.url, self.problem
        )
    }
}

impl std::error::Error for BadAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_room_or_a_phoenix_socket() {
        let table = [
            ("ws://h:8080/red", None, "h", 8080, "/red", None, "red"),
            ("ws://h", None, "h", 80, "/", None, ""),
            ("wss://h/a/b?x=1", None, "h", 443, "/a/b?x=1", None, "a/b"),
            (
                "ws://[::1]:4000/socket/websocket",
                None,
                "::1",
                4000,
                "/socket/websocket?vsn=2.0.0",
                Some("rooms:lobby"),
                "rooms:lobby",
            ),
            (
                "ws://h:1/socket/websocket?token=a",
                Some("rooms:7"),
                "h",
                1,
                "/socket/websocket?token=a&vsn=2.0.0",
                Some("rooms:7"),
                "rooms:7",
            ),
            ("ws://h:1/live?vsn=2.0.0", Some("a"), "h", 1, "/live?vsn=2.0.0", Some("a"), "a"),
        ];
        for (url, topic, host, port, target, phoenix, room) in table {
            let address = Address::parse(url, topic).expect(url);
            assert_eq!(
                (address.host.as_str(), address.port, address.target.as_str()),
                (host, port, target),
                "{url}"
            );
            assert_eq!((address.topic.as_deref(), address.room.as_str()), (phoenix, room), "{url}");
            assert_eq!(address.secure, url.starts_with("wss"));
        }
    }

    #[test]
    fn what_names_no_room_is_refused_with_the_way_to_write_it() {
        for url in [
            "",
            "h:80/red",
            "http://h/red",
            "ws://",
            "ws:///red",
            "ws://u:p@h/red",
            "ws://h:99999/",
            "ws://h/websocket?vsn=1.0.0",
        ] {
            let error = Address::parse(url, None).expect_err(url).to_string();
            assert!(error.contains("ws://HOST:PORT/ROOM"), "{error}");
        }
    }
}
