//! Revoked tokens.

use crate::ids::PersonId;
use crate::moment::Moment;
use serde::{Deserialize, Serialize};

/// A revocation of a person's tokens: of one by its id, or of all issued up to a given second. Its meaning belongs to
/// whoever verifies tokens; it is kept here for as long as such a token could be valid.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Revocation {
    /// Whose tokens.
    pub person: PersonId,
    /// The revoked token's id (`jti`); `None`: all tokens issued up to `until_s`.
    pub token: Option<String>,
    /// The last second, since 1970, in which revoked tokens were issued; for a single token, when it was revoked.
    pub until_s: u64,
    /// When it was revoked.
    pub at: Moment,
    /// When every such token would have expired anyway.
    pub ends: Moment,
}

impl Revocation {
    /// The part of the key that is unique per person: the token's id, or empty for all; an id has at least one
    /// character.
    pub fn token_or_all(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }
}
