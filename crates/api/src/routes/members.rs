//! Members of conversations.

use super::paths::{After, AtConversation, AtMember};
use crate::caller::{Caller, Callers};
use crate::desk::{Desk, cursor, invalid};
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Done, Found};
use crate::shapes::ids::{self, limit_or_default};
use crate::shapes::{Member, Page, Role, Scope};
use axum::http::Method;
use chat::verbs::{BringIn, Join, Leave, Members, Remove, SetRole};
use chat::{By, ConversationId, InvitationId, PersonId};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let all = "/communities/{community}/conversations/{conversation}/members";
    let one = "/communities/{community}/conversations/{conversation}/members/{person}";
    let managers = Callers::keys_and_people(Scope::ManageRooms);
    Group {
        name: "Members",
        about: "Who is in a conversation, and as what.",
        operations: vec![
            operation(Method::GET, all, "list_members", "List members")
                .by(Callers::keys_and_people(Scope::List))
                .runs(list),
            operation(Method::PUT, one, "put_member", "Come into a conversation, put somebody into it, or give a role")
                .by(managers)
                .about(
                    "People come in themselves, with an invitation where one is needed. Owners give roles to who is in, as by \
                     channels: by a `role` nobody comes in, and who is not in it is to be invited. \
                     Keys put people into rooms and groups; who was removed from there comes back by another invitation, or when \
                     they are put in again. With a `role` that they may not have nobody is put in.",
                )
                .runs(put),
            operation(Method::DELETE, one, "remove_member", "Leave a conversation, or remove somebody from it")
                .by(managers)
                .runs(remove),
        ],
    }
}

async fn list(desk: Desk, input: Input<AtConversation, After>) -> Result<Found<Page<Member>>, Problem> {
    let conversation = desk.find(&input.path.conversation).await?;
    let After { after, limit } = input.query;
    let after = cursor("after", after.as_deref(), PersonId::parse)?;
    let listed = desk.ask(Members { conversation, after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Member::from, |id| id.to_string())))
}

/// How somebody is to be in a conversation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// As what. Absent: as they are, or as a member; people who put somebody else have to say it.
    #[serde(default)]
    role: Option<Role>,
    /// The invitation by which somebody comes in.
    #[serde(default)]
    #[schemars(with = "Option<ids::Made>")]
    invitation: Option<InvitationId>,
}

async fn put(desk: Desk, input: Input<AtMember, Nothing, Json<Part>>) -> Result<Found<Member>, Problem> {
    let AtMember { conversation, person } = input.path;
    let Part { role, invitation } = input.body.0;
    let conversation = find_for(&desk, &conversation, &person).await?;
    if desk.is_service() {
        let role = role.map(chat::Role::from);
        let brought = desk.ask(BringIn { conversation, person, role, invitation }).await?;
        return Ok(Found(brought.member.into()));
    }
    // Who may not give roles must not join by trying to.
    if let Some(role) = role {
        let given = SetRole { conversation, person, role: role.into() };
        return Ok(Found(desk.ask(given).await?.into()));
    }
    if desk.by() != By::Person(person.clone()) {
        return Err(invalid("role", "missing", "say as what: who is not in it comes in by an invitation"));
    }
    desk.permit_join(conversation).await?;
    Ok(Found(desk.ask(Join { conversation, invitation }).await?.member.into()))
}

/// In a private room, the invited person finds it by its id only, not by a name that they cannot see.
async fn find_for(
    desk: &Desk,
    reference: &ids::Reference,
    person: &PersonId,
) -> Result<ConversationId, Problem> {
    match (reference, &desk.caller) {
        (ids::Reference::Id(id), Caller::Person { id: own, rooms }) if own == person && rooms.are_all() => {
            Ok(*id)
        }
        (_, Caller::Operator | Caller::Key { .. } | Caller::Person { .. } | Caller::Stranger) => {
            desk.find(reference).await
        }
    }
}

async fn remove(desk: Desk, input: Input<AtMember>) -> Result<Done, Problem> {
    let AtMember { conversation, person } = input.path;
    let conversation = desk.find(&conversation).await?;
    if desk.by() == By::Person(person.clone()) {
        desk.ask(Leave { conversation }).await?;
    } else {
        desk.ask(Remove { conversation, person }).await?;
    }
    Ok(Done)
}
