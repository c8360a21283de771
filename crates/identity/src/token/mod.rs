//! A token as text: a JSON Web Signature in compact form (RFC 7515) around claims (RFC 7519).
//!
//! This module parses both, with a bound for every length, and defines the reasons for refusing a token. It verifies no
//! signature and reads no clock: what it returns is untrusted until [`crate::Authority`] has checked it. It depends
//! only on the standard library, base64 and serde, so that the fuzz target can compile it by itself.

mod algorithm;
mod claims;
mod compact;
mod field;
mod refusal;
mod time;

use std::fmt;

pub use algorithm::Algorithm;
pub use claims::{Claims, GUEST_PREFIX};
pub use compact::Presented;
pub(crate) use compact::encode_part;
pub use refusal::{ClaimFault, Code, Part, Refusal};
pub use time::{CompactSeconds, UnixSeconds};

/// Maximum length of a token, in bytes. It arrives in a URL or a join's payload, and a request's head may have 16 KiB.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;
/// Maximum length of `kid` and `jti`, in bytes.
pub const ID_BYTES_MAX: usize = 128;
/// Maximum length of `sub`, in bytes.
pub const SUBJECT_BYTES_MAX: usize = 128;
/// Maximum length of `name`, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// Maximum length of `avatar`, in bytes.
pub const AVATAR_BYTES_MAX: usize = 1024;
/// Maximum number of audiences.
pub const AUDIENCES_MAX: usize = 16;
/// Maximum length of an audience, in bytes.
pub const AUDIENCE_BYTES_MAX: usize = 256;
/// Maximum number of roles.
pub const ROLES_MAX: usize = 16;
/// Maximum number of rooms.
pub const ROOMS_MAX: usize = 64;
/// Maximum length of a role or a room, in bytes.
pub const LABEL_BYTES_MAX: usize = 128;

/// A bearer token. Whoever has its text can act as that person, so it never shows its text by accident: neither `{}`
/// nor `{:?}` prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Wraps a token that a client presented, or that was just signed, without parsing it.
    pub fn new(text: impl Into<String>) -> Self {
        Token(text.into())
    }

    /// Returns the text, for parsing it or for the token's holder.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::Token;

    #[test]
    fn a_token_does_not_show_its_text() {
        let shown = format!("{:?} {:#?}", Token::new("eyJhbGciOi"), Some(Token::new("eyJhbGciOi")));
        assert!(!shown.contains("eyJ"), "{shown}");
        assert_eq!(Token::new("eyJhbGciOi").expose(), "eyJhbGciOi");
    }
}
