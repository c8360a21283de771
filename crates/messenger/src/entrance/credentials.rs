//! The credentials of a person who wants to come in, and the installation's secret.

use chat::CommunityId;
use identity::Token;
use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};

/// What a person presents to come in.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The community.
    pub community: CommunityId,
    /// Their token; `None` for a new guest.
    pub token: Option<Token>,
    /// The name that a new guest asks for.
    pub name: Option<String>,
}

/// The secret of an installation: 32 random bytes that outlive the process, from which the keys of its guests are
/// derived.
#[derive(Clone)]
pub struct InstallationSecret([u8; 32]);

impl InstallationSecret {
    /// Creates it from 32 random bytes.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Creates a random one that is lost with the process: guests are others after a restart.
    pub fn fleeting() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the system has random numbers");
        Self(bytes)
    }

    /// Returns a number derived from the secret, unknown without it, as a hash seed that is the same wherever the
    /// secret is.
    pub(crate) fn hashing(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.0);
        hasher.finish()
    }

    pub(super) const fn expose(&self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for InstallationSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InstallationSecret(hidden)")
    }
}
