//! The client side of the WebSocket handshake (RFC 6455, section 4.1): the request as text, and validation of the
//! response. No socket, no clock.

use std::io::Write as _;

use proto::handshake::accept_key;
use proto::ws::deflate::{Agreed, CLIENT_OFFER};

use crate::observe::Outcome;

/// Maximum length of the response head; a longer one is a protocol violation. It fits what the engine keeps of a
/// partial message.
pub(crate) const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Maximum number of header lines of a response.
pub(crate) const HEADERS_MAX: usize = 96;

/// Contents of an upgrade request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// Request target, including the base path and the query.
    pub(crate) path: &'a str,
    /// `host[:port]`.
    pub(crate) host: &'a str,
    /// The value of `Sec-WebSocket-Key`.
    pub(crate) key: &'a str,
    pub(crate) subprotocols: &'a [String],
    pub(crate) origin: Option<&'a str>,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) deflate: bool,
}

impl Request<'_> {
    /// Appends the request. Header names are in title case, because some old servers compare them case-sensitively.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        let mut line = |text: std::fmt::Arguments<'_>| drop(out.write_fmt(text));
        line(format_args!("GET {} HTTP/1.1\r\nHost: {}\r\n", self.path, self.host));
        line(format_args!("Upgrade: websocket\r\nConnection: Upgrade\r\n"));
        line(format_args!("Sec-WebSocket-Key: {}\r\nSec-WebSocket-Version: 13\r\n", self.key));
        if let Some(origin) = self.origin {
            line(format_args!("Origin: {origin}\r\n"));
        }
        if !self.subprotocols.is_empty() {
            line(format_args!("Sec-WebSocket-Protocol: {}\r\n", self.subprotocols.join(", ")));
        }
        if self.deflate {
            line(format_args!("Sec-WebSocket-Extensions: {CLIENT_OFFER}\r\n"));
        }
        for (name, value) in self.headers {
            line(format_args!("{name}: {value}\r\n"));
        }
        line(format_args!("\r\n"));
    }
}

/// What the client asked for, against which the response is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    pub(crate) key: &'a str,
    pub(crate) subprotocols: &'a [String],
    pub(crate) deflate: bool,
}

/// The result of parsing the bytes received so far.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The head is not complete.
    Partial,
    /// The WebSocket is open; frames begin after the head.
    Open {
        /// Length of the head, in bytes.
        head_bytes: usize,
        /// Whether permessage-deflate was negotiated.
        deflate: bool,
    },
    /// The WebSocket was not opened.
    Refused(Refusal),
}

/// Why the WebSocket was not opened.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    /// [`Outcome::Status`], [`Outcome::Redirect`], [`Outcome::BadHandshake`] or [`Outcome::Protocol`].
    pub(crate) outcome: Outcome,
    /// The response's status, if there was one.
    pub(crate) code: u16,
    /// The reason as text.
    pub(crate) text: String,
}

/// Validates a response (RFC 6455, section 4.1, the list at its end).
pub(crate) fn judge(bytes: &[u8], expected: &Expected<'_>) -> Answer {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let head_bytes = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => return Answer::Partial,
        Ok(httparse::Status::Partial) => {
            let text = format!("the response's head is longer than {HEAD_BYTES_MAX} bytes");
            return Answer::Refused(Refusal { outcome: Outcome::Protocol, code: 0, text });
        }
        Err(error) => {
            let start = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
            let text = format!("not an HTTP response ({error}): {start:?}");
            return Answer::Refused(Refusal { outcome: Outcome::Protocol, code: 0, text });
        }
    };
    let status = response.code.unwrap_or_default();
    match judge_head(status, response.reason.unwrap_or_default(), response.headers, expected) {
        Ok(deflate) => Answer::Open { head_bytes, deflate },
        Err((outcome, text)) => Answer::Refused(Refusal { outcome, code: status, text }),
    }
}

