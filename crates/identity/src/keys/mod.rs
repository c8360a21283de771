//! The keys by which a community believes tokens.
//!
//! A key is pinned to one algorithm when it is made, from what it is, and never verifies by another: a token's header
//! chooses nothing. It knows until when it is valid, and whose tokens it speaks for.

mod jwk;
mod key;
mod set;
mod spki;

pub use jwk::{JwksError, SkippedKey, read_jwks};
pub use key::{BadKey, Issuer, Key, SECRET_BYTES_MIN};
pub use set::{BadKeySet, KEYS_MAX, KeySet};
