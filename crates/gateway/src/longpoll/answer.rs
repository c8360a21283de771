//! Answers to long-polling clients. The HTTP status is 200; the actual status is in the body.

use super::cors;
use crate::shard::Transit;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// Marks, as an extension, an answer after which the session continues.
#[derive(Clone, Copy)]
struct SessionGoesOn;

/// Creates an answer that contains only a status.
pub(super) fn status(status: u16) -> Response<Bytes> {
    answer(&json!({ "status": status }))
}

/// Creates an answer from a body with a status in it.
pub(super) fn answer(body: &Value) -> Response<Bytes> {
    written(Bytes::from(body.to_string()))
}

/// Creates an answer from a body that another node wrote.
pub(super) fn written(body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    cors::allow_any_origin(headers);
    response
}

/// Marks an answer as one after which the client returns to its session.
pub(super) fn going_on(mut response: Response<Bytes>) -> Response<Bytes> {
    response.extensions_mut().insert(SessionGoesOn);
    response
}

/// Returns whether the client will return to its session, if possible on this connection: a draining gateway accepts no
/// new ones.
pub(crate) fn goes_on<B>(response: &Response<B>) -> bool {
    response.extensions().get::<SessionGoesOn>().is_some()
}

/// Makes a drain wait until the answer has been written.
pub(super) fn awaited(mut response: Response<Bytes>, transit: Transit) -> Response<Bytes> {
    response.extensions_mut().insert(Arc::new(transit));
    response
}

pub(super) fn bad_request() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
