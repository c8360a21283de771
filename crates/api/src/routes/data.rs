//! Retention, export and erasure.

use super::paths::{AtConversation, AtPerson};
use crate::caller::Callers;
use crate::input::Input;
use crate::operation::{Group, operation};
use crate::problem::{Code, Problem};
use crate::reply::{Found, Lines};
use crate::request_context::RequestContext;
use crate::shapes::{CommunityErasure, ConversationErasure, Erasure, Scope};
use axum::http::Method;
use bytes::Bytes;
use chat::rows::Record;
use chat::verbs::{
    Erase, EraseCommunity, EraseConversation, ErasureReport, Expire, Export, ExportPosition, Exported,
    ReadPerson,
};
use chat::{By, PersonId, verbs};
use identity::{Revoked, UnixSeconds};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::mpsc;

/// Steps of an erasure or an expiry per request: each is a transaction of up to 200 records.
const STEPS_MAX: usize = 100;
/// Parts of an export that are buffered for a slow reader.
const PARTS_WAITING_MAX: usize = 2;

pub(super) fn group() -> Group {
    Group {
        name: "Data",
        about: "Export, erasure and retention.",
        operations: vec![
            operation(Method::GET, "/communities/{community}/export", "export_community", "Export a community")
                .about("Everything except keys, one record per line.")
                .runs(export_community),
            operation(
                Method::GET,
                "/communities/{community}/people/{person}/export",
                "export_person",
                "Export a person's data",
            )
            .by(Callers::keys_and_people(Scope::ManagePeople))
            .runs(export_person),
            operation(Method::DELETE, "/communities/{community}/people/{person}", "erase_person", "Erase a person")
                .by(Callers::keys_and_people(Scope::ManagePeople))
                .about(
                    "First, all tokens that were issued to them until now are revoked, so that none of them \
                     creates the person again. Their messages become tombstones without a sender; their search \
                     entries, reactions, memberships and cursors are removed. If the response has `done: false`, \
                     repeat the request; people need a newer token for that.",
                )
                .runs(erase),
            operation(
                Method::DELETE,
                "/communities/{community}/conversations/{conversation}",
                "erase_conversation",
                "Erase a room or a group",
            )
            .by(Callers::keys_and_people(Scope::ManageRooms))
            .about(
                "Erases the conversation with everything in it. Its owner may do so, and owners of the community may erase a \
                 room. From then on nobody can access it, and a room's name becomes free when nothing is left. The audit log \
                 keeps that it was erased. If the response has `done: false`, repeat the request. Direct conversations of two \
                 cannot be erased this way.",
            )
            .runs(erase_conversation),
            operation(Method::DELETE, "/communities/{community}", "erase_community", "Erase a community")
                .about(
                    "Erases everything in the community, starting with its keys and people's connections. From \
                     then on nobody can access it, and its name becomes free when nothing is left. If the response \
                     has `done: false`, repeat the request.",
                )
                .goes_on()
                .runs(erase_community),
            operation(
                Method::POST,
                "/communities/{community}/retention",
                "apply_retention",
                "Apply the retention period now",
            )
            .about("Deletes messages older than the community keeps. The server also does this regularly by itself.")
            .runs(apply_retention),
        ],
    }
}

async fn export_community(context: RequestContext, _: Input) -> Result<Lines, Problem> {
    export(context, By::Service, None).await
}

async fn export_person(context: RequestContext, input: Input<AtPerson>) -> Result<Lines, Problem> {
    let person = input.path.person;
    let by = context.by_person(&person)?;
    // Distinguishes a person who does not exist from one who has not written anything.
    context.ask_as(by.clone(), ReadPerson { person: person.clone() }).await?;
    export(context, by, Some(person)).await
}

/// The first part shows whether it is possible at all; the rest is streamed as it is read.
async fn export(context: RequestContext, by: By, person: Option<PersonId>) -> Result<Lines, Problem> {
    let first = context.ask_as(by.clone(), Export { person: person.clone(), after: None }).await?;
    let (parts, lines) = mpsc::channel(PARTS_WAITING_MAX);
    tokio::spawn(async move {
        let mut part = first;
        // If the last line is missing, a reader knows that the export is incomplete.
        while send(&parts, &part).await {
            let Some(after) = part.next else {
                let _ = parts.send(Bytes::from_static(b"{\"end\":true}\n")).await;
                return;
            };
            match next_part(&context, &by, &person, after).await {
                Ok(next) => part = next,
                Err(problem) => {
                    return tracing::warn!(code = problem.code().name(), "an export stopped before its end");
                }
            }
        }
    });
    Ok(Lines(lines))
}

