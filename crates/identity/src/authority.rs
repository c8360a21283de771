//! Verification of one community's tokens.

use std::fmt;
use std::sync::Arc;

use crate::jwks::Jwks;
use crate::keys::{Issuer, KeySet};
use crate::rules::Rules;
use crate::token::{Claims, Presented, Refusal, Token, UnixSeconds};

/// A community's id, as it appears in `aud`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Community(Arc<str>);

impl Community {
    /// Wraps a community id. Does not check whether such a community exists.
    pub fn new(id: &str) -> Self {
        Community(id.into())
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Community {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Community({:?})", self.0)
    }
}

/// A person whose token was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The community.
    pub community: Community,
    /// Whether the host site or this server issued the token. Determined by the key, never by what the token says.
    pub issuer: Issuer,
    /// The token's claims about the person.
    pub claims: Claims,
    /// The first second in which this no longer holds: `exp` plus the leeway.
    pub ends: UnixSeconds,
}

/// Verifies the tokens of one community. Clones share the fetched keys.
#[derive(Clone, Debug)]
pub struct Authority {
    community: Community,
    keys: Arc<KeySet>,
    published: Option<Arc<Jwks>>,
    rules: Rules,
}

impl Authority {
    /// An authority that trusts `keys`, of the host site and for guests (see [`crate::GuestSigner::keys`]).
    pub fn new(community: Community, keys: KeySet, rules: Rules) -> Self {
        Authority { community, keys: Arc::new(keys), published: None, rules }
    }

    /// Also trusts the keys that the host site publishes, for tokens whose `kid` is not among its own keys.
    #[must_use]
    pub fn with_published(mut self, jwks: Arc<Jwks>) -> Self {
        self.published = Some(jwks);
        self
    }

    /// The community.
    pub fn community(&self) -> &Community {
        &self.community
    }

    /// Verifies a token: first its signature, so that claims are only read from authentic tokens, then its claims. May
    /// wait for the host site's keys to be fetched, at most for [`crate::JwksSettings::timeout`].
    ///
    /// # Errors
    /// [`Refusal`]: log it, and send the client [`Refusal::code`]. Whether the token was revoked is not checked here
    /// but by [`crate::Sessions`].
    pub async fn verify(&self, token: &Token, now: UnixSeconds) -> Result<Verified, Refusal> {
        let presented = Presented::read(token.expose())?;
        let issuer = match self.keys.verify(&presented, now) {
            Err(Refusal::KeyUnknown { kid: Some(kid) }) => match &self.published {
                Some(jwks) => jwks.keys_for(&kid).await?.verify(&presented, now)?,
                None => return Err(Refusal::KeyUnknown { kid: Some(kid) }),
            },
            judged => judged?,
        };
        let claims = presented.claims()?;
        self.rules.check(&claims, issuer, self.community.as_str(), now)?;
        let ends = self.rules.ends(&claims);
        Ok(Verified { community: self.community.clone(), issuer, claims, ends })
    }
}
