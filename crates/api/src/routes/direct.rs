//! Conversations between people: of two, and groups.

use super::paths::AtPerson;
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Found, Made};
use crate::request_context::RequestContext;
use crate::shapes::{Conversation, Scope, ids};
use axum::http::Method;
use chat::PersonId;
use chat::verbs::{OpenDirect, OpenGroup};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let senders = Callers::keys_and_people(Scope::Send);
    Group {
        name: "Direct conversations",
        about: "Conversations of two people, and groups of up to 50.",
        operations: vec![
            operation(
                Method::POST,
                "/communities/{community}/people/{person}/direct",
                "open_direct",
                "Open the direct conversation of two people",
            )
            .by(senders)
            .about(
                "Creates it if there is none. While one of the two blocks the other, none is created and the \
                 response is 404; an existing one stays.",
            )
            .runs(open_direct),
            operation(
                Method::POST,
                "/communities/{community}/people/{person}/groups",
                "open_group",
                "Create a group, owned by the person",
            )
            .by(senders)
            .runs(open_group),
        ],
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct With {
    /// The other person.
    #[schemars(with = "ids::Person", example = &"bob")]
    with: PersonId,
}

async fn open_direct(
    context: RequestContext,
    input: Input<AtPerson, Nothing, Json<With>>,
) -> Result<Found<Conversation>, Problem> {
    let by = context.by_person(&input.path.person)?;
    Ok(Found(context.ask_as(by, OpenDirect { with: input.body.0.with }).await?.into()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewGroup {
    /// The other members.
    #[schemars(with = "Vec<ids::Person>", length(min = 1, max = 49))]
    with: Vec<PersonId>,
    /// The title; may be empty.
    #[serde(default)]
    #[schemars(length(max = 200))]
    title: String,
}

async fn open_group(
    context: RequestContext,
    input: Input<AtPerson, Nothing, Json<NewGroup>>,
) -> Result<Made<Conversation>, Problem> {
    let by = context.by_person(&input.path.person)?;
    let NewGroup { with, title } = input.body.0;
    Ok(Made(context.ask_as(by, OpenGroup { with, title }).await?.into()))
}
