//! A token as text: a JSON Web Signature in compact form (RFC 7515) around claims (RFC 7519).
//!
//! Owns the reading of both, with a bound for every length, and the reasons for refusing one. It verifies no signature
//! and reads no clock: what it returns is a stranger's word until [`crate::Authority`] has checked it. It stands on
//! the standard library, base64 and serde alone, so that the fuzz target compiles it by itself.

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
pub use time::UnixSeconds;

/// A token, in bytes. It comes in a URL or a join's payload, and a request's head may have 16 KiB.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;
/// `kid` and `jti`, in bytes.
pub const ID_BYTES_MAX: usize = 128;
/// `sub`, in bytes.
pub const SUBJECT_BYTES_MAX: usize = 128;
/// `name`, in bytes.
pub const NAME_BYTES_MAX: usize = 200;
/// `avatar`, in bytes.
pub const AVATAR_BYTES_MAX: usize = 1024;
/// Audiences of one token.
pub const AUDIENCES_MAX: usize = 16;
/// An audience, in bytes.
pub const AUDIENCE_BYTES_MAX: usize = 256;
/// Roles of one token.
pub const ROLES_MAX: usize = 16;
/// Rooms of one token.
pub const ROOMS_MAX: usize = 64;
/// A role or a room, in bytes.
pub const LABEL_BYTES_MAX: usize = 128;

/// A bearer's token. Whoever has its text is that person, so it shows itself to nobody by accident: neither `{}` nor
/// `{:?}` prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// Takes what a client presented, or what was just signed, unread.
    pub fn new(text: impl Into<String>) -> Self {
        Token(text.into())
    }

    /// The text itself, for its holder and for reading it.
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
