//! The purposes of a community's keys: the meaning of [`chat::Key::purpose`], which the rules keep as JSON.
//!
//! Five kinds of things are stored as keys, because each is a secret or a trust anchor that belongs to a community, is
//! created and revoked by its owner, and is recorded in its audit log: server keys, keys of people's tokens, URLs where
//! such keys are published, webhook endpoints, and how the community's site is asked.

use crate::shapes::{Scope, WebhookEvent};
use chat::FieldProblem;
use identity::Target;
use messenger::{AuthorizerKey, PublishedKeys, TokenKey};
use serde::{Deserialize, Serialize};

/// The purpose of a key, as stored.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Purpose {
    /// A program of the host site uses the API with it. Its hash is in [`chat::Key::hash`].
    Server {
        /// The part that identifies it; not secret.
        prefix: String,
        /// Its scopes.
        scopes: Vec<Scope>,
        /// The last second, since 1970, in which it is valid.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        not_after_s: Option<u64>,
    },
    /// The host site signs people's tokens with it.
    Token(TokenKey),
    /// The host site publishes its keys at this URL.
    Jwks(PublishedKeys),
    /// The host site is notified there of what happens.
    Webhook {
        /// The URL.
        url: String,
        /// The events to send.
        events: Vec<WebhookEvent>,
        /// The secret that signs requests; it must be stored, as it is needed to sign.
        secret: String,
    },
    /// The host site is asked there for permission.
    Authorizer(AuthorizerKey),
}

impl Purpose {
    /// Reads a stored purpose; `None` if this version does not know its kind.
    pub(crate) fn of(key: &chat::Key) -> Option<Self> {
        let purpose = serde_json::from_value(key.purpose.clone());
        purpose
            .inspect_err(|error| tracing::warn!(key = %key.id, %error, "a stored key has an unknown purpose"))
            .ok()
    }

    /// Returns it as it is stored.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        // Texts, lists and numbers always serialize.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Parses a URL of a host site.
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
