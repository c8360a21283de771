//! Messages: sending, reading, editing, deleting, reacting.

use super::paths::{AtConversation, AtMessage};
use crate::caller::Callers;
use crate::idempotency;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, Operation, operation};
use crate::problem::Problem;
use crate::reply::{Found, MadeOnce};
use crate::request_context::{RequestContext, invalid};
use crate::shapes::ids::{self, ChangeCount, Limit, Place, Reference, limit_or_default};
use crate::shapes::{Draft, Edit, EditedText, History, List, Message, Receipts, Scope};
use axum::http::Method;
use chat::verbs::{
    Append, Around, Changed, Delete, EditText, EditsOf, React, ReadMessage, ReadPage, ReadReceipts,
};
use chat::{MessageId, Revision};
use schemars::JsonSchema;
use serde::Deserialize;

const ALL: &str = "/communities/{community}/conversations/{conversation}/messages";
const ONE: &str = "/communities/{community}/conversations/{conversation}/messages/{seq}";
const REACTION: &str =
    "/communities/{community}/conversations/{conversation}/messages/{seq}/reactions/{emoji}";

pub(super) fn group() -> Group {
    Group {
        name: "Messages",
        about: "A message's `seq` is its position in its conversation, without gaps; its `id` identifies it in \
             URLs. A message is stored durably before the response is sent.",
        operations: reading().into_iter().chain(writing()).collect(),
    }
}

fn reading() -> Vec<Operation> {
    let readers = Callers::keys_and_people(Scope::List);
    vec![
        operation(Method::GET, ALL, "list_messages", "List a page of messages")
            .by(readers)
            .about(
                "Returns the newest messages, or those selected by one of `before`, `after`, `around` and \
                 `changed_since`.",
            )
            .runs(page),
        operation(
            Method::GET,
            "/communities/{community}/messages/{message}",
            "read_message",
            "Get a message",
        )
        .by(readers)
        .runs(read),
        operation(
            Method::GET,
            "/communities/{community}/conversations/{conversation}/messages/{seq}/edits",
            "list_edits",
            "List the earlier texts of a message",
        )
        .by(Callers::keys_and_people(Scope::Moderate))
        .about("Requires the role of moderator.")
        .runs(edits),
        operation(
            Method::GET,
            "/communities/{community}/conversations/{conversation}/messages/{seq}/receipts",
            "read_receipts",
            "Get the receipts of a message",
        )
        .by(readers)
        .runs(receipts),
    ]
}

fn writing() -> Vec<Operation> {
    let senders = Callers::keys_and_people(Scope::Send);
    vec![
        operation(Method::POST, ALL, "send_message", "Send a message")
            .by(senders)
            .knows_repetitions()
            .about("If the message is sent again with the same `client_id` or `Idempotency-Key`, the response is \
                 200 with the first one.")
            .runs(send),
        operation(Method::PATCH, ONE, "edit_message", "Edit your own message").by(senders).runs(edit),
        operation(Method::DELETE, ONE, "delete_message", "Delete a message")
            .by(Callers::keys_and_people(Scope::Moderate))
            .about("A tombstone keeps its position. Only moderators can delete other people's messages.")
            .runs(delete),
        operation(Method::PUT, REACTION, "add_reaction", "React to a message").by(senders).runs(add_reaction),
        operation(Method::DELETE, REACTION, "remove_reaction", "Remove a reaction")
            .by(senders)
            .runs(remove_reaction),
    ]
}

/// The messages to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The messages before this `seq`.
    #[serde(default)]
    before: Option<Place>,
    /// The messages after this `seq`.
    #[serde(default)]
    after: Option<Place>,
    /// The messages around this `seq`: half of them up to it, half after it.
    #[serde(default)]
    around: Option<Place>,
    /// The messages that were edited, deleted or reacted to after this revision, in the order of the changes.
    #[serde(default)]
    changed_since: Option<ChangeCount>,
    /// The maximum number of messages.
    #[serde(default)]
    limit: Option<Limit>,
}

