//! The signature algorithms that a key may be pinned to.

use std::fmt;

/// A token's signature algorithm (RFC 7518, section 3.1; RFC 8037 for EdDSA). There is no `none`, and nothing weaker to
/// fall back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// HMAC with SHA-256: host site and server share a secret.
    Hs256,
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA on P-256 with SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: [Algorithm; 4] = [Algorithm::Hs256, Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa];

    /// The name in a token's header; matched exactly, including case.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Hs256 => "HS256",
            Algorithm::Rs256 => "RS256",
            Algorithm::Es256 => "ES256",
            Algorithm::EdDsa => "EdDSA",
        }
    }

    /// Looks up a supported algorithm by name. EdDSA may also be named by its curve (RFC 9864, section 2.2).
    pub fn named(name: &str) -> Option<Self> {
        if name == "Ed25519" {
            return Some(Algorithm::EdDsa);
        }
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
