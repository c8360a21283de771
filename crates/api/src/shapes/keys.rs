//! Keys: of the API, and of people's tokens.

use super::ids;
use crate::purpose::Purpose;
use chat::KeyId;
use messenger::TokenKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server key is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Send messages, also as a person.
    Send,
    /// Read and list rooms, people and messages.
    List,
    /// Delete messages, mute and ban, settle reports.
    Moderate,
    /// Make and change rooms, and say who is in them.
    ManageRooms,
    /// Make, change, export and erase people.
    ManagePeople,
    /// Change the community's settings but its limits: its name, look, pages, what guests and people may, and how long it keeps
    /// messages.
    ManageSettings,
    /// Publish to any topic of the community.
    Publish,
    /// See who is present.
    Presence,
}

impl Scope {
    /// Converts it to the type of `identity`.
    pub(crate) const fn meant(self) -> identity::Scope {
        match self {
            Self::Send => identity::Scope::Send,
            Self::List => identity::Scope::List,
            Self::Moderate => identity::Scope::Moderate,
            Self::ManageRooms => identity::Scope::ManageRooms,
            Self::ManagePeople => identity::Scope::ManagePeople,
            Self::ManageSettings => identity::Scope::ManageSettings,
            Self::Publish => identity::Scope::Publish,
            Self::Presence => identity::Scope::Presence,
        }
    }
}

/// A key that is to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// What its owner calls it; up to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) name: String,
    /// What it is for.
    pub(crate) purpose: NewKeyKind,
}

/// What a key that is to be made is for.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum NewKeyKind {
    /// A program uses this API with it.
    Server {
        /// What it may do.
        #[schemars(length(min = 1, max = 7))]
        scopes: Vec<Scope>,
        /// The last second, since 1970, in which it counts.
        #[serde(default)]
        not_after_s: Option<u64>,
    },
    /// The host site signs people's tokens with it.
    Token {
        /// `HS256`, `RS256`, `ES256` or `EdDSA`: the one algorithm by which it verifies.
        #[schemars(regex(pattern = "^(HS256|RS256|ES256|EdDSA)$"))]
        algorithm: String,
        /// The id by which tokens name it (`kid`).
        #[serde(default)]
        #[schemars(length(min = 1, max = 128))]
        kid: Option<String>,
        /// A public key in PEM; for HS256 a secret of at least 32 bytes.
        #[schemars(length(min = 32, max = 4096))]
        material: String,
        /// The last second, since 1970, in which it is believed.
        #[serde(default)]
        not_after_s: Option<u64>,
    },
    /// The host site publishes its keys (RFC 7517).
    Jwks {
        /// Where; begins with `https://`.
        #[schemars(length(max = 2048))]
        url: String,
    },
}

/// A key, without what is secret.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Key {
    /// Which.
    #[schemars(with = "ids::Made")]
    id: KeyId,
    /// What its owner calls it.
    name: String,
    /// What it is for: `server`, `token`, `jwks`, `webhook` or `authorizer`.
    kind: &'static str,
    /// What finds a server key: it stands after `thr_`.
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// What a server key may do.
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<Scope>>,
    /// The algorithm of a token's key.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    /// The id by which tokens name a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    /// Where keys are published, or a host site is told or asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// The last second, since 1970, in which it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_after_s: Option<u64>,
    /// When it was made.
    created: u64,
    /// Since when it is no longer accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<u64>,
    /// The key itself: told this once, in the answer that makes it, and kept only as a hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl From<chat::Key> for Key {
    fn from(key: chat::Key) -> Self {
        let purpose = Purpose::of(&key);
        let mut shown = Self {
            id: key.id,
            name: key.name,
            kind: "unknown",
            prefix: None,
            scopes: None,
            algorithm: None,
            kid: None,
            url: None,
            not_after_s: None,
            created: key.created.millis(),
            revoked: key.revoked.map(chat::Moment::millis),
            key: None,
        };
        match purpose {
            None => {}
            Some(Purpose::Server { prefix, scopes, not_after_s }) => {
                (shown.kind, shown.prefix, shown.scopes) = ("server", Some(prefix), Some(scopes));
                shown.not_after_s = not_after_s;
            }
            Some(Purpose::Token(TokenKey { algorithm, kid, material: _, not_after_s })) => {
                (shown.kind, shown.algorithm, shown.kid) = ("token", Some(algorithm), kid);
                shown.not_after_s = not_after_s;
            }
            Some(Purpose::Jwks(published)) => (shown.kind, shown.url) = ("jwks", Some(published.url)),
            Some(Purpose::Webhook { url, .. }) => (shown.kind, shown.url) = ("webhook", Some(url)),
            Some(Purpose::Authorizer(key)) => (shown.kind, shown.url) = ("authorizer", Some(key.url)),
        }
        shown
    }
}

impl Key {
    /// Adds the text of a server key that was just created.
    pub(crate) fn with_text(mut self, text: &str) -> Self {
        self.key = Some(text.to_owned());
        self
    }
}
