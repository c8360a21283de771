//! Tokens that are believed no more.

use crate::ids::PersonId;
use crate::moment::Moment;
use serde::{Deserialize, Serialize};

/// Tokens of a person that are believed no more: the one with a name, or all up to a second. What it means belongs to
/// whoever judges tokens; here it is kept for as long as such a token could be valid.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Revocation {
    /// Whose.
    pub person: PersonId,
    /// The one token's name (`jti`); none: all that were issued up to `until_s`.
    pub token: Option<String>,
    /// The last second, since 1970, in which such tokens were issued; of one token, when it was revoked.
    pub until_s: u64,
    /// When it was revoked.
    pub at: Moment,
    /// From when on none of these tokens could be valid anyway.
    pub ends: Moment,
}

impl Revocation {
    /// What tells it from the person's others: a token's name has at least one character.
    pub fn token_or_all(&self) -> &str {
        self.token.as_deref().unwrap_or_default()
    }
}
