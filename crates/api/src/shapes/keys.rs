//! Keys: of the API, and of people's tokens.

use super::ids;
use crate::purpose::Purpose;
use chat::KeyId;
use messenger::TokenKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server key allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// Send messages, also as a person.
    Send,
    /// Read and list rooms, people and messages.
    List,
    /// Delete messages, mute and ban people, settle reports.
    Moderate,
    /// Create and change rooms, and manage their members.
    ManageRooms,
    /// Create, change, export and erase people.
    ManagePeople,
    /// Change the community's settings except its limits: name, appearance, origins, what guests and people may do,
    /// and how long messages are kept.
    ManageSettings,
    /// Publish to any topic of the community.
    Publish,
    /// See who is present.
    Presence,
}

impl Scope {
    /// All scopes.
    const ALL: [Self; 8] = [
        Self::Send,
        Self::List,
        Self::Moderate,
        Self::ManageRooms,
        Self::ManagePeople,
        Self::ManageSettings,
        Self::Publish,
        Self::Presence,
    ];

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

/// A new key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// A name for it; up to 200 bytes.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) name: String,
    /// Its purpose.
    pub(crate) purpose: NewKeyKind,
}

/// The purpose of a new key.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum NewKeyKind {
    /// A server key, with which a program uses this API.
    Server {
        /// What the key allows.
        #[schemars(length(min = 1, max = Scope::ALL.len()))]
        scopes: Vec<Scope>,
        /// When it expires: the last second of its validity, as seconds since 1970.
        #[serde(default)]
        not_after_s: Option<u64>,
    },
    /// A key with which the host site signs people's tokens.
    Token {
        /// The only algorithm that it verifies: `HS256`, `RS256`, `ES256` or `EdDSA`.
        #[schemars(regex(pattern = "^(HS256|RS256|ES256|EdDSA)$"))]
        algorithm: String,
        /// The id by which tokens refer to it (`kid`).
        #[serde(default)]
        #[schemars(length(min = 1, max = 128))]
        kid: Option<String>,
        /// A public key in PEM format; for HS256 a secret of at least 32 bytes.
        #[schemars(length(min = 32, max = 4096))]
        material: String,
        /// When it expires: the last second of its validity, as seconds since 1970.
        #[serde(default)]
        not_after_s: Option<u64>,
    },
    /// A key set (RFC 7517) that the host site publishes.
    Jwks {
        /// The URL of the key set; begins with `https://`.
        #[schemars(length(max = 2048))]
        url: String,
    },
}

/// A key, without its secret.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Key {
    /// Its id.
    #[schemars(with = "ids::Made")]
    id: KeyId,
    /// Its name.
    name: String,
    /// Its kind: `server`, `token`, `jwks`, `webhook` or `authorizer`.
    kind: &'static str,
    /// The part of a server key that identifies it: it follows `thr_`.
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    /// What a server key allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<Vec<Scope>>,
    /// The algorithm of a token key.
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    /// The id by which tokens refer to the key (`kid`).
    #[serde(skip_serializing_if = "Option::is_none")]
    kid: Option<String>,
    /// The URL of a key set, webhook endpoint or authorizer.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// When it expires: the last second of its validity, as seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_after_s: Option<u64>,
    /// When it was created.
    created: u64,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<u64>,
    /// The text of a server key. Only present in the response that creates it; the server stores only a hash.
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

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::schema_for;

    #[test]
    fn a_key_may_have_every_scope_of_a_community() {
        let of_communities: Vec<identity::Scope> = identity::Scope::ALL
            .into_iter()
            .filter(|scope| *scope != identity::Scope::ManageCommunities)
            .collect();
        assert_eq!(Scope::ALL.map(Scope::meant).to_vec(), of_communities);
        let schema = schema_for!(NewKeyKind).to_value();
        assert_eq!(schema["oneOf"][0]["properties"]["scopes"]["maxItems"], Scope::ALL.len());
    }
}
