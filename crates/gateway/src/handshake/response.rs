//! The bytes of handshake responses.

use super::checks::{Accepted, Rejection};
use proto::handshake::accept_key;

/// When a client that was refused for lack of room may try again, in seconds.
pub(crate) const RETRY_AFTER_SECONDS: u16 = 5;

/// Returns the whole 101 head: old clients need title case, one space after each colon, and all of it in one segment.
pub(crate) fn switching_protocols(accepted: &Accepted) -> Vec<u8> {
    let mut head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: {}\r\n",
        accept_key(&accepted.key)
    );
    if let Some(subprotocol) = &accepted.subprotocol {
        head.push_str("Sec-WebSocket-Protocol: ");
        head.push_str(subprotocol);
        head.push_str("\r\n");
    }
    if let Some(agreed) = &accepted.deflate {
        head.push_str("Sec-WebSocket-Extensions: ");
        head.push_str(&agreed.response_header());
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

/// Returns the bytes of a refusal, after which the connection is closed.
pub(crate) fn refusal(rejection: &Rejection) -> Vec<u8> {
    let reason = match rejection.status {
        400 => "Bad Request",
        403 => "Forbidden",
        408 => "Request Timeout",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Refused",
    };
    let Rejection { status, body, .. } = rejection;
    let retry = match rejection.is_temporary() {
        true => format!("Retry-After: {RETRY_AFTER_SECONDS}\r\n"),
        false => String::new(),
    };
    format!(
        "HTTP/1.1 {status} {reason}\r\nConnection: close\r\n{retry}Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
