//! Bans and mutes, reports, the audit log.

use super::ids;
use chat::{AuditId, ConversationId, Deed, PersonId, ReportId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a sanction forbids.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SanctionKind {
    /// To be there.
    Ban,
    /// To write.
    Mute,
}

/// A ban or a mute.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Sanction {
    /// Whom.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// Where; absent: in the whole community.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Made>")]
    conversation: Option<ConversationId>,
    /// What.
    kind: SanctionKind,
    /// When it ends; absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    /// By whom.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// Since when.
    at: u64,
    /// Why.
    reason: String,
}

/// A message that somebody reported.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Report {
    /// Which.
    #[schemars(with = "ids::Made")]
    id: ReportId,
    /// Where the message is.
    #[schemars(with = "ids::Made")]
    conversation: ConversationId,
    /// Which message.
    seq: u64,
    /// Who wrote it.
    #[schemars(with = "ids::Person")]
    author: PersonId,
    /// Who reports it.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// When.
    at: u64,
    /// Why.
    reason: String,
    /// How it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    settled: Option<Settlement>,
}

/// How a report ended.
#[derive(Serialize, JsonSchema)]
struct Settlement {
    /// When.
    at: u64,
    /// By whom.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// What came of it.
    note: String,
}

/// An entry of the audit log.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Audit {
    /// Which.
    #[schemars(with = "ids::Made")]
    id: AuditId,
    /// Where; absent: in the whole community.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Made>")]
    conversation: Option<ConversationId>,
    /// When.
    at: u64,
    /// Who; `~service` is a server key or the operator.
    #[schemars(with = "ids::Person")]
    by: PersonId,
    /// What, such as `ban` or `delete_message`.
    #[schemars(with = "String")]
    deed: Deed,
    /// To whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<ids::Person>")]
    person: Option<PersonId>,
    /// To which message.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// What else is worth knowing.
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
