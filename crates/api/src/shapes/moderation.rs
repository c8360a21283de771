//! Bans and mutes, reports, the audit log.

use super::ids;
use chat::{AuditAction, AuditId, ConversationId, PersonId, ReportId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a sanction forbids.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SanctionKind {
    /// Being in the conversation or community.
    Ban,
    /// Writing.
    Mute,
}

/// A ban or a mute.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sanction {
    /// The person.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// The conversation; absent: the whole community.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Made>")]
    conversation: Option<ConversationId>,
    /// Whether it is a ban or a mute.
    kind: SanctionKind,
    /// When it ends; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    /// Who imposed it.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// When it was imposed.
    at: u64,
    /// The reason.
    reason: String,
}

/// A report of a message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Its id.
    #[schemars(with = "ids::Made")]
    id: ReportId,
    /// The conversation of the message.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// The `seq` of the message.
    seq: u64,
    /// The author of the message.
    #[schemars(with = "ids::Person")]
    author: PersonId,
    /// Who reported it.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// When it was reported.
    at: u64,
    /// The reason.
    reason: String,
    /// How it was settled; absent if it is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    settled: Option<Settlement>,
}

/// How a report was settled.
#[derive(Serialize, JsonSchema)]
struct Settlement {
    /// When it was settled.
    at: u64,
    /// Who settled it.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// The outcome.
    note: String,
}

/// An entry of the audit log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Audit {
    /// Its id.
    #[schemars(with = "ids::Made")]
    id: AuditId,
    /// The conversation; absent: the whole community.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Made>")]
    conversation: Option<ConversationId>,
    /// When it happened.
    at: u64,
    /// Who did it; `~service` is a server key or the operator.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// The action, such as `ban` or `delete_message`.
    #[schemars(with = "String")]
    deed: AuditAction,
    /// The person whom it affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Person>")]
    person: Option<PersonId>,
    /// The `seq` of the message that it affected.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// Further details.
    note: String,
}

impl From<SanctionKind> for chat::SanctionKind {
    fn from(kind: SanctionKind) -> Self {
        match kind {
            SanctionKind::Ban => Self::Ban,
            SanctionKind::Mute => Self::Mute,
        }
    }
}

impl From<chat::Sanction> for Sanction {
    fn from(sanction: chat::Sanction) -> Self {
        Self {
            person: sanction.person,
            conversation: sanction.conversation,
            kind: match sanction.kind {
                chat::SanctionKind::Ban => SanctionKind::Ban,
                chat::SanctionKind::Mute => SanctionKind::Mute,
            },
            until: sanction.until.map(chat::Moment::millis),
            by: sanction.by,
            at: sanction.at.millis(),
            reason: sanction.reason,
        }
    }
}

impl From<chat::Report> for Report {
    fn from(report: chat::Report) -> Self {
        Self {
            id: report.id,
            conversation: report.conversation,
            seq: report.seq.0,
            author: report.author,
            by: report.by,
            at: report.at.millis(),
            reason: report.reason,
            settled: report.settled.map(|settled| Settlement {
                at: settled.at.millis(),
                by: settled.by,
                note: settled.note,
            }),
        }
    }
}

impl From<chat::Audit> for Audit {
    fn from(audit: chat::Audit) -> Self {
        Self {
            id: audit.id,
            conversation: audit.conversation,
            at: audit.at.millis(),
            by: audit.by,
            deed: audit.deed,
            person: audit.person,
            seq: audit.seq.map(|seq| seq.0),
            note: audit.note,
        }
    }
}
