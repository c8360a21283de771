//! What a community's key is for: the meaning of [`chat::Key::purpose`], which the rules keep as JSON.
//!
//! Four kinds of things are kept as keys, because each is something secret, or something believed, that belongs to a
//! community, is made and revoked by its owner, and is written into its audit log: server keys, keys of person's tokens,
//! addresses where such keys are published, and endpoints of webhooks.

use crate::shapes::{Scope, WebhookEvent};
use chat::FieldProblem;
use identity::{Algorithm, BadKey, Key, Target, UnixSeconds};
use messenger::AuthorizerKey;
use serde::{Deserialize, Serialize};

/// What a key is for, as it is stored.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Purpose {
    /// A program of the host site uses the API with it. Its hash stands in [`chat::Key::hash`].
    Server {
        /// What finds it; no secret.
        prefix: String,
        /// What it is for.
        scopes: Vec<Scope>,
        /// The last second, since 1970, in which it counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_after_s: Option<u64>,
    },
    /// The host site signs people's tokens with it.
    Token {
        /// The one algorithm by which it verifies.
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
    /// The host site is told there what happens.
    Webhook {
        /// Where.
        url: String,
        /// What it is told.
        events: Vec<WebhookEvent>,
        /// What requests are signed with, which must be stored to sign anything.
        secret: String,
    },
    /// The host site is asked there whether somebody may.
    Authorizer(AuthorizerKey),
}

impl Purpose {
    /// Reads what is stored; none if it is of a kind that this version does not know.
    pub(crate) fn of(key: &chat::Key) -> Option<Self> {
        let purpose = serde_json::from_value(key.purpose.clone());
        purpose
            .inspect_err(|error| tracing::warn!(key = %key.id, %error, "a key's purpose is not known"))
            .ok()
    }

    /// As it is stored.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        // Texts, lists and numbers alone are always JSON.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A key that verifies tokens.
///
/// # Errors
/// What is wrong with it, at the field of a request that has it.
pub(crate) fn token_key(
    algorithm: &str,
    kid: Option<&str>,
    material: &str,
    not_after_s: Option<u64>,
) -> Result<Key, FieldProblem> {
    let wrong =
        |field: &str, message: String| FieldProblem { field: field.to_owned(), code: "form", message };
    let named = Algorithm::named(algorithm)
        .ok_or_else(|| wrong("algorithm", "must be HS256, RS256, ES256 or EdDSA".to_owned()))?;
    let made = match named {
        Algorithm::Hs256 => Key::hs256(material.as_bytes()),
        Algorithm::Rs256 | Algorithm::Es256 | Algorithm::EdDsa => Key::pem(material.as_bytes(), named),
    };
    let made = made.map_err(|error: BadKey| wrong("material", error.to_string()))?;
    let named = match kid {
        Some(kid) => made.with_kid(kid).map_err(|error| wrong("kid", error.to_string()))?,
        None => made,
    };
    Ok(match not_after_s {
        Some(not_after_s) => named.until(UnixSeconds(not_after_s)),
        None => named,
    })
}

/// A URL of a host site.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn target(url: &str) -> Result<Target, FieldProblem> {
    Target::parse(url).map_err(|error| FieldProblem {
        field: "url".into(),
        code: "form",
        message: error.to_string(),
    })
}
