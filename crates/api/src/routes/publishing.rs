//! Publishing to any topic of a community.

use crate::caller::Callers;
use crate::input::{Input, Json, Nothing};
use crate::operation::{Group, operation};
use crate::problem::{Code, Problem};
use crate::reply::Taken;
use crate::request_context::{RequestContext, invalid};
use crate::shapes::Scope;
use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Bytes of the longest topic or event.
const NAME_BYTES_MAX: usize = 255;

pub(super) fn group() -> Group {
    let publish = operation(Method::POST, "/communities/{community}/publications", "publish", "Publish to a topic")
        .by(Callers::keys(Scope::Publish))
        .about(
            "The event reaches clients that have joined the topic at this moment, and is not stored. A topic of \
             the community consists of a word, `:`, the community, `/` and the rest: `room:default/lobby`, \
             `news:default/today`. On topics of rooms and people (`room:…`, `person:…`) the messenger's own events \
             cannot be published.",
        )
        .runs(publish);
    Group {
        name: "Publishing",
        about: "Sends an event to the clients that have joined a topic.",
        operations: vec![publish],
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Publication {
    /// The topic; up to 255 bytes.
    #[schemars(length(min = 3, max = 255), example = &"news:default/today")]
    topic: String,
    /// The name of the event; up to 255 bytes. Names that begin with `phx_`, `presence_` or `msg:` are reserved for
    /// the server. On topics of rooms and people, the messenger's events such as `presence`, `sanction` and
    /// `member:…` are reserved, too.
    #[schemars(length(min = 1, max = 255), example = &"headline")]
    event: String,
    /// The payload of the event.
    #[schemars(with = "HashMap<String, serde_json::Value>")]
    payload: Box<RawValue>,
}

async fn publish(
    context: RequestContext,
    input: Input<Nothing, Nothing, Json<Publication>>,
) -> Result<Taken, Problem> {
    let Publication { topic, event, payload } = input.body.0;
    if !payload.get().starts_with('{') {
        return Err(invalid("payload", "form", "must be an object"));
    }
    if !(1..=NAME_BYTES_MAX).contains(&event.len()) || messenger::is_reserved(&event) {
        let reserved = messenger::RESERVED.join(", ");
        let message = format!("must have 1 to {NAME_BYTES_MAX} bytes and not begin with {reserved}");
        return Err(invalid("event", "form", message));
    }
    if topic.len() > NAME_BYTES_MAX || !is_of(&topic, context.community()?.as_str()) {
        let message =
            format!("must be like `room:{}/lobby`, up to {NAME_BYTES_MAX} bytes", context.community()?);
        return Err(invalid("topic", "form", message));
    }
    if messenger::is_of_messenger(&topic, &event) {
        let message = "is reserved for the messenger on topics of rooms and people: choose another name";
        return Err(invalid("event", "form", message));
    }
    let published = context.shared.live.publish(&topic, &event, &payload);
    published
        .map(|()| Taken)
        .map_err(|_| Problem::new(Code::Busy, "too many messages are waiting for this topic: try again"))
}

fn is_of(topic: &str, community: &str) -> bool {
    topic.split_once(':').and_then(|(word, rest)| Some((word, rest.split_once('/')?))).is_some_and(
        |(word, (of, rest))| {
            !word.is_empty()
                && word.bytes().all(|byte| byte.is_ascii_lowercase())
                && of == community
                && !rest.is_empty()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::is_of;

    #[test]
    fn a_topic_is_of_one_community() {
        assert!(is_of("room:default/lobby", "default") && is_of("news:default/a/b", "default"));
        for topic in
            ["room:other/lobby", "room:default", "room:default/", ":default/x", "default/x", "a:b:default/x"]
        {
            assert!(!is_of(topic, "default"), "{topic}");
        }
    }
}
