//! Full-text search.

use crate::caller::Callers;
use crate::input::{Input, Nothing};
use crate::operation::{Group, operation};
use crate::problem::Problem;
use crate::reply::Found;
use crate::request_context::{RequestContext, cursor};
use crate::shapes::ids::{Limit, Reference, limit_or_default};
use crate::shapes::{Message, Page, Scope};
use axum::http::Method;
use chat::MessageId;
use chat::verbs::SearchMessages;
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) fn group() -> Group {
    let search = operation(Method::GET, "/communities/{community}/search", "search_messages", "Search messages")
        .by(Callers::keys_and_people(Scope::List))
        .about(
            "Finds messages that contain all words, newest first. Case and accents are ignored. The last word may \
             be the beginning of a word if it has at least three characters. A search that would take longer than \
             a second is refused (`too_broad`): use more or longer words.",
        )
        .runs(search);
    Group { name: "Search", about: "Only finds messages that the caller may see.", operations: vec![search] }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The words to search for; up to 256 bytes.
    #[schemars(length(min = 1, max = 256), example = &"hello")]
    words: String,
    /// The conversation: its id, or `room:` and the name of a room; absent: all.
    #[serde(default)]
    conversation: Option<Reference>,
    /// The `next` of the previous page.
    #[serde(default)]
    #[schemars(length(min = 26, max = 26))]
    before: Option<String>,
    /// The maximum number of messages.
    #[serde(default)]
    limit: Option<Limit>,
}

async fn search(
    context: RequestContext,
    input: Input<Nothing, Asked>,
) -> Result<Found<Page<Message>>, Problem> {
    let Asked { words: query, conversation, before, limit } = input.query;
    let before = cursor("before", before.as_deref(), MessageId::parse)?;
    let conversation = context.find_if_named(conversation.as_ref()).await?;
    let limit = limit_or_default(limit);
    let listed = context.ask(SearchMessages { query, conversation, before, limit }).await?;
    Ok(Found(Page::of(listed, Message::from, |id| id.to_string())))
}
