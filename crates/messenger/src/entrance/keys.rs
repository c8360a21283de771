//! The keys with which host sites sign tokens, as [`chat::Key::purpose`] has them.

use chat::CommunityId;
use identity::{Algorithm, Jwks, JwksSettings, KEYS_MAX, Key, KeySet, Outbound, Target, UnixSeconds};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a key is for, as far as tokens go. Keys of other kinds are other surfaces' and are passed over.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TokenKey {
    /// The host site signs people's tokens with it.
    Token {
        /// The one algorithm by which it verifies: `HS256`, `RS256`, `ES256` or `EdDSA`.
        algorithm: String,
        /// The id by which tokens name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kid: Option<String>,
        /// A public key in PEM, or for HS256 the shared secret, which must be stored to verify anything.
        material: String,
        /// The last second, since 1970, in which it is believed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_after_s: Option<u64>,
    },
    /// The host site publishes its keys there.
    Jwks {
        /// Where.
        url: String,
    },
}

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Token { algorithm, kid, .. } => f
                .debug_struct("Token")
                .field("algorithm", algorithm)
                .field("kid", kid)
                .finish_non_exhaustive(),
            Self::Jwks { url } => f.debug_struct("Jwks").field("url", url).finish(),
        }
    }
}

impl TokenKey {
    /// What a stored key is for; none if it is not for tokens.
    pub fn of(key: &chat::Key) -> Option<Self> {
        serde_json::from_value(key.purpose.clone()).ok()
    }

    /// The key that verifies, if it is one.
    fn verifying(&self) -> Option<Key> {
        let Self::Token { algorithm, kid, material, not_after_s } = self else { return None };
        let algorithm = Algorithm::named(algorithm)?;
        let made = match algorithm {
            Algorithm::Hs256 => Key::hs256(material.as_bytes()),
            Algorithm::Rs256 | Algorithm::Es256 | Algorithm::EdDsa => {
                Key::pem(material.as_bytes(), algorithm)
            }
        };
        let mut key = made.ok()?;
        if let Some(kid) = kid {
            key = key.with_kid(kid.as_str()).ok()?;
        }
        Some(not_after_s.map_or(key.clone(), |end| key.until(UnixSeconds(end))))
    }
}

/// Those of a community that count, with the guests' own; the newest win where there are more than may be.
pub(super) fn key_set(stored: &[chat::Key], guests: Vec<Key>) -> KeySet {
    let counting = stored.iter().filter(|key| key.revoked.is_none());
    let mut keys: Vec<Key> = counting.filter_map(|key| TokenKey::of(key)?.verifying()).collect();
    let room = KEYS_MAX.saturating_sub(guests.len());
    keys.drain(..keys.len().saturating_sub(room));
    keys.extend(guests);
    loop {
        match KeySet::new(keys.clone()) {
            Ok(set) => return set,
            Err(error) => {
                tracing::warn!(%error, "a community's keys cannot stand together: the oldest is left out");
                keys.remove(0);
            }
        }
    }
}

/// Where a community publishes keys.
pub(super) fn published_at(stored: &[chat::Key]) -> Option<String> {
    let counting = stored.iter().rev().filter(|key| key.revoked.is_none());
    counting.filter_map(TokenKey::of).find_map(|key| match key {
        TokenKey::Jwks { url } => Some(url),
        TokenKey::Token { .. } => None,
    })
}

/// The published keys of communities, kept while their settings are read again.
#[derive(Default)]
pub(super) struct Published {
    by_community: Mutex<HashMap<CommunityId, (String, Arc<Jwks>)>>,
}

/// Communities whose published keys are kept. Past it all are fetched again.
const PUBLISHED_MAX: usize = 10_000;

impl Published {
    /// Those of a community, at that URL.
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
        let read = |purpose: serde_json::Value| serde_json::from_value::<TokenKey>(purpose).ok();
        assert!(read(serde_json::json!({"kind": "server", "prefix": "x", "scopes": []})).is_none());
        let shared = read(serde_json::json!({
            "kind": "token", "algorithm": "HS256", "material": "0123456789abcdef0123456789abcdef"
        }));
        assert!(shared.is_some_and(|key| key.verifying().is_some()));
        let unknown = read(serde_json::json!({"kind": "token", "algorithm": "none", "material": "x"}));
        assert!(unknown.is_some_and(|key| key.verifying().is_none()));
    }

    #[test]
    fn a_shared_secret_does_not_print() {
        let key = TokenKey::Token {
            algorithm: "HS256".into(),
            kid: None,
            material: "very secret".into(),
            not_after_s: None,
        };
        assert!(!format!("{key:?}").contains("secret"));
    }
}
