//! Server keys: credentials of a host site's programs, each limited to its scopes.
//!
//! A key is created once and shown once. Only a prefix, for looking it up, and a hash are stored. The secret part has
//! 256 random bits, so a plain SHA-256 suffices: slow hashes are for passwords that people choose.

mod scope;
mod text;

use std::fmt;

use ring::digest;
use subtle::ConstantTimeEq;

pub use scope::{Scope, Scopes, UnknownScope};
pub use text::{BadServerKey, ServerKey};

use crate::authority::Community;
use crate::token::UnixSeconds;

/// The stored form of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// Its lookup prefix; not secret.
    pub prefix: String,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The community that it is limited to; `None` for the whole server.
    pub community: Option<Community>,
    /// What it permits.
    pub scopes: Scopes,
    /// The last second in which it is valid.
    pub not_after: Option<UnixSeconds>,
}

/// A newly created key: the only time that its text is known.
#[derive(Debug)]
pub struct MintedKey {
    /// To be shown once to whoever requested it, and then dropped.
    pub key: ServerKey,
    /// To be stored.
    pub stored: StoredKey,
}

impl StoredKey {
    /// Creates a key from randomness. [`Scope::ManageCommunities`] is removed from a key for one community, because it
    /// would give access to others.
    pub fn mint(community: Option<Community>, scopes: Scopes, entropy: [u8; 40]) -> MintedKey {
        let key = ServerKey::from_entropy(entropy);
        let scopes = if community.is_some() { scopes.without(Scope::ManageCommunities) } else { scopes };
        let stored = StoredKey {
            prefix: key.prefix().to_owned(),
            hash: hash(&key),
            community,
            scopes,
            not_after: None,
        };
        MintedKey { key, stored }
    }

    /// Whether `key` is this key, and valid now. The hashes are compared in constant time.
    pub fn is(&self, key: &ServerKey, now: UnixSeconds) -> bool {
        bool::from(self.hash.ct_eq(&hash(key))) && self.not_after.is_none_or(|not_after| now <= not_after)
    }

    /// Whether it permits `scope` in that community.
    pub fn allows(&self, scope: Scope, community: &Community) -> bool {
        self.scopes.contains(scope) && self.community.as_ref().is_none_or(|own| own == community)
    }
}

fn hash(key: &ServerKey) -> [u8; 32] {
    let hash = digest::digest(&digest::SHA256, key.expose().as_bytes());
    hash.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

impl fmt::Display for StoredKey {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "thr_{}_… ({})", self.prefix, self.scopes)
    }
}
