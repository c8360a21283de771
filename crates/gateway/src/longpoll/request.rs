//! Parses a request head, if it is one of long-polling that does not need the HTTP library.

use super::Place;
use crate::control::{Control, OwnedHead, RemotePeer};
use crate::handshake::Head;
use crate::mount::Transport;

const HEADERS_MAX: usize = 96;

/// A request whose head has arrived.
pub(super) struct Polling {
    pub(super) head: OwnedHead,
    pub(super) place: Place,
    pub(super) head_bytes: usize,
    pub(super) body_bytes: usize,
    /// Whether the client wants the connection closed after the answer.
    pub(super) is_last: bool,
}

/// The result of parsing what has arrived.
pub(super) enum Read {
    /// An incomplete head.
    Incomplete,
    Polling(Box<Polling>),
    /// A request that the HTTP library has to answer, possibly with an error.
    Other,
}

/// Parses what has arrived without consuming it.
pub(super) fn read(control: &Control, bytes: &[u8], connection: RemotePeer) -> Read {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let head_bytes = match request.parse(bytes) {
        Ok(httparse::Status::Complete(head_bytes)) => head_bytes,
        Ok(httparse::Status::Partial) if bytes.len() < control.shared.limits.header_bytes_max => {
            return Read::Incomplete;
        }
        Ok(httparse::Status::Partial) | Err(_) => return Read::Other,
    };
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let Some((mount, Transport::LongPoll { window }, _)) = control.shared.handshakes.find(path) else {
        return Read::Other;
    };
    let head = OwnedHead::parsed(&request, connection, &control.shared.proxies);
    let Some((body_bytes, is_last)) =
        head.lend(|head| Some((body_bytes(head)?, head.lists("connection", "close"))))
    else {
        return Read::Other;
    };
    let place = Place { mount, window };
    Read::Polling(Box::new(Polling { head, place, head_bytes, body_bytes, is_last }))
}

/// Returns the size of the body, if the request is simple enough.
fn body_bytes(head: &Head<'_>) -> Option<usize> {
    let is_simple = head.is_http11
        && matches!(head.method, "GET" | "POST")
        && head.values("host").count() == 1
        && ["transfer-encoding", "expect", "upgrade"].iter().all(|name| head.values(name).next().is_none());
    let mut lengths = head.values("content-length");
    let bytes = match (lengths.next(), lengths.next()) {
        (None, _) => Some(0),
        (Some(length), None) => std::str::from_utf8(length).ok().and_then(decimal),
        (Some(_), Some(_)) => None,
    };
    bytes.filter(|&bytes| is_simple && (head.method == "POST" || bytes == 0))
}

/// Accepts digits only: two parsers of one connection must not disagree about where a body ends.
fn decimal(text: &str) -> Option<usize> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(method: &str, headers: &[(&str, &str)]) -> Option<usize> {
        let mut all = vec![("Host", &b"a"[..])];
        all.extend(headers.iter().map(|(name, value)| (*name, value.as_bytes())));
        body_bytes(&Head {
            method,
            target: "/socket/longpoll",
            is_http11: true,
            headers: &all,
            secure: false,
            remote: None,
        })
    }

    #[test]
    fn gets_and_posts_of_a_stated_length_are_read() {
        assert_eq!(bytes("GET", &[]), Some(0));
        assert_eq!(bytes("GET", &[("Content-Length", "0")]), Some(0));
        assert_eq!(bytes("POST", &[("content-length", "12")]), Some(12));
        assert_eq!(bytes("POST", &[]), Some(0));
    }

    #[test]
    fn whatever_could_be_read_in_two_ways_is_left_to_the_library() {
        for length in ["+1", "-1", "1 ", " 1", "", "0x1", "1,1", "99999999999999999999999"] {
            assert_eq!(bytes("POST", &[("Content-Length", length)]), None, "{length:?}");
        }
        assert_eq!(bytes("POST", &[("Content-Length", "1"), ("Content-Length", "1")]), None);
        assert_eq!(bytes("POST", &[("Content-Length", "1"), ("Transfer-Encoding", "chunked")]), None);
        assert_eq!(bytes("POST", &[("Content-Length", "1"), ("Expect", "100-continue")]), None);
        assert_eq!(bytes("GET", &[("Content-Length", "1")]), None);
        assert_eq!(bytes("GET", &[("Upgrade", "websocket")]), None);
        assert_eq!(bytes("GET", &[("Host", "b")]), None);
        for method in ["HEAD", "OPTIONS", "PUT", "get"] {
            assert_eq!(bytes(method, &[]), None, "{method}");
        }
    }
}
