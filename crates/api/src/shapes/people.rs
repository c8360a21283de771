//! People.

use super::ids;
use chat::PersonId;
use chat::verbs::ErasureReport;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A person of a community.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Person {
    /// Who.
    #[schemars(with = "ids::Person")]
    id: PersonId,
    /// Their name.
    name: String,
    /// A picture's URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    avatar: Option<String>,
    /// Whether they have no account.
    guest: bool,
    /// Their role in every room of the community, at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<Role>,
    /// When they came first.
    created: u64,
    /// Whether others learn what they have read.
    receipts: bool,
    /// When they were here last, to the minute; 0 if never, or for who shares no conversation with them.
    seen: u64,
}

/// What others see of a person.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// Their name; up to 200 bytes.
    #[schemars(length(min = 1, max = 200), example = &"Ann")]
    pub(crate) name: String,
    /// A picture's URL, which begins with `https://`.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub(crate) avatar: Option<String>,
    /// A role in every room of the community, at least: `moderator` or `owner`.
    #[serde(default)]
    pub(crate) role: Option<Role>,
}

/// A role. A later one has more to say.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Without an account.
    Guest,
    /// A member.
    Member,
    /// Keeps order.
    Moderator,
    /// May do everything.
    Owner,
}

/// That somebody blocks somebody.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Block {
    /// Who is blocked.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// Since when.
    at: u64,
}

/// What was erased of a person.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Erasure {
    /// Messages that became tombstones.
    messages: u64,
    /// Mentions of them that were taken out of others' messages.
    mentions: u64,
    /// Reactions.
    reactions: u64,
    /// Conversations that they were in.
    memberships: u64,
    /// Blocks, by them and of them.
    blocks: u64,
    /// Invitations, by them and for them.
    invitations: u64,
    /// Sanctions that were lifted, or whose author was forgotten.
    sanctions: u64,
    /// Reports and entries of the audit log that forgot them.
    records: u64,
    /// Ids of files of theirs.
    attachments: Vec<String>,
    /// Whether nothing is left; otherwise send the request again.
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
