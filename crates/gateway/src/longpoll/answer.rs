//! Answers to long-polling clients. The HTTP status is 200; the real one stands in the body.

use super::cors;
use crate::shard::Transit;
use bytes::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;

/// Among the extensions of an answer behind which its session goes on.
#[derive(Clone, Copy)]
struct SessionGoesOn;

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

/// The answer of a session that its client is to come back to.
pub(super) fn going_on(mut response: Response<Bytes>) -> Response<Bytes> {
    response.extensions_mut().insert(SessionGoesOn);
    response
}

/// Whether the client comes back to its session, and by this connection if it may: a gateway that drains answers nobody by
/// a new one.
pub(crate) fn goes_on<B>(response: &Response<B>) -> bool {
    response.extensions().get::<SessionGoesOn>().is_some()
}

/// An answer for which a drain waits until it has been written.
pub(super) fn awaited(mut response: Response<Bytes>, transit: Transit) -> Response<Bytes> {
    response.extensions_mut().insert(Arc::new(transit));
    response
}

pub(super) fn bad_request() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::BAD_REQUEST;
    response
}