/// Returns whether permessage-deflate was negotiated.
fn judge_head(
    status: u16,
    reason: &str,
    headers: &[httparse::Header<'_>],
    expected: &Expected<'_>,
) -> Result<bool, (Outcome, String)> {
    match status {
        101 => {}
        300..=399 => {
            let location = value(headers, "location").unwrap_or("nowhere");
            return Err((Outcome::Redirect, format!("{status} {reason}, to {location}")));
        }
        _ => return Err((Outcome::Status, format!("{status} {reason} instead of 101"))),
    }
    let bad = |text: String| (Outcome::BadHandshake, text);
    let upgrade = value(headers, "upgrade").unwrap_or_default();
    if !upgrade.eq_ignore_ascii_case("websocket") {
        return Err(bad(format!("Upgrade is {upgrade:?} instead of websocket")));
    }
    let mut tokens = values(headers, "connection").flat_map(|line| line.split(','));
    if !tokens.any(|token| token.trim().eq_ignore_ascii_case("upgrade")) {
        return Err(bad("Connection does not contain upgrade".to_owned()));
    }
    let accept = value(headers, "sec-websocket-accept").unwrap_or_default();
    let right = accept_key(expected.key);
    if accept != right {
        return Err(bad(format!("Sec-WebSocket-Accept is {accept:?} instead of {right:?}")));
    }
    judge_subprotocol(value(headers, "sec-websocket-protocol"), expected.subprotocols).map_err(bad)?;
    judge_extensions(headers, expected.deflate).map_err(bad)
}

/// RFC 6455, section 4.1: a subprotocol that was not offered fails the connection. None at all is allowed.
fn judge_subprotocol(answer: Option<&str>, offered: &[String]) -> Result<(), String> {
    match answer {
        Some(chosen) if !offered.iter().any(|offer| offer == chosen) => {
            Err(format!("Sec-WebSocket-Protocol {chosen:?} was not offered"))
        }
        Some(_) | None => Ok(()),
    }
}

/// RFC 6455, section 9.1: an extension that was not offered fails the connection, as does one with other parameters.
fn judge_extensions(headers: &[httparse::Header<'_>], offered: bool) -> Result<bool, String> {
    let mut extensions = values(headers, "sec-websocket-extensions").filter(|line| !line.is_empty());
    let Some(extension) = extensions.next() else { return Ok(false) };
    if !offered || extensions.next().is_some() {
        return Err(format!("Sec-WebSocket-Extensions {extension:?} was not offered"));
    }
    match Agreed::from_response(extension) {
        Some(_) => Ok(true),
        None => Err(format!("Sec-WebSocket-Extensions {extension:?} is no answer to {CLIENT_OFFER:?}")),
    }
}

fn value<'h>(headers: &'h [httparse::Header<'h>], name: &str) -> Option<&'h str> {
    values(headers, name).next()
}

fn values<'h>(headers: &'h [httparse::Header<'h>], name: &str) -> impl Iterator<Item = &'h str> {
    headers
        .iter()
        .filter(move |header| header.name.eq_ignore_ascii_case(name))
        .map(|header| std::str::from_utf8(header.value).unwrap_or_default().trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    const ACCEPT: &str = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

    fn answer(response: &str) -> Answer {
        let subprotocols = ["phoenix".to_owned(), "other".to_owned()];
        judge(response.as_bytes(), &Expected { key: KEY, subprotocols: &subprotocols, deflate: true })
    }

    fn head(lines: &str) -> String {
        format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n{lines}\r\n"
        )
    }

    #[test]
    fn a_request_carries_what_was_asked_for() {
        let mut out = Vec::new();
        Request {
            path: "/socket?vsn=2.0.0",
            host: "server.test:4000",
            key: KEY,
            subprotocols: &["a".to_owned(), "b".to_owned()],
            origin: Some("http://page.test"),
            headers: &[("X-Token".to_owned(), "1".to_owned())],
            deflate: true,
        }
        .write(&mut out);
        let text = String::from_utf8(out).expect("text");
        assert!(text.starts_with("GET /socket?vsn=2.0.0 HTTP/1.1\r\nHost: server.test:4000\r\n"), "{text}");
        for line in [
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            "Origin: http://page.test",
            "Sec-WebSocket-Protocol: a, b",
            "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            "X-Token: 1",
        ] {
            assert!(text.contains(&format!("\r\n{line}\r\n")), "{line} in {text}");
        }
        assert!(text.ends_with("\r\n\r\n"));
    }

    #[test]
    fn a_right_answer_opens_and_says_where_frames_begin() {
        let response = head(ACCEPT);
        let with_frames = format!("{response}\u{1}");
        assert_eq!(answer(&with_frames), Answer::Open { head_bytes: response.len(), deflate: false });
        let extension = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n";
        let response = head(&format!("{ACCEPT}Sec-WebSocket-Protocol: other\r\n{extension}"));
        assert_eq!(answer(&response), Answer::Open { head_bytes: response.len(), deflate: true });
    }

    #[test]
    fn a_head_that_is_not_complete_is_waited_for() {
        let response = head(ACCEPT);
        for end in 0..response.len() {
            assert_eq!(answer(&response[..end]), Answer::Partial, "{end} bytes");
        }
    }

    #[test]
    fn each_wrong_answer_has_its_outcome() {
        let accept_missing = head("");
        let accept_wrong = head("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO=\r\n");
        let protocol = head(&format!("{ACCEPT}Sec-WebSocket-Protocol: third\r\n"));
        let extension = head(&format!("{ACCEPT}Sec-WebSocket-Extensions: permessage-deflate\r\n"));
        let no_upgrade = format!("HTTP/1.1 101 Yes\r\nConnection: Upgrade\r\n{ACCEPT}\r\n");
        let no_connection = format!("HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\n{ACCEPT}\r\n");
        let endless = format!("HTTP/1.1 101 Yes\r\nX: {}", "x".repeat(HEAD_BYTES_MAX));
        let cases = [
            ("HTTP/1.1 404 Not Found\r\n\r\n", Outcome::Status, 404),
            ("HTTP/1.1 200 OK\r\n\r\n", Outcome::Status, 200),
            ("HTTP/1.1 302 Found\r\nLocation: http://there/\r\n\r\n", Outcome::Redirect, 302),
            (&accept_missing, Outcome::BadHandshake, 101),
            (&accept_wrong, Outcome::BadHandshake, 101),
            (&protocol, Outcome::BadHandshake, 101),
            (&extension, Outcome::BadHandshake, 101),
            (&no_upgrade, Outcome::BadHandshake, 101),
            (&no_connection, Outcome::BadHandshake, 101),
            ("SSH-2.0-OpenSSH_9.6\r\n", Outcome::Protocol, 0),
            (&endless, Outcome::Protocol, 0),
        ];
        for (response, outcome, code) in cases {
            let Answer::Refused(refusal) = answer(response) else { panic!("{response} is not refused") };
            assert_eq!((refusal.outcome, refusal.code), (outcome, code), "{response}: {}", refusal.text);
        }
    }
}
