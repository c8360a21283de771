//! Conversations: rooms, direct conversations and groups.

use super::paths::AtConversation;
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::Found;
use crate::request_context::RequestContext;
use crate::shapes::{Conversation, Describe, Scope, ids};
use axum::http::Method;
use chat::PersonId;
use chat::verbs::{ChangeRoom, ReadConversation};
use messenger::{Presence, Status};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) fn group() -> Group {
    let one = "/communities/{community}/conversations/{conversation}";
    Group {
        name: "Conversations",
        about: "Rooms, direct conversations of two people, and groups.",
        operations: vec![
            operation(Method::GET, one, "read_conversation", "Get a conversation")
                .by(Callers::keys_and_people(Scope::List))
                .runs(read),
            operation(Method::PATCH, one, "change_conversation", "Change a conversation")
                .by(Callers::keys_and_people(Scope::ManageRooms))
                .about("Moderators can change the title, the topic text and slow mode; owners can also change the \
                     kind of a room.")
                .runs(change),
            operation(
                Method::GET,
                "/communities/{community}/conversations/{conversation}/presence",
                "read_presence",
                "List who is present",
            )
            .by(Callers::keys(Scope::Presence))
            .runs(presence),
        ],
    }
}

async fn read(context: RequestContext, input: Input<AtConversation>) -> Result<Found<Conversation>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    Ok(Found(context.ask(ReadConversation { conversation }).await?.0.into()))
}

async fn change(
    context: RequestContext,
    input: Input<AtConversation, Nothing, Json<Describe>>,
) -> Result<Found<Conversation>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let Describe { kind, title, topic, slow_mode_s } = input.body.0;
    let change = ChangeRoom { conversation, kind: kind.map(chat::Kind::from), title, topic, slow_mode_s };
    Ok(Found(context.ask(change).await?.into()))
}

/// Who is present in a conversation.
#[derive(Serialize, JsonSchema)]
struct InConversation {
    /// The number of people online. Invisible people are counted only if there are more than 500.
    count: u64,
    /// The people; absent if there are more than 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    people: Option<Vec<Present>>,
}

/// A person who is present.
#[derive(Serialize, JsonSchema)]
struct Present {
    /// The person.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// Their status: `online`, `away` or `busy`.
    #[schemars(with = "String")]
    status: Status,
}

async fn presence(
    context: RequestContext,
    input: Input<AtConversation>,
) -> Result<Found<InConversation>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    context.ask(ReadConversation { conversation }).await?;
    let (count, people) = context.shared.messenger.present_in(context.community()?, conversation);
    let present = |one: Presence| Present { person: one.person, status: one.status };
    let people = people.map(|people| people.into_iter().map(present).collect());
    Ok(Found(InConversation { count: count as u64, people }))
}
