//! Members of conversations.

use super::paths::{After, AtConversation, AtMember};
use crate::caller::{Caller, Callers};
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Done, Found};
use crate::request_context::{RequestContext, cursor, invalid};
use crate::shapes::ids::{self, limit_or_default};
use crate::shapes::{Member, Page, Role, Scope};
use axum::http::Method;
use chat::verbs::{AddMember, Join, Leave, Members, Remove, SetRole};
use chat::{By, ConversationId, InvitationId, PersonId};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let all = "/communities/{community}/conversations/{conversation}/members";
    let one = "/communities/{community}/conversations/{conversation}/members/{person}";
    let managers = Callers::keys_and_people(Scope::ManageRooms);
    Group {
        name: "Members",
        about: "The members of a conversation and their roles.",
        operations: vec![
            operation(Method::GET, all, "list_members", "List members")
                .by(Callers::keys_and_people(Scope::List))
                .runs(list),
            operation(Method::PUT, one, "put_member", "Join a conversation, add a person, or change a role")
                .by(managers)
                .about(
                    "People can join by themselves, with an invitation where one is needed. Owners can change the \
                     `role` of a member, but cannot add people this way: invite them instead. Keys can add people \
                     to rooms and groups. A person who was removed can return with a new invitation, or if a key \
                     adds them again. A `role` that the person must not have is refused, and they are not added.",
                )
                .runs(put),
            operation(Method::DELETE, one, "remove_member", "Leave a conversation, or remove a person from it")
                .by(managers)
                .runs(remove),
        ],
    }
}

async fn list(
    context: RequestContext,
    input: Input<AtConversation, After>,
) -> Result<Found<Page<Member>>, Problem> {
    let conversation = context.find(&input.path.conversation).await?;
    let After { after, limit } = input.query;
    let after = cursor("after", after.as_deref(), PersonId::parse)?;
    let listed = context.ask(Members { conversation, after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Member::from, |id| id.to_string())))
}

/// A membership to create or change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// The role. Absent: the current role, or `member`; required if a person changes somebody else's membership.
    #[serde(default)]
    role: Option<Role>,
    /// The invitation with which a person joins.
    #[serde(default)]
    #[schemars(with = "Option<ids::Made>")]
    invitation: Option<InvitationId>,
}

async fn put(
    context: RequestContext,
    input: Input<AtMember, Nothing, Json<Part>>,
) -> Result<Found<Member>, Problem> {
    let AtMember { conversation, person } = input.path;
    let Part { role, invitation } = input.body.0;
    let conversation = find_for(&context, &conversation, &person).await?;
    if context.is_service() {
        let role = role.map(chat::Role::from);
        let brought = context.ask(AddMember { conversation, person, role, invitation }).await?;
        return Ok(Found(brought.member.into()));
    }
    // Who may not give roles must not join by trying to.
    if let Some(role) = role {
        let given = SetRole { conversation, person, role: role.into() };
        return Ok(Found(context.ask(given).await?.into()));
    }
    if context.by() != By::Person(person.clone()) {
        return Err(invalid(
            "role",
            "missing",
            "is required to change another person's role: invite a person who is \
             not a member",
        ));
    }
    context.permit_join(conversation).await?;
    Ok(Found(context.ask(Join { conversation, invitation }).await?.member.into()))
}

/// In a private room, the invited person finds it by its id only, not by a name that they cannot see.
async fn find_for(
    context: &RequestContext,
    reference: &ids::Reference,
    person: &PersonId,
) -> Result<ConversationId, Problem> {
    match (reference, &context.caller) {
        (ids::Reference::Id(id), Caller::Person { id: own, rooms }) if own == person && rooms.are_all() => {
            Ok(*id)
        }
        (_, Caller::Operator | Caller::Key { .. } | Caller::Person { .. } | Caller::Anonymous) => {
            context.find(reference).await
        }
    }
}

async fn remove(context: RequestContext, input: Input<AtMember>) -> Result<Done, Problem> {
    let AtMember { conversation, person } = input.path;
    let conversation = context.find(&conversation).await?;
    if context.by() == By::Person(person.clone()) {
        context.ask(Leave { conversation }).await?;
    } else {
        context.ask(Remove { conversation, person }).await?;
    }
    Ok(Done)
}
