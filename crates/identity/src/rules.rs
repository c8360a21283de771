//! Whether claims are valid now, and for this community.

use std::time::Duration;

use crate::keys::Issuer;
use crate::token::{ClaimFault, Claims, GUEST_PREFIX, Refusal, UnixSeconds};

/// The rules that claims are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Tolerated clock difference between host site and server: `exp` counts as that much later, `nbf` and `iat` as
    /// that much earlier.
    pub leeway: Duration,
    /// How far in the future `exp` may be, from now and from `iat`. Bounds how long a revocation must be remembered.
    pub lifetime_max: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { leeway: Duration::from_secs(30), lifetime_max: Duration::from_secs(24 * 3600) }
    }
}

impl Rules {
    /// Checks claims that were signed by a key of `issuer`.
    ///
    /// # Errors
    /// [`Refusal::Claim`] and [`Refusal::Expired`].
    pub fn check(
        &self,
        claims: &Claims,
        issuer: Issuer,
        community: &str,
        now: UnixSeconds,
    ) -> Result<(), Refusal> {
        let refuse = |name, fault| Err(Refusal::Claim { name, fault });
        if !claims.audiences.iter().any(|audience| audience == community) {
            return refuse("aud", ClaimFault::Audience);
        }
        if claims.subject.starts_with(GUEST_PREFIX) != (issuer == Issuer::Guests) {
            return refuse("sub", ClaimFault::Reserved);
        }
        if now >= self.ends(claims) {
            return Err(Refusal::Expired { at: claims.expires });
        }
        if claims.expires > now.plus(self.lifetime_max).plus(self.leeway) {
            return refuse("exp", ClaimFault::TooFar);
        }
        // Nor may it have been issued with a longer lifetime: otherwise it would be refused today, and accepted once
        // its revocation has long been forgotten.
        if claims.issued.is_some_and(|at| claims.expires > at.plus(self.lifetime_max).plus(self.leeway)) {
            return refuse("exp", ClaimFault::TooFar);
        }
        let soon = now.plus(self.leeway);
        if claims.not_before.is_some_and(|at| at > soon) {
            return refuse("nbf", ClaimFault::InFuture);
        }
        // Otherwise a token from the future would outlive the revocation of all tokens issued until now.
        if claims.issued.is_some_and(|at| at > soon) {
            return refuse("iat", ClaimFault::InFuture);
        }
        Ok(())
    }

    /// The first second in which a token with these claims is expired.
    pub(crate) fn ends(&self, claims: &Claims) -> UnixSeconds {
        claims.expires.plus(self.leeway)
    }
}
