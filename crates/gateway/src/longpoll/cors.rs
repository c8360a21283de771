//! Cross-origin headers: reference section 5.2.

use crate::handshake::Head;
use bytes::Bytes;
use hyper::Response;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, HeaderMap, HeaderValue,
};

pub(super) fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

/// Answers OPTIONS: all requested headers are allowed.
pub(super) fn preflight(head: &Head<'_>) -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    let headers = response.headers_mut();
    allow_any_origin(headers);
    let asked = head.values("access-control-request-headers").next();
    if let Some(asked) = asked.and_then(|asked| HeaderValue::from_bytes(asked).ok()) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked);
    }
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("get, post, options"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    response
}
