//! Invitations.

use super::paths::{AtConversation, AtPerson};
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Done, Found, Made};
use crate::request_context::RequestContext;
use crate::shapes::{Invitation, List, NewInvitation, Scope, ids};
use axum::http::Method;
use chat::InvitationId;
use chat::verbs::{Invitations, Invite, Withdraw};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let into = "/communities/{community}/conversations/{conversation}/invitations";
    let managers = Callers::keys_and_people(Scope::ManageRooms);
    Group {
        name: "Invitations",
        about: "Invitations let people into groups and rooms that are not public.",
        operations: vec![
            operation(Method::GET, into, "list_invitations", "List a conversation's open invitations")
                .by(managers)
                .about("Only invitations that anyone who knows their id can use.")
                .runs(list_into),
            operation(
                Method::POST,
                into,
                "invite",
                "Create an invitation, for one person or for anyone who knows \
                 its id",
            )
            .by(managers)
            .runs(invite),
            operation(
                Method::GET,
                "/communities/{community}/people/{person}/invitations",
                "list_invitations_of_person",
                "List a person's invitations",
            )
            .by(Callers::keys_and_people(Scope::List))
            .runs(list_of),
            operation(
                Method::DELETE,
                "/communities/{community}/invitations/{invitation}",
                "withdraw_invitation",
                "Withdraw or decline an invitation",
            )
            .by(managers)
            .runs(withdraw),
        ],
    }
}

async fn list_into(
    context: RequestContext,
    input: Input<AtConversation>,
) -> Result<Found<List<Invitation>>, Problem> {
    let conversation = Some(context.find(&input.path.conversation).await?);
    Ok(Found(List::of(context.ask(Invitations { conversation }).await?, Invitation::from)))
}

async fn list_of(
    context: RequestContext,
    input: Input<AtPerson>,
) -> Result<Found<List<Invitation>>, Problem> {
    let by = context.by_person(&input.path.person)?;
    let invitations = context.ask_as(by, Invitations { conversation: None }).await?;
    Ok(Found(List::of(invitations, Invitation::from)))
}

async fn invite(
    context: RequestContext,
    input: Input<AtConversation, Nothing, Json<NewInvitation>>,
) -> Result<Made<Invitation>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let NewInvitation { person, until, uses } = input.body.0;
    let until = until.map(ids::When::moment);
    let made = context.ask(Invite { conversation, person, until, uses: uses.unwrap_or(1) }).await?;
    Ok(Made(made.invitation.into()))
}

#[derive(Deserialize, JsonSchema)]
struct AtInvitation {
    /// The invitation's id.
    #[schemars(with = "ids::Made")]
    invitation: InvitationId,
}

async fn withdraw(context: RequestContext, input: Input<AtInvitation>) -> Result<Done, Problem> {
    context.ask(Withdraw { invitation: input.path.invitation }).await?;
    Ok(Done)
}
