//! People, and whom they block.

use super::paths::{After, AtPerson};
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::{Done, Found, Made};
use crate::request_context::{RequestContext, cursor, invalid};
use crate::shapes::ids::{self, limit_or_default};
use crate::shapes::{Block, List, Page, Person, Profile, Scope};
use axum::http::Method;
use chat::verbs::{BlockPerson, Blocks, Meet, People, ReadPerson, SetReceipts, UnblockPerson};
use chat::{By, PersonId};
use identity::{Revoked, UnixSeconds};
use messenger::{Presence, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) fn group() -> Group {
    let one = "/communities/{community}/people/{person}";
    let blocks = "/communities/{community}/people/{person}/blocks";
    let block = "/communities/{community}/people/{person}/blocks/{other}";
    let own = Callers::keys_and_people(Scope::ManagePeople);
    Group {
        name: "People",
        about: "The people of a community. A person is created when they first connect with a token of the host \
             site; a key can create them earlier.",
        operations: vec![
            operation(Method::GET, "/communities/{community}/people", "list_people", "List people")
                .by(Callers::keys_and_people(Scope::List))
                .about("People need the community-wide role of moderator.")
                .runs(list),
            operation(Method::GET, one, "read_person", "Get a person")
                .by(Callers::keys_and_people(Scope::List))
                .runs(read),
            operation(
                Method::GET,
                "/communities/{community}/people/{person}/presence",
                "read_person_presence",
                "Get a person's presence",
            )
            .by(Callers::keys_and_people(Scope::Presence))
            .about("People can get their own presence, and that of people with whom they share a conversation. An \
                 invisible person looks as if they had gone offline when they became invisible.")
            .runs(presence),
            operation(Method::PUT, one, "put_person", "Create a person, or change their profile")
                .by(Callers::keys(Scope::ManagePeople))
                .about("Their next token overwrites the profile.")
                .runs(put),
            operation(
                Method::PUT,
                "/communities/{community}/people/{person}/receipts",
                "set_receipts",
                "Turn a person's read receipts on or off",
            )
            .by(own)
            .runs(set_receipts),
            operation(
                Method::POST,
                "/communities/{community}/people/{person}/revocations",
                "revoke_tokens",
                "Revoke a person's tokens and close their connections",
            )
            .by(Callers::keys(Scope::ManagePeople))
            .about("Revokes the token with the given `jti`, or all that were issued until now. The revocation is \
                 kept for as long as such a token could be valid.")
            .runs(revoke),
            operation(Method::GET, blocks, "list_blocks", "List the people whom a person blocks")
                .by(own)
                .runs(list_blocks),
            operation(Method::PUT, block, "block_person", "Block a person")
                .by(own)
                .about("Neither can write in their direct conversation any more. Neither can open a direct \
                     conversation or a group with the other or invite them: the response is 404, as if the other \
                     did not exist.")
                .runs(put_block),
            operation(Method::DELETE, block, "unblock_person", "Unblock a person")
                .by(own)
                .runs(unblock),
        ],
    }
}

async fn list(context: RequestContext, input: Input<Nothing, After>) -> Result<Found<Page<Person>>, Problem> {
    let After { after, limit } = input.query;
    let after = cursor("after", after.as_deref(), PersonId::parse)?;
    let listed = context.ask(People { after, limit: limit_or_default(limit) }).await?;
    Ok(Found(Page::of(listed, Person::from, |id| id.to_string())))
}

async fn read(context: RequestContext, input: Input<AtPerson>) -> Result<Found<Person>, Problem> {
    Ok(Found(context.ask(ReadPerson { person: input.path.person }).await?.into()))
}

/// A person's presence.
#[derive(Serialize, JsonSchema)]
struct InCommunity {
    /// The person.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// Their status: `online`, `away`, `busy` or `offline`.
    #[schemars(with = "String")]
    status: Status,
    /// When they were last online, to the minute; absent while they are online, or if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen: Option<u64>,
}

async fn presence(context: RequestContext, input: Input<AtPerson>) -> Result<Found<InCommunity>, Problem> {
    let asked =
        context.shared.messenger.presences(context.community()?, context.by(), vec![input.path.person]);
    let Presence { person, status, seen } = asked.await?.pop().ok_or_else(Problem::not_found)?;
    Ok(Found(InCommunity { person, status, seen: seen.map(chat::Moment::millis) }))
}

async fn put(
    context: RequestContext,
    input: Input<AtPerson, Nothing, Json<Profile>>,
) -> Result<Found<Person>, Problem> {
    let Profile { name, avatar, role } = input.body.0;
    let person = input.path.person;
    let guest = person.as_str().starts_with(identity::GUEST_PREFIX);
    let profile = chat::Profile { name, avatar, guest, role: role.map(chat::Role::from) };
    Ok(Found(context.ask_as(By::Person(person), Meet { profile }).await?.into()))
}

/// A setting that is on or off.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Switch {
    /// Whether it is on.
    on: bool,
}

async fn set_receipts(
    context: RequestContext,
    input: Input<AtPerson, Nothing, Json<Switch>>,
) -> Result<Found<Person>, Problem> {
    let by = context.by_person(&input.path.person)?;
    Ok(Found(context.ask_as(by, SetReceipts { on: input.body.0.on }).await?.into()))
}

async fn list_blocks(context: RequestContext, input: Input<AtPerson>) -> Result<Found<List<Block>>, Problem> {
    let by = context.by_person(&input.path.person)?;
    Ok(Found(List::of(context.ask_as(by, Blocks).await?, Block::from)))
}

#[derive(Deserialize, JsonSchema)]
struct AtBlock {
    /// The person who blocks.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// The person who is blocked.
    #[schemars(with = "ids::Person", example = &"bob")]
    other: PersonId,
}

async fn put_block(context: RequestContext, input: Input<AtBlock>) -> Result<Found<Block>, Problem> {
    let by = context.by_person(&input.path.person)?;
    Ok(Found(context.ask_as(by, BlockPerson { person: input.path.other }).await?.into()))
}

async fn unblock(context: RequestContext, input: Input<AtBlock>) -> Result<Done, Problem> {
    let by = context.by_person(&input.path.person)?;
    context.ask_as(by, UnblockPerson { person: input.path.other }).await?;
    Ok(Done)
}

/// The tokens to revoke.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WhichTokens {
    /// The token with this `jti`; absent: all that were issued until now, and those without an issue time.
    #[serde(default)]
    #[schemars(length(min = 1, max = 128))]
    token_id: Option<String>,
}

/// The result of a revocation.
#[derive(Serialize, JsonSchema)]
struct RevokedTokens {
    /// The number of connections that are closed because of it.
    connections: u64,
}

async fn revoke(
    context: RequestContext,
    input: Input<AtPerson, Nothing, Json<WhichTokens>>,
) -> Result<Made<RevokedTokens>, Problem> {
    let what = match input.body.0.token_id {
        Some(id) if id.is_empty() || id.len() > identity::ID_BYTES_MAX => {
            return Err(invalid(
                "token_id",
                "length",
                format!("must have 1 to {} bytes", identity::ID_BYTES_MAX),
            ));
        }
        Some(id) => Revoked::TokenId(id),
        None => Revoked::IssuedUntil(UnixSeconds(context.now.millis() / 1_000)),
    };
    context.ask(ReadPerson { person: input.path.person.clone() }).await?;
    let closed = context.shared.messenger.revoke(context.community()?, &input.path.person, what).await?;
    Ok(Made(RevokedTokens { connections: closed as u64 }))
}
