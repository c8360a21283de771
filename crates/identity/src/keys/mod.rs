//! The keys by which a community verifies tokens.
//!
//! A key is pinned to one algorithm at construction, by its kind, and never verifies by another: a token's header has
//! no choice. It also has an expiry and an issuer.

mod jwk;
mod key;
mod set;
mod spki;

pub use jwk::{JwksError, SkippedKey, read_jwks};
pub use key::{BadKey, Issuer, Key, SECRET_BYTES_MIN};
pub use set::{BadKeySet, KEYS_MAX, KeySet};
