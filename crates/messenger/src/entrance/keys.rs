//! The keys that a community accepts tokens by, and the site it asks, as stored in [`chat::Key::purpose`].

use super::site::AuthorizerKey;
use chat::{CommunityId, FieldProblem};
use identity::{Algorithm, BadKey, Jwks, JwksSettings, KEYS_MAX, Key, KeySet, Outbound, Target, UnixSeconds};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A key with which the host site signs people's tokens.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenKey {
    /// The one algorithm that it may be used with: `HS256`, `RS256`, `ES256` or `EdDSA`.
    pub algorithm: String,
    /// The key id by which tokens name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    /// A public key in PEM, or for HS256 the shared secret, which must be stored to verify anything.
    pub material: String,
    /// The last second, since 1970, in which it is accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after_s: Option<u64>,
}

/// Where the host site publishes such keys (RFC 7517).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedKeys {
    /// Begins with `https://`.
    pub url: String,
}

/// The kinds of keys of the host site. Other kinds belong to other surfaces and are skipped.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum SiteKey {
    Token(TokenKey),
    Jwks(PublishedKeys),
    Authorizer(AuthorizerKey),
}

impl SiteKey {
    /// Returns those that are not revoked, the newest first.
    pub(super) fn all(stored: &[chat::Key]) -> impl Iterator<Item = Self> {
        let counting = stored.iter().rev().filter(|key| key.revoked.is_none());
        counting.filter_map(|key| serde_json::from_value(key.purpose.clone()).ok())
    }
}

impl TokenKey {
    /// Returns the key that verifies tokens.
    ///
    /// # Errors
    /// What is wrong with it, and in which field.
    pub fn verifying(&self) -> Result<Key, FieldProblem> {
        let wrong =
            |field: &str, message: String| FieldProblem { field: field.to_owned(), code: "form", message };
        let algorithm = Algorithm::named(&self.algorithm)
            .ok_or_else(|| wrong("algorithm", "must be HS256, RS256, ES256 or EdDSA".to_owned()))?;
        let material = self.material.as_bytes();
        let made = match algorithm {
            Algorithm::Hs256 => Key::hs256(material),
            Algorithm::Rs256 | Algorithm::Es256 | Algorithm::EdDsa => Key::pem(material, algorithm),
        };
        let mut key = made.map_err(|error: BadKey| wrong("material", error.to_string()))?;
        if let Some(kid) = &self.kid {
            key = key.with_kid(kid.as_str()).map_err(|error| wrong("kid", error.to_string()))?;
        }
        if let Some(not_after_s) = self.not_after_s {
            key = key.until(UnixSeconds(not_after_s));
        }
        Ok(key)
    }
}

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, kid, material: _, not_after_s } = self;
        let mut shown = f.debug_struct("TokenKey");
        shown.field("algorithm", algorithm).field("kid", kid).field("not_after_s", not_after_s);
        shown.finish_non_exhaustive()
    }
}

/// Returns a community's valid keys, with those for its guests. Of those with the same id the newest counts, and none
/// replaces the guests' keys; beyond the maximum the oldest are left out.
pub(super) fn key_set(stored: &[chat::Key], guests: Vec<Key>) -> KeySet {
    let mut keys = guests;
    for row in SiteKey::all(stored) {
        let SiteKey::Token(row) = row else { continue };
        let key = match row.verifying() {
            Ok(key) => key,
            Err(problem) => {
                tracing::warn!(?row, ?problem, "a community's token key is invalid and is ignored");
                continue;
            }
        };
        let is_named = key.kid().is_some_and(|kid| keys.iter().any(|kept| kept.kid() == Some(kid)));
        if is_named || keys.len() == KEYS_MAX {
            tracing::warn!(
                ?row,
                "a community's token key is ignored: its `kid` is used twice, or there are too \
                 many keys"
            );
        } else {
            keys.push(key);
        }
    }
    KeySet::new(keys).unwrap_or_else(|error| {
        tracing::error!(%error, "the keys of guests' tokens are inconsistent: no token is accepted");
        KeySet::default()
    })
}

/// Returns where a community publishes keys.
pub(super) fn published_at(stored: &[chat::Key]) -> Option<String> {
    SiteKey::all(stored).find_map(|key| match key {
        SiteKey::Jwks(published) => Some(published.url),
        SiteKey::Token(_) | SiteKey::Authorizer(_) => None,
    })
}

/// The published keys of communities, kept across re-reads of their settings.
#[derive(Default)]
pub(super) struct Published {
    by_community: Mutex<HashMap<CommunityId, (String, Arc<Jwks>)>>,
}

/// Communities whose published keys are kept. Beyond it all are fetched again.
const PUBLISHED_MAX: usize = 10_000;

impl Published {
    /// Returns those of a community, at that URL.
    pub(super) fn of(
        &self,
        community: &CommunityId,
        url: Option<String>,
        outbound: Option<&Outbound>,
    ) -> Option<Arc<Jwks>> {
        let mut known = self.by_community.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(url) = url else {
            known.remove(community);
            return None;
        };
        if let Some((_, jwks)) = known.get(community).filter(|(known, _)| *known == url) {
            return Some(jwks.clone());
        }
        let jwks = Jwks::new(Target::parse(&url).ok()?, outbound?.clone(), JwksSettings::default());
        if known.len() >= PUBLISHED_MAX {
            known.clear();
        }
        known.insert(community.clone(), (url, jwks.clone()));
        Some(jwks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_other_kinds_are_passed_over() {
        let read = |purpose: serde_json::Value| serde_json::from_value::<SiteKey>(purpose).ok();
        assert!(read(serde_json::json!({"kind": "server", "prefix": "x", "scopes": []})).is_none());
        let published = read(serde_json::json!({"kind": "jwks", "url": "https://example.org/jwks"}));
        assert!(matches!(published, Some(SiteKey::Jwks(PublishedKeys { url })) if url.ends_with("/jwks")));
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said_of_its_field() {
        let key = |algorithm: &str, material: &str| TokenKey {
            algorithm: algorithm.to_owned(),
            kid: Some("k".to_owned()),
            material: material.to_owned(),
            not_after_s: None,
        };
        let secret = "0123456789abcdef0123456789abcdef";
        assert!(key("HS256", secret).verifying().is_ok());
        let no_kid = TokenKey { kid: Some(String::new()), ..key("HS256", secret) };
        for (wrong, field) in [
            (key("none", secret), "algorithm"),
            (key("HS256", "short"), "material"),
            (key("EdDSA", secret), "material"),
            (no_kid, "kid"),
        ] {
            assert_eq!(wrong.verifying().map_err(|problem| problem.field).err().as_deref(), Some(field));
        }
    }

    #[test]
    fn a_shared_secret_does_not_print() {
        let key = TokenKey {
            algorithm: "HS256".into(),
            kid: None,
            material: "very secret".into(),
            not_after_s: None,
        };
        assert!(!format!("{key:?}").contains("secret"));
    }
}
