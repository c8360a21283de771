//! The secret that a controller and its agents share.

use std::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;

/// A shared secret. It is never printed, and is compared in constant time.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Token(String);

impl Token {
    /// Wraps a secret as the user gave it.
    #[must_use]
    pub fn new(secret: String) -> Self {
        Self(secret)
    }

    /// Returns whether the secret is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_bytes().ct_eq(other.0.as_bytes()).into()
    }
}

impl Eq for Token {}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_equals_itself_alone_and_is_not_printed() {
        let token = |text: &str| Token::new(text.to_owned());
        assert_eq!(token("open sesame"), token("open sesame"));
        for other in ["", "open sesam", "open sesame!", "Open sesame"] {
            assert_ne!(token("open sesame"), token(other));
        }
        assert!(!format!("{:?}", token("open sesame")).contains("sesame"));
    }
}
