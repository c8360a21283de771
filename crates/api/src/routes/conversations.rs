//! Conversations: rooms, direct conversations and groups.

use super::paths::AtConversation;
use crate::caller::Callers;
use crate::desk::Desk;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::Found;
use crate::shapes::{Conversation, Describe, Scope};
use axum::http::Method;
use chat::verbs::{ChangeRoom, ReadConversation};
use schemars::JsonSchema;
use serde::Serialize;

pub(super) fn group() -> Group {
    let one = "/communities/{community}/conversations/{conversation}";
    Group {
        name: "Conversations",
        about: "Rooms, direct conversations of two, and groups.",
        operations: vec![
            operation(Method::GET, one, "read_conversation", "Read a conversation")
                .by(Callers::keys_and_people(Scope::List))
                .runs(read),
            operation(Method::PATCH, one, "change_conversation", "Change a conversation")
                .by(Callers::keys_and_people(Scope::ManageRooms))
                .about("Title, topic text and slow mode are for moderators, the kind of a room for owners.")
                .runs(change),
            operation(
                Method::GET,
                "/communities/{community}/conversations/{conversation}/presence",
                "read_presence",
                "See who is present in a room",
            )
            .by(Callers::keys(Scope::Presence))
            .runs(presence),
        ],
    }
}

async fn read(desk: Desk, input: Input<AtConversation>) -> Result<Found<Conversation>, Problem> {
    let conversation = desk.find(&input.path.conversation).await?;
    Ok(Found(desk.ask(ReadConversation { conversation }).await?.0.into()))
}

async fn change(
    desk: Desk,
    input: Input<AtConversation, Nothing, Json<Describe>>,
) -> Result<Found<Conversation>, Problem> {
    let conversation = desk.find(&input.path.conversation).await?;
    let Describe { kind, title, topic, slow_mode_s } = input.body.0;
    let change = ChangeRoom { conversation, kind: kind.map(chat::Kind::from), title, topic, slow_mode_s };
    Ok(Found(desk.ask(change).await?.into()))
}

/// Who is present.
#[derive(Serialize, JsonSchema)]
struct Presence {
    /// People, each with what their devices say of themselves.
    people: serde_json::Map<String, serde_json::Value>,
}

async fn presence(desk: Desk, input: Input<AtConversation>) -> Result<Found<Presence>, Problem> {
    let conversation = desk.find(&input.path.conversation).await?;
    let room = desk.ask(ReadConversation { conversation }).await?.0;
    let name = room.name.ok_or_else(Problem::not_found)?;
    let topic = format!("room:{}/{name}", desk.community()?);
    Ok(Found(Presence { people: desk.shared.live.presence(&topic).await }))
}
