//! Answers of operations: each kind of success is a type, which also defines its documentation.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::Frame;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// A success of an operation, for its documentation.
pub(crate) struct Success {
    pub(crate) status: StatusCode,
    pub(crate) description: &'static str,
    /// Media type and schema of the body, if there is one.
    pub(crate) content: Option<(&'static str, Schema)>,
}

/// The answer of an operation.
pub(crate) trait Reply: Send {
    /// Returns its possible successes.
    fn successes(generator: &mut SchemaGenerator) -> Vec<Success>;

    /// Converts it to an HTTP response.
    fn into_response(self) -> Response;
}

const JSON: &str = "application/json";

/// 200 with a document.
pub(crate) struct Found<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send> Reply for Found<T> {
    fn successes(generator: &mut SchemaGenerator) -> Vec<Success> {
        vec![success::<T>(generator, StatusCode::OK, "The request succeeded.")]
    }

    fn into_response(self) -> Response {
        document(StatusCode::OK, &self.0)
    }
}

/// 201 with what was created.
pub(crate) struct Made<T>(pub(crate) T);

impl<T: Serialize + JsonSchema + Send> Reply for Made<T> {
    fn successes(generator: &mut SchemaGenerator) -> Vec<Success> {
        vec![success::<T>(generator, StatusCode::CREATED, "It was created.")]
    }

    fn into_response(self) -> Response {
        document(StatusCode::CREATED, &self.0)
    }
}

/// 201 with what was created, or 200 with what the same request created before.
pub(crate) struct MadeOnce<T> {
    pub(crate) made: T,
    /// Whether it existed before.
    pub(crate) repeated: bool,
}

impl<T: Serialize + JsonSchema + Send> Reply for MadeOnce<T> {
    fn successes(generator: &mut SchemaGenerator) -> Vec<Success> {
        vec![
            success::<T>(generator, StatusCode::CREATED, "It was created."),
            success::<T>(
                generator,
                StatusCode::OK,
                "The same request created it before; it is returned again.",
            ),
        ]
    }

    fn into_response(self) -> Response {
        document(if self.repeated { StatusCode::OK } else { StatusCode::CREATED }, &self.made)
    }
}

/// 204.
pub(crate) struct Done;

impl Reply for Done {
    fn successes(_: &mut SchemaGenerator) -> Vec<Success> {
        vec![Success { status: StatusCode::NO_CONTENT, description: "The request succeeded.", content: None }]
    }

    fn into_response(self) -> Response {
        StatusCode::NO_CONTENT.into_response()
    }
}

/// 202.
pub(crate) struct Taken;

impl Reply for Taken {
    fn successes(_: &mut SchemaGenerator) -> Vec<Success> {
        vec![Success {
            status: StatusCode::ACCEPTED,
            description: "The request was accepted and will be carried \
             out.",
            content: None,
        }]
    }

    fn into_response(self) -> Response {
        StatusCode::ACCEPTED.into_response()
    }
}

const NDJSON: &str = "application/x-ndjson";

/// 200 with lines of JSON, streamed as they are read.
pub(crate) struct Lines(pub(crate) mpsc::Receiver<Bytes>);

impl Reply for Lines {
    fn successes(_: &mut SchemaGenerator) -> Vec<Success> {
        let line = schemars::json_schema!({ "type": "string", "description": "Lines, each a JSON object." });
        let description =
            "Lines of JSON. The last line is `{\"end\": true}`; without it the export is incomplete.";
        vec![Success { status: StatusCode::OK, description, content: Some((NDJSON, line)) }]
    }

    fn into_response(self) -> Response {
        let headers = [(CONTENT_TYPE, NDJSON), (CACHE_CONTROL, "no-store")];
        (headers, Body::new(LinesBody(self.0))).into_response()
    }
}

struct LinesBody(mpsc::Receiver<Bytes>);

impl hyper::body::Body for LinesBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}

fn success<T: JsonSchema>(
    generator: &mut SchemaGenerator,
    status: StatusCode,
    description: &'static str,
) -> Success {
    Success { status, description, content: Some((JSON, generator.subschema_for::<T>())) }
}

fn document<T: Serialize>(status: StatusCode, document: &T) -> Response {
    // No answer contains maps with keys other than texts, so it always serializes.
    written(status, Bytes::from(serde_json::to_vec(document).unwrap_or_default()))
}

/// Returns a response with a serialized document, or only a status if the body is empty.
pub(crate) fn written(status: StatusCode, body: Bytes) -> Response {
    if body.is_empty() {
        return status.into_response();
    }
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(JSON)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, body).into_response()
}
