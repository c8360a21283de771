//! Bans, mutes, and the audit log. Slow mode is a conversation's; deleting is a message's.

use super::paths::{AfterIn, In};
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Done, Found};
use crate::request_context::{RequestContext, cursor};
use crate::shapes::ids::{self, Limit, Reference, limit_or_default};
use crate::shapes::{Audit, Page, Sanction, SanctionKind, Scope};
use axum::http::Method;
use chat::verbs::{AuditLog, ImposeSanction, LiftSanction, Sanctions};
use chat::{AuditId, PersonId};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let (all, one) =
        ("/communities/{community}/sanctions", "/communities/{community}/sanctions/{kind}/{person}");
    let moderators = Callers::keys_and_people(Scope::Moderate);
    Group {
        name: "Moderation",
        about: "Bans, mutes and the audit log: of one room, for its moderators; of the whole community, for \
             community-wide moderators.",
        operations: vec![
            operation(Method::GET, all, "list_sanctions", "List bans and mutes").by(moderators).runs(list),
            operation(Method::PUT, one, "punish", "Ban or mute a person")
                .by(moderators)
                .about("Replaces an earlier one of the same kind.")
                .runs(punish),
            operation(Method::DELETE, one, "lift", "Lift a ban or a mute").by(moderators).runs(lift),
            operation(
                Method::GET,
                "/communities/{community}/audit",
                "read_audit_log",
                "List the audit log, newest first",
            )
            .by(moderators)
            .runs(audit),
        ],
    }
}

async fn list(
    context: RequestContext,
    input: Input<Nothing, AfterIn>,
) -> Result<Found<Page<Sanction>>, Problem> {
    let AfterIn { conversation, after, limit } = input.query;
    let after = cursor("after", after.as_deref(), PersonId::parse)?;
    let conversation = context.find_if_named(conversation.as_ref()).await?;
    let listed = context.ask(Sanctions { conversation, after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Sanction::from, |id| id.to_string())))
}

#[derive(Deserialize, JsonSchema)]
struct AtSanction {
    /// The kind of sanction.
    kind: SanctionKind,
    /// The person.
    #[schemars(with = "ids::Person", example = &"bob")]
    person: PersonId,
}

/// The terms of a ban or mute.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Terms {
    /// When it ends; absent: never.
    #[serde(default)]
    until: Option<ids::When>,
    /// The reason, shown to moderators; up to 1,000 bytes.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    reason: String,
}

async fn punish(
    context: RequestContext,
    input: Input<AtSanction, In, Json<Terms>>,
) -> Result<Found<Sanction>, Problem> {
    let conversation = context.find_if_named(input.query.conversation.as_ref()).await?;
    let AtSanction { kind, person } = input.path;
    let Terms { until, reason } = input.body.0;
    let until = until.map(ids::When::moment);
    let sanction =
        context.ask(ImposeSanction { person, conversation, kind: kind.into(), until, reason }).await?;
    Ok(Found(sanction.into()))
}

async fn lift(context: RequestContext, input: Input<AtSanction, In>) -> Result<Done, Problem> {
    let conversation = context.find_if_named(input.query.conversation.as_ref()).await?;
    let AtSanction { kind, person } = input.path;
    context.ask(LiftSanction { person, conversation, kind: kind.into() }).await?;
    Ok(Done)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The conversation: its id, or `room:` and the name of a room; absent: the whole community.
    #[serde(default)]
    conversation: Option<Reference>,
    /// The `next` of the previous page.
    #[serde(default)]
    #[schemars(length(min = 26, max = 26))]
    before: Option<String>,
    /// The maximum number of rows.
    #[serde(default)]
    limit: Option<Limit>,
}

async fn audit(context: RequestContext, input: Input<Nothing, Which>) -> Result<Found<Page<Audit>>, Problem> {
    let Which { conversation, before, limit } = input.query;
    let before = cursor("before", before.as_deref(), AuditId::parse)?;
    let conversation = context.find_if_named(conversation.as_ref()).await?;
    let listed = context.ask(AuditLog { conversation, before, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Audit::from, |id| id.to_string())))
}
