//! Rooms.

use super::paths::After;
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Found, Made};
use crate::request_context::{RequestContext, cursor};
use crate::shapes::ids::limit_or_default;
use crate::shapes::{Conversation, NewRoom, Page, Scope};
use axum::http::Method;
use chat::RoomName;
use chat::verbs::{CreateRoom, Rooms};

pub(super) fn group() -> Group {
    let all = "/communities/{community}/rooms";
    Group {
        name: "Rooms",
        about: "Conversations with a name in URLs. For operations in a room see the other groups: where they take \
             a conversation, `room:lobby` names the room `lobby`.",
        operations: vec![
            operation(Method::GET, all, "list_rooms", "List rooms")
                .by(Callers::keys_and_people(Scope::List))
                .about("Lists the rooms that the caller can see without being a member.")
                .runs(list),
            operation(Method::POST, all, "create_room", "Create a room")
                .by(Callers::keys_and_people(Scope::ManageRooms))
                .about("People need the community-wide role of moderator, unless the community lets people create \
                     rooms. Whoever creates a room owns it.")
                .runs(create),
        ],
    }
}

async fn list(
    context: RequestContext,
    input: Input<Nothing, After>,
) -> Result<Found<Page<Conversation>>, Problem> {
    let After { after, limit } = input.query;
    let after = cursor("after", after.as_deref(), RoomName::parse)?;
    let listed = context.ask(Rooms { after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Conversation::from, |name| name.to_string())))
}

async fn create(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<NewRoom>>,
) -> Result<Made<Conversation>, Problem> {
    let NewRoom { name, kind, title, topic, slow_mode_s } = input.body.0;
    let made = context.ask(CreateRoom { name, kind: kind.into(), title, topic, slow_mode_s }).await?;
    Ok(Made(made.into()))
}
