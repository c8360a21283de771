//! The text form of a key: `thr_`, a prefix of 16 hexadecimal digits, `_`, and 43 characters of base64url.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Every key begins with it, so that secret scanners recognize leaked keys.
const BRAND: &str = "thr_";
const PREFIX_CHARS: usize = 16;
const SECRET_CHARS: usize = 43;

/// A key. Like a [`crate::Token`], it never shows its text by accident.
#[derive(Clone)]
pub struct ServerKey {
    text: String,
}

impl ServerKey {
    pub(super) fn from_entropy(entropy: [u8; 40]) -> Self {
        let (prefix, secret) = entropy.split_at(PREFIX_CHARS / 2);
        let prefix: String = prefix.iter().map(|byte| format!("{byte:02x}")).collect();
        ServerKey { text: format!("{BRAND}{prefix}_{}", URL_SAFE_NO_PAD.encode(secret)) }
    }

    /// Parses a key, as from `Authorization: Bearer …`.
    ///
    /// # Errors
    /// [`BadServerKey`].
    pub fn parse(text: &str) -> Result<Self, BadServerKey> {
        let rest = text.strip_prefix(BRAND).ok_or(BadServerKey::Brand)?;
        if rest.len() != PREFIX_CHARS + 1 + SECRET_CHARS {
            return Err(BadServerKey::Length { bytes: text.len() });
        }
        let (prefix, secret) = rest.split_at_checked(PREFIX_CHARS).ok_or(BadServerKey::Character)?;
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let secret = secret.strip_prefix('_').ok_or(BadServerKey::Character)?;
        if prefix.bytes().all(|byte| is_digit(&byte)) && URL_SAFE_NO_PAD.decode(secret).is_ok() {
            Ok(ServerKey { text: text.to_owned() })
        } else {
            Err(BadServerKey::Character)
        }
    }

    /// The lookup prefix; not secret.
    pub fn prefix(&self) -> &str {
        &self.text[BRAND.len()..BRAND.len() + PREFIX_CHARS]
    }

    /// Returns the secret text, for the key's holder.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for ServerKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "ServerKey({}_…)", self.prefix())
    }
}

/// Why a text is not a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadServerKey {
    /// It does not begin with `thr_`: possibly a person's token, or another service's key.
    Brand,
    /// It was truncated, or has extra characters.
    Length {
        /// Its length.
        bytes: usize,
    },
    /// It contains a character that no key has.
    Character,
}

impl fmt::Display for BadServerKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = BRAND.len() + PREFIX_CHARS + 1 + SECRET_CHARS;
        match self {
            BadServerKey::Brand => write!(to, "a server key begins with {BRAND}"),
            BadServerKey::Length { bytes } => write!(to, "a server key has {whole} characters, not {bytes}"),
            BadServerKey::Character => to.write_str("the server key contains an invalid character"),
        }
    }
}

impl std::error::Error for BadServerKey {}

#[cfg(test)]
mod tests {
    use super::{BadServerKey, ServerKey};

    #[test]
    fn a_key_is_read_as_it_was_written() {
        let key = ServerKey::from_entropy(std::array::from_fn(|place| place as u8));
        assert_eq!(key.expose(), "thr_0001020304050607_CAkKCwwNDg8QERITFBUWFxgZGhscHR4fICEiIyQlJic");
        let again = ServerKey::parse(key.expose()).expect("what it wrote");
        assert_eq!((again.prefix(), again.expose()), ("0001020304050607", key.expose()));
        assert_eq!(format!("{key:?}"), "ServerKey(0001020304050607_…)");
    }

    #[test]
    fn what_is_no_key_is_refused_with_the_reason() {
        let key = ServerKey::from_entropy([0xfb; 40]).expose().to_owned();
        assert!(ServerKey::parse(&key).is_ok(), "its secret has the signs of base64url: {key}");
        let umlaut = format!("thr_{}ü{}", "0".repeat(15), "A".repeat(43));
        for (text, why) in [
            (String::new(), BadServerKey::Brand),
            ("eyJhbGciOiJIUzI1NiJ9.e30.x".to_owned(), BadServerKey::Brand),
            (key[..63].to_owned(), BadServerKey::Length { bytes: 63 }),
            (format!("{key}\n"), BadServerKey::Length { bytes: 65 }),
            (key.replacen("fb", "FB", 1), BadServerKey::Character),
            (key.replacen("fb", "xy", 1), BadServerKey::Character),
            (format!("{}.{}", &key[..20], &key[21..]), BadServerKey::Character),
            (format!("{}+{}", &key[..30], &key[31..]), BadServerKey::Character),
            (umlaut, BadServerKey::Character),
        ] {
            assert_eq!(ServerKey::parse(&text).expect_err("no key"), why, "{text}");
        }
    }
}
