//! What somebody shows who wants to come in, and the secret of this installation.

use chat::CommunityId;
use identity::Token;
use std::fmt;
use std::hash::{DefaultHasher, Hasher as _};

/// What somebody shows.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// Where they want to go.
    pub community: CommunityId,
    /// Who they are; none: a guest who comes for the first time.
    pub token: Option<Token>,
    /// How such a guest wants to be called.
    pub name: Option<String>,
}

/// The secret of an installation, from which the keys of its guests are derived: 32 random bytes that outlive the process.
#[derive(Clone)]
pub struct InstallationSecret([u8; 32]);

impl InstallationSecret {
    /// That one.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// One that ends with the process: guests are others after a restart.
    pub fn fleeting() -> Self {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the system has random numbers");
        Self(bytes)
    }

    /// A number that nobody knows without it: by it what is hashed falls into the same places wherever the secret is the same.
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
