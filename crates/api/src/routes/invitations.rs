//! Invitations.

use super::paths::{AtConversation, AtPerson};
use crate::caller::Callers;
use crate::desk::Desk;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Done, Found, Made};
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

async fn list_into(desk: Desk, input: Input<AtConversation>) -> Result<Found<List<Invitation>>, Problem> {
    let conversation = Some(desk.find(&input.path.conversation).await?);
    Ok(Found(List::of(desk.ask(Invitations { conversation }).await?, Invitation::from)))
}

async fn list_of(desk: Desk, input: Input<AtPerson>) -> Result<Found<List<Invitation>>, Problem> {
    let by = desk.by_person(&input.path.person)?;
    let invitations = desk.ask_as(by, Invitations { conversation: None }).await?;
    Ok(Found(List::of(invitations, Invitation::from)))
}

async fn invite(
    desk: Desk,
    input: Input<AtConversation, Nothing, Json<NewInvitation>>,
) -> Result<Made<Invitation>, Problem> {
    let conversation = desk.find(&input.path.conversation).await?;
    let NewInvitation { person, until, uses } = input.body.0;
    let until = until.map(ids::When::moment);
    let made = desk.ask(Invite { conversation, person, until, uses: uses.unwrap_or(1) }).await?;
    Ok(Made(made.invitation.into()))
}

#[derive(Deserialize, JsonSchema)]
struct AtInvitation {
    /// The invitation's id.
    #[schemars(with = "ids::Made")]
    invitation: InvitationId,
}

async fn withdraw(desk: Desk, input: Input<AtInvitation>) -> Result<Done, Problem> {
    desk.ask(Withdraw { invitation: input.path.invitation }).await?;
    Ok(Done)
}
