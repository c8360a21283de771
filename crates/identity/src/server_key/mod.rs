//! Keys by which a host site's programs use this server, each for what its scopes say.
//!
//! A key is made once and shown once. What is kept of it is a prefix, which finds its row, and a hash. The secret part
//! has 256 random bits, so the hash is a plain SHA-256: slow hashes are for what people choose.

mod scope;
mod text;

use std::fmt;

use ring::digest;
use subtle::ConstantTimeEq;

pub use scope::{Scope, Scopes, UnknownScope};
pub use text::{BadServerKey, ServerKey};

use crate::authority::Community;
use crate::token::UnixSeconds;

/// What is kept of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// What finds it; no secret.
    pub prefix: String,
    /// SHA-256 of the whole key.
    pub hash: [u8; 32],
    /// The community that it is for, or none for the whole server.
    pub community: Option<Community>,
    /// What it is for.
    pub scopes: Scopes,
    /// The last second in which it counts.
    pub not_after: Option<UnixSeconds>,
}

/// A key that was just made: the one time that its text is known.
#[derive(Debug)]
pub struct MintedKey {
    /// To be shown to who asked for it, and to be forgotten.
    pub key: ServerKey,
    /// To be kept.
    pub stored: StoredKey,
}

impl StoredKey {
    /// Makes a key of randomness. [`Scope::ManageCommunities`] is left out of a key for one community, which it would
    /// let out of it.
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

    /// Whether that is the key, and counts now. The hashes are compared in constant time.
    pub fn is(&self, key: &ServerKey, now: UnixSeconds) -> bool {
        bool::from(self.hash.ct_eq(&hash(key))) && self.not_after.is_none_or(|not_after| now <= not_after)
    }

    /// Whether it is for that in that community.
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
