//! People.

use super::ids;
use chat::PersonId;
use chat::verbs::ErasureReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A person of a community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Person {
    /// Their id.
    #[schemars(with = "ids::Person")]
    id: PersonId,
    /// Their name.
    name: String,
    /// The URL of their picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar: Option<String>,
    /// Whether they are a guest, without an account.
    guest: bool,
    /// Their minimum role in every room of the community.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    /// When they first appeared.
    created: u64,
    /// Whether others can see what they have read.
    receipts: bool,
    /// When they were last online, to the minute; 0 if never, or if the caller shares no conversation with them.
    seen: u64,
}

/// A person's profile.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// Their name; up to 200 bytes.
    #[schemars(length(min = 1, max = 200), example = &"Ann")]
    pub(crate) name: String,
    /// The URL of their picture; begins with `https://`.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub(crate) avatar: Option<String>,
    /// Their minimum role in every room of the community: `moderator` or `owner`.
    #[serde(default)]
    pub(crate) role: Option<Role>,
}

/// A role, from the fewest permissions to the most.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// A person without an account.
    Guest,
    /// A member.
    Member,
    /// Moderates: may delete messages, mute and ban.
    Moderator,
    /// May do everything.
    Owner,
}

/// A person's block of another person.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Block {
    /// Who is blocked.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// When they were blocked.
    at: u64,
}

/// What was erased of a person.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Erasure {
    /// Messages that became tombstones.
    messages: u64,
    /// Mentions of them that were removed from other people's messages.
    mentions: u64,
    /// Reactions that were removed.
    reactions: u64,
    /// Conversations that they were a member of.
    memberships: u64,
    /// Blocks by them and of them.
    blocks: u64,
    /// Invitations by them and for them.
    invitations: u64,
    /// Sanctions that were lifted, or from which their name as the author was removed.
    sanctions: u64,
    /// Reports and audit log entries from which they were removed.
    records: u64,
    /// Ids of their files.
    attachments: Vec<String>,
    /// Whether nothing is left. If `false`, repeat the request.
    done: bool,
}

impl From<chat::Person> for Person {
    fn from(person: chat::Person) -> Self {
        Self {
            id: person.id,
            name: person.profile.name,
            avatar: person.profile.avatar,
            guest: person.profile.guest,
            role: person.profile.role.map(Role::from),
            created: person.created.millis(),
            receipts: person.receipts,
            seen: person.seen.millis(),
        }
    }
}

impl From<chat::Role> for Role {
    fn from(role: chat::Role) -> Self {
        match role {
            chat::Role::Guest => Self::Guest,
            chat::Role::Member => Self::Member,
            chat::Role::Moderator => Self::Moderator,
            chat::Role::Owner => Self::Owner,
        }
    }
}

impl From<Role> for chat::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Guest => Self::Guest,
            Role::Member => Self::Member,
            Role::Moderator => Self::Moderator,
            Role::Owner => Self::Owner,
        }
    }
}

impl From<chat::Block> for Block {
    fn from(block: chat::Block) -> Self {
        Self { person: block.person, at: block.at.millis() }
    }
}

impl From<ErasureReport> for Erasure {
    fn from(report: ErasureReport) -> Self {
        let ErasureReport {
            messages,
            mentions,
            reactions,
            memberships,
            blocks,
            invitations,
            sanctions,
            records,
            attachments,
            changed: _,
            vanished: _,
            done,
        } = report;
        Self {
            messages,
            mentions,
            reactions,
            memberships,
            blocks,
            invitations,
            sanctions,
            records,
            attachments,
            done,
        }
    }
}
