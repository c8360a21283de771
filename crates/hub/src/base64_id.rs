//! Sixteen characters of URL-safe base64, which need no escaping in JSON, in a URL or in a bus key.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;

/// Twelve bytes, encoded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Base64Id([u8; Base64Id::LEN]);

impl Base64Id {
    const LEN: usize = 16;

    pub(crate) fn new(raw: [u8; 12]) -> Base64Id {
        let mut text = [0; Base64Id::LEN];
        let written = URL_SAFE_NO_PAD.encode_slice(raw, &mut text);
        debug_assert_eq!(written, Ok(Base64Id::LEN));
        Base64Id(text)
    }

    /// Parses an id that was made elsewhere. Returns `None` for anything that [`Base64Id::new`] does not produce.
    pub(crate) fn parse(text: &str) -> Option<Base64Id> {
        let sound = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        text.as_bytes().try_into().ok().filter(|_| sound).map(Base64Id)
    }

    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("base64 is ASCII")
    }
}

impl fmt::Debug for Base64Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written_and_nothing_else_is_one() {
        for raw in [[0; 12], [255; 12], *b"twelve bytes"] {
            let id = Base64Id::new(raw);
            assert_eq!(Base64Id::parse(id.as_str()), Some(id));
            assert_eq!(format!("{id:?}"), id.as_str());
        }
        for text in ["", "short", "AAAAAAAAAAAAAAA\"", "AAAAAAAAAAAAAAA+", "AAAAAAAAAAAAAAAAA", "ÄÄÄÄÄÄÄÄ"]
        {
            assert_eq!(Base64Id::parse(text), None, "{text}");
        }
    }
}
