//! A person's conversations: the tab, cursors, muted and archived.

use super::paths::AtPerson;
use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::Found;
use crate::request_context::{RequestContext, cursor, invalid};
use crate::shapes::ids::{self, Limit, Place, Reference, limit_or_default};
use crate::shapes::{Member, Page, Scope, Tab};
use axum::http::Method;
use chat::verbs::{Advance, Conversations, Keep, TabPosition};
use chat::{ConversationId, Moment, PersonId, Seq};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) fn group() -> Group {
    Group {
        name: "Following",
        about: "A person's conversations, with unread counts and cursors. Cursors only move forward.",
        operations: vec![
            operation(
                Method::GET,
                "/communities/{community}/people/{person}/conversations",
                "list_conversations",
                "List a person's conversations, most recently active first",
            )
            .by(Callers::keys_and_people(Scope::List))
            .runs(list),
            operation(
                Method::PATCH,
                "/communities/{community}/people/{person}/conversations/{conversation}",
                "follow_conversation",
                "Move a person's cursors, or mute or archive a conversation for them",
            )
            .by(Callers::keys_and_people(Scope::ManagePeople))
            .runs(follow),
        ],
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Before {
    /// The `next` of the previous page.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    before: Option<String>,
    /// The maximum number of conversations.
    #[serde(default)]
    limit: Option<Limit>,
}

async fn list(context: RequestContext, input: Input<AtPerson, Before>) -> Result<Found<Page<Tab>>, Problem> {
    let by = context.by_person(&input.path.person)?;
    let before = cursor("before", input.query.before.as_deref(), position)?;
    let limit = limit_or_default(input.query.limit);
    let listed = context.ask_as(by, Conversations { before, limit }).await?;
    let next = |position: TabPosition| format!("{}-{}", position.active.millis(), position.conversation);
    Ok(Found(Page::of(listed, Tab::from, next)))
}

/// Parses a time and an id, as in the last page's `next`.
fn position(text: &str) -> Result<TabPosition, chat::Problem> {
    let wrong = || chat::Problem::new("form", "is not a cursor from the `next` of a page");
    let (active, conversation) = text.split_once('-').ok_or_else(wrong)?;
    let active = active.parse().map(Moment::from_millis).map_err(|_| wrong())?;
    Ok(TabPosition { active, conversation: ConversationId::parse(conversation).map_err(|_| wrong())? })
}

#[derive(Deserialize, JsonSchema)]
struct AtFollowed {
    /// The person.
    #[schemars(with = "ids::Person")]
    person: PersonId,
    /// The conversation's id, or `room:` and a room's name.
    conversation: Reference,
}

/// Changes; absent fields stay as they are.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Follow {
    /// The `seq` up to which everything has reached one of the person's devices.
    #[serde(default)]
    delivered: Option<Place>,
    /// The `seq` up to which they have read everything.
    #[serde(default)]
    read: Option<Place>,
    /// Whether notifications of the conversation are off.
    #[serde(default)]
    muted: Option<bool>,
    /// Whether it is archived.
    #[serde(default)]
    archived: Option<bool>,
}

/// A person's state in a conversation.
#[derive(Serialize, JsonSchema)]
struct Followed {
    /// The person's membership.
    member: Member,
    /// The number of unread messages; absent if the request moved no cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<u64>,
}

async fn follow(
    context: RequestContext,
    input: Input<AtFollowed, Nothing, Json<Follow>>,
) -> Result<Found<Followed>, Problem> {
    let Follow { delivered, read, muted, archived } = input.body.0;
    let by = context.by_person(&input.path.person)?;
    let conversation = context.find_as(by.clone(), &input.path.conversation).await?;
    let seq = |place: Option<Place>| place.map_or(Seq(0), Place::seq);
    let mut followed = None;
    if delivered.is_some() || read.is_some() {
        let advance = Advance { conversation, delivered: seq(delivered), read: seq(read) };
        let advanced = context.ask_as(by.clone(), advance).await?;
        followed = Some(Followed { unread: Some(advanced.unread), member: advanced.member.into() });
    }
    if muted.is_some() || archived.is_some() {
        let member = context.ask_as(by, Keep { conversation, muted, archived }).await?.into();
        followed = Some(Followed { member, unread: followed.and_then(|followed| followed.unread) });
    }
    followed.map(Found).ok_or_else(|| invalid("read", "missing", "give at least one field to change"))
}
