//! Parameters in the paths and queries of several operations.

use crate::shapes::ids::{self, Limit, Place, Reference};
use chat::PersonId;
use schemars::JsonSchema;
use serde::Deserialize;

/// A conversation.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtConversation {
    /// Its id, or `room:` and a room's name.
    pub(super) conversation: Reference,
}

/// A message of a conversation.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtMessage {
    /// The conversation's id, or `room:` and a room's name.
    pub(super) conversation: Reference,
    /// The message's place in it.
    pub(super) seq: Place,
}

/// A person.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtPerson {
    /// Who.
    #[schemars(with = "ids::Person")]
    pub(super) person: PersonId,
}

/// A person in a conversation.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtMember {
    /// The conversation's id, or `room:` and a room's name.
    pub(super) conversation: Reference,
    /// Who.
    #[schemars(with = "ids::Person")]
    pub(super) person: PersonId,
}

/// Pages forward.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    /// The last page's `next`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub(super) after: Option<String>,
    /// How many rows, at most.
    #[serde(default)]
    pub(super) limit: Option<Limit>,
}

/// Pages forward, of one conversation or of the community.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AfterIn {
    /// Of which conversation: its id, or `room:` and a room's name; without it, of the whole community.
    #[serde(default)]
    pub(super) conversation: Option<Reference>,
    /// The last page's `next`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub(super) after: Option<String>,
    /// How many rows, at most.
    #[serde(default)]
    pub(super) limit: Option<Limit>,
}

/// One conversation or the community.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct In {
    /// In which conversation: its id, or `room:` and a room's name; without it, in the whole community.
    #[serde(default)]
    pub(super) conversation: Option<Reference>,
}
