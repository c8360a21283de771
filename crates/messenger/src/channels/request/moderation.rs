//! Moderation.

use super::{Answering, Asker, page, payload};
use crate::fault::Fault;
use chat::verbs::{
    AuditLog, ImposeSanction, LiftSanction, Listed, Remove, ReportMessage, Reported, Reports, Sanctions,
    SetRole, Settle,
};
use chat::{
    Audit, AuditId, ConversationId, Member, Moment, PersonId, Report, ReportId, Role, Sanction, SanctionKind,
    Seq,
};
use gateway::Payload;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportRequest {
    conversation: Option<ConversationId>,
    seq: Seq,
    #[serde(default)]
    reason: String,
}

pub(super) fn report(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let ReportRequest { conversation, seq, reason } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let report = ReportMessage { conversation, seq, reason };
    Ok(asker.ask_about(conversation, report, |made: Reported| json!({ "report": made.report.id })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportsRequest {
    conversation: Option<ConversationId>,
    after: Option<ReportId>,
    #[serde(default = "page")]
    limit: usize,
}

/// Of the room; on a person's own topic, of the whole community or of the named conversation.
pub(super) fn reports(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let ReportsRequest { conversation, after, limit } = payload(body)?;
    let place = asker.place(conversation)?;
    asker.ask_where(
        place,
        Reports { conversation: place, after, limit },
        |Listed { rows, next }: Listed<Report, ReportId>| json!({ "reports": rows, "next": next }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SettleRequest {
    report: ReportId,
    #[serde(default)]
    note: String,
}

pub(super) fn settle(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let SettleRequest { report, note } = payload(body)?;
    asker.require_all_rooms()?;
    Ok(asker.ask(Settle { report, note }, |report: Report| json!({ "report": report })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PunishRequest {
    conversation: Option<ConversationId>,
    person: PersonId,
    kind: SanctionKind,
    until: Option<Moment>,
    #[serde(default)]
    reason: String,
}

/// In the room; on a person's own topic, in the whole community or in the named conversation.
pub(super) fn punish(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let PunishRequest { conversation, person, kind, until, reason } = payload(body)?;
    let place = asker.place(conversation)?;
    let punish = ImposeSanction { person, conversation: place, kind, until, reason };
    asker.ask_where(place, punish, |sanction: Sanction| json!({ "sanction": sanction }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LiftRequest {
    conversation: Option<ConversationId>,
    person: PersonId,
    kind: SanctionKind,
}

pub(super) fn lift(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let LiftRequest { conversation, person, kind } = payload(body)?;
    let place = asker.place(conversation)?;
    asker.ask_where(place, LiftSanction { person, conversation: place, kind }, |()| json!({}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SanctionsRequest {
    conversation: Option<ConversationId>,
    after: Option<PersonId>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn sanctions(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let SanctionsRequest { conversation, after, limit } = payload(body)?;
    let place = asker.place(conversation)?;
    asker.ask_where(
        place,
        Sanctions { conversation: place, after, limit },
        |Listed { rows, next }: Listed<Sanction, PersonId>| json!({ "sanctions": rows, "next": next }),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoveRequest {
    conversation: Option<ConversationId>,
    person: PersonId,
}

pub(super) fn remove(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let RemoveRequest { conversation, person } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    Ok(asker.ask_about(conversation, Remove { conversation, person }, |()| json!({})))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleRequest {
    conversation: Option<ConversationId>,
    person: PersonId,
    role: Role,
}

pub(super) fn role(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let RoleRequest { conversation, person, role } = payload(body)?;
    let conversation = asker.conversation(conversation)?;
    let set = SetRole { conversation, person, role };
    Ok(asker.ask_about(
        conversation,
        set,
        |member: Member| json!({ "person": member.person, "role": member.role }),
    ))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AuditRequest {
    conversation: Option<ConversationId>,
    before: Option<AuditId>,
    #[serde(default = "page")]
    limit: usize,
}

pub(super) fn audit(asker: &Asker<'_>, body: Payload<'_>) -> Result<Answering, Fault> {
    let AuditRequest { conversation, before, limit } = payload(body)?;
    let place = asker.place(conversation)?;
    asker.ask_where(
        place,
        AuditLog { conversation: place, before, limit },
        |Listed { rows, next }: Listed<Audit, AuditId>| json!({ "audit": rows, "next": next }),
    )
}
