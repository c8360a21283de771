//! Who is in conversations.

use super::paths::{After, AtConversation, AtMember};
use crate::caller::{Caller, Callers};
use crate::desk::{Desk, cursor, invalid};
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::{Code, Problem};
use crate::reply::{Done, Found};
use crate::shapes::ids::{self, limit_or_default};
use crate::shapes::{Member, Page, Role, Scope};
use axum::http::Method;
use chat::verbs::{Invite, Join, Leave, Members, ReadConversation, Remove, SetRole, Withdraw};
use chat::{By, ConversationId, InvitationId, Kind, PersonId};
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
                     they are put in again.",
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
        let member = bring_in(&desk, conversation, &person, invitation).await?;
        return match role {
            Some(role) => give_role(&desk, conversation, person, role).await,
            None => Ok(Found(member.into())),
        };
    }
    // Who may not give roles must not have come in by trying to.
    if let Some(role) = role {
        return give_role(&desk, conversation, person, role).await;
    }
    if desk.by() != By::Person(person.clone()) {
        return Err(invalid("role", "missing", "say as what: who is not in it comes in by an invitation"));
    }
    desk.permit_join(conversation).await?;
    Ok(Found(join(&desk, conversation, &person, invitation).await?.into()))
}

async fn give_role(
    desk: &Desk,
    conversation: ConversationId,
    person: PersonId,
    role: Role,
) -> Result<Found<Member>, Problem> {
    Ok(Found(desk.ask(SetRole { conversation, person, role: role.into() }).await?.into()))
}

/// With a private room, who is invited finds it by its id alone, and not by a name that they cannot see.
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

/// A key's invitation is what lets somebody into a conversation that is not for everybody. It is made only for who cannot come
/// in without, and does not outlive the request: an open one would let them come back after they were removed.
async fn bring_in(
    desk: &Desk,
    conversation: ConversationId,
    person: &PersonId,
    invitation: Option<InvitationId>,
) -> Result<chat::Member, Problem> {
    let stays_outside = match join(desk, conversation, person, invitation).await {
        Err(problem) if problem.code() == Code::NotFound && invitation.is_none() => problem,
        joined => return joined,
    };
    match desk.ask(ReadConversation { conversation }).await?.0.kind {
        Kind::Private | Kind::Group => {}
        Kind::Public | Kind::Members | Kind::Direct => return Err(stays_outside),
    }
    let invite = Invite { conversation, person: Some(person.clone()), until: None, uses: 1 };
    let made = desk.ask(invite).await?;
    let joined = join(desk, conversation, person, Some(made.invitation.id)).await;
    if joined.is_err() && !made.repeated {
        desk.ask(Withdraw { invitation: made.invitation.id }).await?;
    }
    joined
}

async fn join(
    desk: &Desk,
    conversation: ConversationId,
    person: &PersonId,
    invitation: Option<InvitationId>,
) -> Result<chat::Member, Problem> {
    Ok(desk.ask_as(By::Person(person.clone()), Join { conversation, invitation }).await?.member)
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
