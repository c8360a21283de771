//! Cross-origin headers. Reference section 5.2.

use axum::body::Body;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderMap, HeaderValue,
};
use hyper::{Request, Response};

pub(super) fn allow_any_origin(headers: &mut HeaderMap) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
}

/// The answer to OPTIONS: what was asked for is allowed.
pub(super) fn preflight<B>(request: &Request<B>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    let headers = response.headers_mut();
    allow_any_origin(headers);
    if let Some(asked) = request.headers().get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("get, post, options"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("3600"));
    response
}