async fn next_part(
    context: &RequestContext,
    by: &By,
    person: &Option<PersonId>,
    after: ExportPosition,
) -> Result<Exported, Problem> {
    context.ask_as(by.clone(), Export { person: person.clone(), after: Some(after) }).await
}

/// Returns whether the reader is still there.
async fn send(parts: &mpsc::Sender<Bytes>, part: &Exported) -> bool {
    let mut lines = Vec::new();
    for record in &part.records {
        // Keys contain secrets with which others could impersonate the host site.
        if matches!(record, Record::Key(_)) {
            continue;
        }
        if let Err(error) = serde_json::to_writer(&mut lines, record) {
            tracing::error!(%error, "a record cannot be exported");
            return false;
        }
        lines.push(b'\n');
    }
    lines.is_empty() || parts.send(Bytes::from(lines)).await.is_ok()
}

async fn erase(context: RequestContext, input: Input<AtPerson>) -> Result<Found<Erasure>, Problem> {
    let by = match context.by_person(&input.path.person)? {
        // A key erases on behalf of the community, and the audit log says so.
        By::Person(_) if context.is_service() => By::Service,
        by => by,
    };
    let person = &input.path.person;
    // For a person who does not exist no revocation is stored, as their number is limited.
    context.ask_as(By::Service, ReadPerson { person: person.clone() }).await?;
    // This precedes the first step, because coming in writes the person: a client that reconnects would undo the
    // erasure.
    let issued_until_now = Revoked::IssuedUntil(UnixSeconds(context.now.millis() / 1_000));
    context.shared.messenger.revoke(context.community()?, person, issued_until_now).await?;
    let report = in_steps(
        || context.ask_as(by.clone(), Erase { person: person.clone() }),
        ErasureReport::add,
        |report| &mut report.done,
    )
    .await?;
    Ok(Found(report.into()))
}

async fn erase_conversation(
    context: RequestContext,
    input: Input<AtConversation>,
) -> Result<Found<ConversationErasure>, Problem> {
    let which = context.find_to_erase(&input.path.conversation).await?;
    let report = in_steps(
        || context.ask(EraseConversation { which: which.clone() }),
        verbs::ConversationErasure::add,
        |report| &mut report.done,
    )
    .await?;
    Ok(Found(report.into()))
}

async fn erase_community(context: RequestContext, _: Input) -> Result<Found<CommunityErasure>, Problem> {
    let report = in_steps(
        || context.ask_as(By::Service, EraseCommunity),
        verbs::CommunityErasure::add,
        |report| &mut report.done,
    )
    .await?;
    Ok(Found(report.into()))
}

/// Runs the steps of an erasure until it is complete, at most [`STEPS_MAX`], and adds up what they report. After the first
/// step a failure is only logged, because nobody but the requester learns what the earlier steps have erased; if there is
/// nothing left to erase, somebody else has completed it.
///
/// # Errors
/// The first step failed.
async fn in_steps<R: Default, F: Future<Output = Result<R, Problem>>>(
    step: impl Fn() -> F,
    add: fn(&mut R, R),
    done: fn(&mut R) -> &mut bool,
) -> Result<R, Problem> {
    let mut report = R::default();
    for number in 0..STEPS_MAX {
        match step().await {
            Ok(part) => add(&mut report, part),
            Err(problem) if number == 0 => return Err(problem),
            Err(problem) => {
                let code = problem.code();
                tracing::warn!(
                    code = code.name(),
                    step = number,
                    "an erasure was interrupted: it must be requested again"
                );
                *done(&mut report) = code == Code::NotFound;
            }
        }
        if *done(&mut report) {
            break;
        }
    }
    Ok(report)
}

/// What was deleted.
#[derive(Serialize, JsonSchema)]
struct Dropped {
    /// The number of messages.
    messages: u64,
    /// Ids of the files that they referred to.
    attachments: Vec<String>,
    /// Whether there is more to delete: if so, repeat the request.
    more: bool,
}

async fn apply_retention(context: RequestContext, _: Input) -> Result<Found<Dropped>, Problem> {
    let mut dropped = Dropped { messages: 0, attachments: Vec::new(), more: true };
    for _ in 0..STEPS_MAX {
        let expired = context.ask_as(By::Service, Expire).await?;
        dropped.messages += expired.messages;
        dropped.attachments.extend(expired.attachments);
        dropped.more = expired.more;
        if !expired.more {
            break;
        }
    }
    Ok(Found(dropped))
}
