//! `Sec-WebSocket-Key` and `Sec-WebSocket-Accept` (RFC 6455 sections 4.1 and 4.2.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest as _, Sha1};

/// The GUID that a server appends to the key (RFC 6455 section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Returns the value of `Sec-WebSocket-Accept` for a key.
pub fn accept_key(key: &str) -> String {
    STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

/// Returns whether a key is the base64 encoding of 16 bytes, as it must be (RFC 6455 section 4.2.1).
pub fn is_websocket_key(key: &str) -> bool {
    let mut nonce = [0; 18];
    key.len() == 24 && STANDARD.decode_slice(key, &mut nonce) == Ok(16)
}

/// Returns the key of a client that chose `nonce` at random.
pub fn client_key(nonce: [u8; 16]) -> String {
    STANDARD.encode(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc_is_answered_as_there() {
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn only_sixteen_bytes_make_a_key() {
        assert!(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="));
        assert!(is_websocket_key(&client_key([7; 16])));
        for key in
            ["", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZTEy", "!GhlIHNhbXBsZSBub25jZQ==", "AAAA"]
        {
            assert!(!is_websocket_key(key), "{key}");
        }
    }
}
