//! What a community's key is for: the meaning of [`chat::Key::purpose`], which the rules keep as JSON.
//!
//! Five kinds of things are kept as keys, because each is something secret, or something believed, that belongs to a
//! community, is made and revoked by its owner, and is written into its audit log: server keys, keys of people's tokens,
//! addresses where such keys are published, endpoints of webhooks, and how the community's site is asked.

use crate::shapes::{Scope, WebhookEvent};
use chat::FieldProblem;
use identity::Target;
use messenger::{AuthorizerKey, PublishedKeys, TokenKey};
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
    Token(TokenKey),
    /// The host site publishes its keys there.
    Jwks(PublishedKeys),
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
