//! Who verifies the tokens of one community.

use std::fmt;
use std::sync::Arc;

use crate::jwks::Jwks;
use crate::keys::{Issuer, KeySet};
use crate::rules::Rules;
use crate::token::{Claims, Presented, Refusal, Token, UnixSeconds};

/// A community's id, as it stands in `aud`. Copies are cheap.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Community(Arc<str>);

impl Community {
    /// The community of that id. Which ids there are is for others to say.
    pub fn new(id: &str) -> Self {
        Community(id.into())
    }

    /// Its id.
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
    /// Where.
    pub community: Community,
    /// Whether the host site or this server said so. It follows from the key, never from what the token says.
    pub issuer: Issuer,
    /// Who, and what else the token says.
    pub claims: Claims,
    /// The first second in which this is no longer so: `exp` and the leeway.
    pub ends: UnixSeconds,
}

/// Verifies the tokens of one community. A copy shares the fetched keys.
#[derive(Clone, Debug)]
pub struct Authority {
    community: Community,
    keys: Arc<KeySet>,
    published: Option<Arc<Jwks>>,
    rules: Rules,
}

impl Authority {
    /// An authority that believes `keys`, the host site's and the guests' (see [`crate::GuestBook::keys`]).
    pub fn new(community: Community, keys: KeySet, rules: Rules) -> Self {
        Authority { community, keys: Arc::new(keys), published: None, rules }
    }

    /// One that also believes the keys that the host site publishes, where its own do not know a token's `kid`.
    #[must_use]
    pub fn with_published(mut self, jwks: Arc<Jwks>) -> Self {
        self.published = Some(jwks);
        self
    }

    /// The community.
    pub fn community(&self) -> &Community {
        &self.community
    }

    /// Verifies a token: first its signature, so that nobody else's claims are looked at, then its claims. It may have
    /// to wait until the host site's keys are fetched, at most as long as [`crate::JwksSettings::timeout`].
    ///
    /// # Errors
    /// [`Refusal`]: log it, and tell the client [`Refusal::code`]. Whether the token was revoked is for
    /// [`crate::Sessions`] to say.
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
