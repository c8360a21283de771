//! The administration API: the messenger's API for the operator, below `/api/v1`, and the gateway's own. Every path
//! requires the bearer token; every error is a problem document.
//!
//! | request | does |
//! |---|---|
//! | `POST /api/topics/{topic}/messages` with `{"event": "…", "payload": {…}}` | 202: broadcasts to the topic; 503: too much waits, try again |
//! | `GET /api/topics?limit=100` | 200: topics by size, largest first: `{"topics": [{"topic": "…", "members": 1}]}` |
//! | `GET /api/status?topics=10&readers=10` | 200: counts, shards, memory, largest topics and slowest readers |
//! | `POST /api/sockets/{id}/disconnect` | 202: closes every connection with this socket id, on all nodes; 503: on this one alone, since the bus is away |

use super::Served;
use super::problem::Problem;
use super::status::status;
use super::token::Token;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use gateway::{Handle, Outgoing};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use std::sync::Arc;

/// Maximum size of a request body.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Maximum length of a topic, event or socket id.
const NAME_BYTES_MAX: usize = 255;
/// Number of topics in a list without a given limit, and the maximum limit.
const TOPICS_DEFAULT: usize = 100;
const TOPICS_MAX: usize = 10_000;

/// Creates the routes below `/api`.
pub(crate) fn router(served: Served, token: Token) -> Router {
    let Served { handle, messenger, memory, bus, rest, memory_limit } = served;
    let rest = rest.operators();
    let own = Router::new()
        .route("/api/status", get(status))
        .route("/api/topics", get(topics))
        .route("/api/topics/{topic}/messages", post(publish))
        .route("/api/sockets/{id}/disconnect", post(disconnect))
        .route("/api/{*rest}", axum::routing::any(|| async { Problem::not_found() }))
        .method_not_allowed_fallback(|| async { Problem::method_not_allowed() })
        .layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
        .layer(Extension(bus))
        .layer(Extension(messenger))
        .layer(Extension(memory))
        .layer(Extension(memory_limit))
        .with_state(handle);
    // Not `layer`: that would require the token on paths outside the API, too.
    own.merge(rest).route_layer(middleware::from_fn_with_state(Arc::new(token), authenticate))
}

async fn authenticate(State(token): State<Arc<Token>>, request: Request, next: Next) -> Response {
    match bearer(request.headers()) {
        Some(shown) if token.matches(shown) => next.run(request).await,
        Some(_) | None => Problem::unauthorized().into_response(),
    }
}

/// Extracts the bearer token: RFC 6750 section 2.1; the scheme is case-insensitive (RFC 9110 section 11.1).
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Publication {
    event: String,
    payload: Box<RawValue>,
}

async fn publish(
    State(handle): State<Handle>,
    Path(topic): Path<String>,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Problem> {
    let publication = publication(&body.map_err(|rejection| Problem::bad_request(rejection.body_text()))?)?;
    let payload = Outgoing::json(publication.payload.get());
    let topic = name("topic", topic)?;
    if messenger::is_of_messenger(&topic, &publication.event) {
        return Err(Problem::bad_request(format!(
            "`{}` is reserved for the messenger on topics of rooms and people: choose another event name",
            publication.event
        )));
    }
    handle.broadcast(&topic, &publication.event, payload).map_err(Problem::not_taken)?;
    Ok(StatusCode::ACCEPTED)
}

fn publication(body: &[u8]) -> Result<Publication, Problem> {
    let expected = "send {\"event\": \"…\", \"payload\": {…}}";
    let publication: Publication =
        serde_json::from_slice(body).map_err(|error| Problem::bad_request(format!("{expected}: {error}")))?;
    // Clients expect the payload to be an object.
    if !publication.payload.get().starts_with('{') {
        return Err(Problem::bad_request(format!("{expected}: `payload` must be an object")));
    }
    let Publication { event, payload } = publication;
    let event = name("event", event)?;
    if messenger::is_reserved(&event) {
        let reserved = messenger::RESERVED.map(|prefix| format!("`{prefix}`")).join(", ");
        return Err(Problem::bad_request(format!(
            "event names that begin with {reserved} are reserved for the server"
        )));
    }
    Ok(Publication { event, payload })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopicsQuery {
    limit: Option<usize>,
}

async fn topics(
    State(handle): State<Handle>,
    query: Result<Query<TopicsQuery>, QueryRejection>,
) -> Result<Response, Problem> {
    let Query(query) = query.map_err(|rejection| Problem::bad_request(rejection.body_text()))?;
    let limit = query.limit.unwrap_or(TOPICS_DEFAULT);
    if !(1..=TOPICS_MAX).contains(&limit) {
        return Err(Problem::bad_request(format!("`limit` is {limit}, but must be from 1 to {TOPICS_MAX}")));
    }
    let topics: Vec<_> = handle
        .topics(limit)
        .await
        .into_iter()
        .map(|(topic, members)| json!({ "topic": &*topic, "members": members }))
        .collect();
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "no-store")];
    Ok((headers, json!({ "topics": topics }).to_string()).into_response())
}

async fn disconnect(
    State(handle): State<Handle>,
    Extension(bus): Extension<Option<bus::Status>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    handle.disconnect(&name("socket id", id)?);
    match bus.map(|bus| bus.state()) {
        None | Some(bus::State::Up { .. }) => Ok(StatusCode::ACCEPTED),
        Some(bus::State::Away { .. }) => Err(Problem::other_nodes_not_told()),
    }
}

fn name(what: &str, name: String) -> Result<String, Problem> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(Problem::bad_request(format!("the {what} must have 1 to {NAME_BYTES_MAX} bytes")));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_publication_is_an_event_with_an_object() {
        let good = publication(br#"{"event": "notice", "payload": {"b": 1,  "a": 2}}"#).expect("accepted");
        assert_eq!((good.event.as_str(), good.payload.get()), ("notice", r#"{"b": 1,  "a": 2}"#));
        for bad in [
            r#""#,
            r#"[]"#,
            r#"{"event": "notice"}"#,
            r#"{"event": "notice", "payload": []}"#,
            r#"{"event": "notice", "payload": null}"#,
            r#"{"event": "", "payload": {}}"#,
            r#"{"event": "phx_close", "payload": {}}"#,
            r#"{"event": "notice", "payload": {}, "topic": "x"}"#,
            r#"{"event": "notice", "payload": {}} trailing"#,
        ] {
            assert!(publication(bad.as_bytes()).is_err(), "{bad}");
        }
        let long = format!(r#"{{"event": "{}", "payload": {{}}}}"#, "e".repeat(NAME_BYTES_MAX + 1));
        assert!(publication(long.as_bytes()).is_err());
    }

    #[test]
    fn the_bearer_token_is_found_whatever_the_case_of_its_scheme() {
        for (value, token) in [
            ("Bearer abc", Some("abc")),
            ("bearer  abc ", Some("abc")),
            ("Basic abc", None),
            ("Bearer", None),
            ("", None),
        ] {
            let headers = HeaderMap::from_iter([(AUTHORIZATION, value.parse().expect("a header"))]);
            assert_eq!(bearer(&headers), token, "{value:?}");
        }
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
