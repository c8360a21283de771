//! Answers to long-polling clients. The HTTP status is 200; the real one stands in the body.

use super::cors;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

/// No more than a status.
pub(super) fn status(status: u16) -> Response<Bytes> {
    answer(&json!({ "status": status }))
}

/// A body with a status in it.
pub(super) fn answer(body: &Value) -> Response<Bytes> {
    written(Bytes::from(body.to_string()))
}

/// A body as another node wrote it.
pub(super) fn written(body: Bytes) -> Response<Bytes> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    cors::allow_any_origin(headers);
    response
}

pub(super) fn bad_request() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
