//! The reference page: our own page that renders the OpenAPI document, and loads nothing from elsewhere.

use crate::problem::Problem;
use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::IntoResponse;
use axum::routing::{any, get};

/// Only its own files and the document, and no framing.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Returns the routes of the page and its files.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/api", file("text/html; charset=utf-8", include_str!("../assets/reference.html")))
        .route("/api/reference.css", file("text/css; charset=utf-8", include_str!("../assets/reference.css")))
        .route(
            "/api/reference.js",
            file("text/javascript; charset=utf-8", include_str!("../assets/reference.js")),
        )
        .route("/api/v1", any(|| async { Problem::not_found() }))
}

fn file(content_type: &'static str, content: &'static str) -> axum::routing::MethodRouter {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    get(move || async move { (headers, content).into_response() })
}
