//! The response to an upgrade request. This is the only place where the floor examines what it received, because
//! clients other than the driver check `Sec-WebSocket-Accept` (RFC 6455, section 4.1).

use std::io;

use proto::handshake::accept_key;

const KEY_HEADER: &[u8] = b"sec-websocket-key:";

/// Returns the 101 response to a request, which must be complete and contain a key.
pub(crate) fn accepting_head(request: &[u8]) -> io::Result<Vec<u8>> {
    let key = key_of(request).ok_or(io::ErrorKind::InvalidData)?;
    Ok(format!(
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Accept: {}\r\n\r\n",
        accept_key(key)
    )
    .into_bytes())
}

fn key_of(request: &[u8]) -> Option<&str> {
    let line = request.split(|byte| *byte == b'\n').find(|line| {
        line.get(..KEY_HEADER.len()).is_some_and(|name| name.eq_ignore_ascii_case(KEY_HEADER))
    })?;
    str::from_utf8(&line[KEY_HEADER.len()..]).ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_is_answered_as_there() {
        let request = b"GET / HTTP/1.1\r\nHost: h\r\nSEC-WebSocket-Key:  dGhlIHNhbXBsZSBub25jZQ== \r\n\r\n";
        let head = accepting_head(request).expect("it has a key");
        assert!(head.ends_with(b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"));
    }

    #[test]
    fn a_request_without_a_key_is_an_error() {
        assert!(accepting_head(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n").is_err());
    }
}
