//! Parameters in the paths and queries of several operations.

use crate::shapes::ids::{self, Limit, Place, Reference};
use chat::PersonId;
use schemars::JsonSchema;
use serde::Deserialize;

/// A conversation.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtConversation {
    /// Its id, or `room:` and the name of a room.
    pub(super) conversation: Reference,
}

/// A message of a conversation.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtMessage {
    /// The conversation's id, or `room:` and the name of a room.
    pub(super) conversation: Reference,
    /// The message's `seq`.
    pub(super) seq: Place,
}

/// A person.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtPerson {
    /// The person's id.
    #[schemars(with = "ids::Person")]
    pub(super) person: PersonId,
}

/// A person in a conversation.
#[derive(Deserialize, JsonSchema)]
pub(super) struct AtMember {
    /// The conversation's id, or `room:` and the name of a room.
    pub(super) conversation: Reference,
    /// The person's id.
    #[schemars(with = "ids::Person")]
    pub(super) person: PersonId,
}

/// Pages forward.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct After {
    /// The `next` of the previous page.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub(super) after: Option<String>,
    /// The maximum number of rows.
    #[serde(default)]
    pub(super) limit: Option<Limit>,
}

/// Pages forward, of one conversation or of the community.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AfterIn {
    /// The conversation: its id, or `room:` and the name of a room; absent: the whole community.
    #[serde(default)]
    pub(super) conversation: Option<Reference>,
    /// The `next` of the previous page.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    pub(super) after: Option<String>,
    /// The maximum number of rows.
    #[serde(default)]
    pub(super) limit: Option<Limit>,
}

/// One conversation or the community.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct In {
    /// The conversation: its id, or `room:` and the name of a room; absent: the whole community.
    #[serde(default)]
    pub(super) conversation: Option<Reference>,
}
