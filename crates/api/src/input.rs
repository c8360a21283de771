//! The input of an operation: names in the path, query and body, deserialized into types, or refused by field.

use crate::fields;
use crate::problem::{Code, Problem};
use axum::body::{Body, to_bytes};
use axum::extract::Query;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Uri};
use bytes::Bytes;
use http_body_util::LengthLimitError;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::error::Error;
use std::time::Duration;
use tokio::time::timeout;

/// Bytes of a request's body, four times what a message with ten attachments and fifty mentions takes.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 10;
/// How long a request's body may take to arrive.
const BODY_TIME_MAX: Duration = Duration::from_secs(30);

/// A request as received.
pub(crate) struct Raw {
    /// The names in the path with their values, without the community.
    pub(crate) path: Vec<(String, String)>,
    pub(crate) uri: Uri,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// A parsed request.
pub(crate) struct Input<P = Nothing, Q = Nothing, B = NoBody> {
    pub(crate) path: P,
    pub(crate) query: Q,
    pub(crate) body: B,
    pub(crate) headers: HeaderMap,
}

impl<P: DeserializeOwned, Q: DeserializeOwned, B: Content> Input<P, Q, B> {
    /// Parses a request.
    ///
    /// # Errors
    /// [`Code::Invalid`], also for an invalid name in the path; [`Code::Malformed`], [`Code::MediaType`],
    /// [`Code::TooLarge`], [`Code::BodyOverdue`].
    pub(crate) async fn read(raw: Raw) -> Result<Self, Problem> {
        let path = fields::read(raw.path).map_err(Problem::field)?;
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(&raw.uri)
            .map_err(|rejection| Problem::new(Code::Malformed, rejection.body_text()))?;
        let query = fields::read(pairs.0).map_err(Problem::field)?;
        let body = B::read(&raw.headers, raw.body).await?;
        Ok(Self { path, query, body, headers: raw.headers })
    }
}

/// No names in the path, or no query.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nothing {}

/// The body that an operation takes.
pub(crate) trait Content: Sized + Send {
    /// Returns its schema, if it takes one.
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema>;

    /// Reads it.
    fn read(headers: &HeaderMap, body: Body) -> impl Future<Output = Result<Self, Problem>> + Send;
}

/// No body: whatever is sent is not read.
pub(crate) struct NoBody;

impl Content for NoBody {
    fn schema(_: &mut SchemaGenerator) -> Option<Schema> {
        None
    }

    async fn read(_: &HeaderMap, _: Body) -> Result<Self, Problem> {
        Ok(Self)
    }
}

/// A JSON document.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send> Content for Json<T> {
    fn schema(generator: &mut SchemaGenerator) -> Option<Schema> {
        Some(generator.subschema_for::<T>())
    }

    async fn read(headers: &HeaderMap, body: Body) -> Result<Self, Problem> {
        if !is_json(headers) {
            return Err(Problem::new(Code::MediaType, "send the body with `Content-Type: application/json`"));
        }
        read_json(&read_bytes(body).await?).map(Self)
    }
}

/// Reads the whole body.
///
/// # Errors
/// [`Code::TooLarge`], [`Code::BodyOverdue`], [`Code::Malformed`].
pub(crate) async fn read_bytes(body: Body) -> Result<Bytes, Problem> {
    read_bytes_within(body, BODY_TIME_MAX).await
}

async fn read_bytes_within(body: Body, time_max: Duration) -> Result<Bytes, Problem> {
    let Ok(read) = timeout(time_max, to_bytes(body, BODY_BYTES_MAX)).await else {
        let detail = format!("the body did not arrive within {} seconds: send it again", time_max.as_secs());
        return Err(Problem::new(Code::BodyOverdue, detail));
    };
    read.map_err(|error| {
        let mut cause: Option<&(dyn Error + 'static)> = Some(&error);
        while let Some(error) = cause {
            if error.is::<LengthLimitError>() {
                let detail = format!("the body is too large: at most {BODY_BYTES_MAX} bytes are allowed");
                return Problem::new(Code::TooLarge, detail);
            }
            cause = error.source();
        }
        Problem::new(Code::Malformed, "the body could not be read")
    })
}

fn read_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        if inner.is_data() {
            // Line and column are of no use, as the field is named.
            let message = inner.to_string();
            let end = message.rfind(" at line ").unwrap_or(message.len());
            return Problem::field(fields::explain(path, &message[..end]));
        }
        Problem::new(Code::Malformed, format!("the body is not valid JSON: {inner}"))
    })?;
    reader
        .end()
        .map_err(|error| Problem::new(Code::Malformed, format!("the body is not valid JSON: {error}")))?;
    Ok(read)
}

/// RFC 9110, section 8.3.1: parameters and case are ignored.
fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = kind.and_then(|kind| kind.split(';').next()).map(str::trim);
    essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;
    use axum::response::IntoResponse as _;
    use hyper::body::Frame;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    /// A body of which nothing arrives.
    struct Silent;

    impl hyper::body::Body for Silent {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn a_body_that_does_not_arrive_is_not_awaited_for_ever() {
        let read = read_bytes_within(Body::new(Silent), Duration::from_millis(1)).await;
        let problem = read.expect_err("nothing has arrived");
        assert_eq!(problem.code(), Code::BodyOverdue);
        let response = problem.into_response();
        assert_eq!(response.status(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Outer {
        #[serde(default)]
        #[expect(dead_code, reason = "it is read for its mistakes")]
        inner: Vec<Inner>,
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    struct Inner {
        #[expect(dead_code, reason = "it is read for its mistakes")]
        count: u8,
    }

    #[test]
    fn a_mistake_in_a_body_is_found_by_its_place() {
        for (body, code) in [
            (r#"{"inner": [{"count": 1}, {"count": 300}]}"#, Code::Invalid),
            (r#"{"inner": [{"count": 1, "more": 2}]}"#, Code::Invalid),
            (r#"{"inner": "#, Code::Malformed),
            (r#"{} {}"#, Code::Malformed),
            ("", Code::Malformed),
        ] {
            assert_eq!(read_json::<Outer>(body.as_bytes()).expect_err(body).code(), code, "{body}");
        }
    }
}
