//! Sets of keys, selected by a token's `kid`.

use std::fmt;

use super::key::{Issuer, Key};
use crate::token::{Presented, Refusal, UnixSeconds};

/// Maximum number of keys of one community, or of one published set: enough for rotation, and a few more.
pub const KEYS_MAX: usize = 32;

/// Keys with distinct ids.
#[derive(Clone, Debug, Default)]
pub struct KeySet {
    keys: Vec<Key>,
}

impl KeySet {
    /// Builds a set.
    ///
    /// # Errors
    /// [`BadKeySet`].
    pub fn new(keys: Vec<Key>) -> Result<Self, BadKeySet> {
        if keys.len() > KEYS_MAX {
            return Err(BadKeySet::TooMany { keys: keys.len() });
        }
        for (place, key) in keys.iter().enumerate() {
            if let Some(kid) =
                key.kid().filter(|kid| keys[..place].iter().any(|other| other.kid() == Some(*kid)))
            {
                return Err(BadKeySet::Repeated { kid: kid.to_owned() });
            }
        }
        Ok(KeySet { keys })
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether it contains a key with that `kid`.
    pub fn names(&self, kid: &str) -> bool {
        self.keys.iter().any(|key| key.kid() == Some(kid))
    }

    /// Verifies a token's signature with the key that it names, or, if it names none, with each of the host site's keys
    /// of its algorithm. Returns the issuer that the key belongs to.
    ///
    /// # Errors
    /// [`Refusal::KeyUnknown`] if no key applies, [`Refusal::AlgorithmMismatch`], [`Refusal::Signature`].
    pub fn verify(&self, token: &Presented<'_>, now: UnixSeconds) -> Result<Issuer, Refusal> {
        let mut valid = self.keys.iter().filter(|key| key.is_valid(now));
        let Some(kid) = &token.kid else {
            return self.verify_by_any(token, now);
        };
        let key = valid
            .find(|key| key.kid() == Some(kid))
            .ok_or_else(|| Refusal::KeyUnknown { kid: Some(kid.clone()) })?;
        if key.algorithm() != token.algorithm {
            return Err(Refusal::AlgorithmMismatch { header: token.algorithm, key: key.algorithm() });
        }
        if key.verifies(token.signed, &token.signature) { Ok(key.issuer()) } else { Err(Refusal::Signature) }
    }

    /// Trying several is safe, because each verifies by its own algorithm only, and cheap, because they are few.
    fn verify_by_any(&self, token: &Presented<'_>, now: UnixSeconds) -> Result<Issuer, Refusal> {
        let fits = |key: &&Key| {
            key.is_valid(now) && key.issuer() == Issuer::HostSite && key.algorithm() == token.algorithm
        };
        let mut candidates = self.keys.iter().filter(fits).peekable();
        if candidates.peek().is_none() {
            return Err(Refusal::KeyUnknown { kid: None });
        }
        candidates
            .find(|key| key.verifies(token.signed, &token.signature))
            .map(Key::issuer)
            .ok_or(Refusal::Signature)
    }
}

/// Why keys cannot form a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadKeySet {
    /// More than [`KEYS_MAX`].
    TooMany {
        /// The number of keys.
        keys: usize,
    },
    /// Two keys have the same `kid`.
    Repeated {
        /// The repeated `kid`.
        kid: String,
    },
}

impl fmt::Display for BadKeySet {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadKeySet::TooMany { keys } => write!(to, "{keys} keys, more than {KEYS_MAX}"),
            BadKeySet::Repeated { kid } => write!(to, "two keys have the id {kid:?}"),
        }
    }
}

impl std::error::Error for BadKeySet {}