impl Which {
    fn around(&self) -> Result<Around, Problem> {
        match (self.before, self.after, self.around, self.changed_since) {
            (None, None, None, None) => Ok(Around::Newest),
            (Some(seq), None, None, None) => Ok(Around::Before(seq.seq())),
            (None, Some(seq), None, None) => Ok(Around::After(seq.seq())),
            (None, None, Some(seq), None) => Ok(Around::Place(seq.seq())),
            (None, None, None, Some(revision)) => Ok(Around::Changed(Revision(revision.0))),
            (_, _, _, _) => {
                let message = "give only one of before, after, around and changed_since";
                Err(invalid("before", "form", message))
            }
        }
    }
}

async fn page(
    context: RequestContext,
    input: Input<AtConversation, Which>,
) -> Result<Found<History>, Problem> {
    let around = input.query.around()?;
    let conversation = context.find(&input.path.conversation).await?;
    let limit = limit_or_default(input.query.limit);
    Ok(Found(context.ask(ReadPage { conversation, around, limit }).await?.into()))
}

#[derive(Deserialize, JsonSchema)]
struct AtNamedMessage {
    /// The message's id.
    #[schemars(with = "ids::Made")]
    message: MessageId,
}

async fn read(context: RequestContext, input: Input<AtNamedMessage>) -> Result<Found<Message>, Problem> {
    Ok(Found(context.ask(ReadMessage { message: input.path.message }).await?.into()))
}

async fn edits(context: RequestContext, input: Input<AtMessage>) -> Result<Found<List<Edit>>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let edits = context.ask(EditsOf { conversation, seq: input.path.seq.seq() }).await?;
    Ok(Found(List::of(edits, Edit::from)))
}

async fn receipts(context: RequestContext, input: Input<AtMessage>) -> Result<Found<Receipts>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let receipts = context.ask(ReadReceipts { conversation, seq: input.path.seq.seq() }).await?;
    Ok(Found(receipts.into()))
}

async fn send(
    context: RequestContext,
    input: Input<AtConversation, Nothing, Json<Draft>>,
) -> Result<MadeOnce<Message>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let mut draft = chat::Draft::from(input.body.0);
    if let Some(key) = idempotency::key_of(&input.headers)? {
        if draft.client_id.as_ref().is_some_and(|id| *id != key) {
            return Err(invalid("client_id", "form", "differs from the header Idempotency-Key"));
        }
        draft.client_id = Some(key);
    }
    let spent = context.permit_send(conversation).await?;
    let appended = context.ask_spending(spent, Append { conversation, draft }).await?;
    Ok(MadeOnce { made: appended.message.into(), repeated: appended.repeated })
}

async fn edit(
    context: RequestContext,
    input: Input<AtMessage, Nothing, Json<EditedText>>,
) -> Result<Found<Message>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let spent = context.permit_send(conversation).await?;
    let EditedText { text, mentions } = input.body.0;
    let changed = context
        .ask_spending(spent, EditText { conversation, seq: input.path.seq.seq(), text, mentions })
        .await?;
    Ok(shown(changed))
}

async fn delete(context: RequestContext, input: Input<AtMessage>) -> Result<Found<Message>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    Ok(shown(context.ask(Delete { conversation, seq: input.path.seq.seq() }).await?))
}

#[derive(Deserialize, JsonSchema)]
struct AtReaction {
    /// The conversation's id, or `room:` and a room's name.
    conversation: Reference,
    /// The message's `seq`.
    seq: Place,
    /// An emoji or a short name; up to 64 bytes.
    #[schemars(length(min = 1, max = 64), example = &"👍")]
    emoji: String,
}

async fn add_reaction(context: RequestContext, input: Input<AtReaction>) -> Result<Found<Message>, Problem> {
    react(context, input.path, true).await
}

async fn remove_reaction(
    context: RequestContext,
    input: Input<AtReaction>,
) -> Result<Found<Message>, Problem> {
    react(context, input.path, false).await
}

async fn react(context: RequestContext, path: AtReaction, on: bool) -> Result<Found<Message>, Problem> {
    let conversation = context.find(&path.conversation).await?;
    let spent = context.permit_send(conversation).await?;
    let changed = context
        .ask_spending(spent, React { conversation, seq: path.seq.seq(), emoji: path.emoji, on })
        .await?;
    Ok(shown(changed))
}

fn shown(changed: Changed) -> Found<Message> {
    Found(Message::with_reactions(changed.message, changed.reactions))
}
