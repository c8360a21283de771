//! The dashboard's page, embedded at build time: one self-contained file.

use axum::Router;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::IntoResponse;
use axum::routing::get;

#[cfg(page_is_built)]
const PAGE: Option<&str> = Some(include_str!("../../../../../web/dist-lab/lab.html"));
#[cfg(not(page_is_built))]
const PAGE: Option<&str> = None;

const PAGE_MISSING: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Stampede</title>\
     <h1>The run goes on</h1><p>This binary was built without its page. To build both, run <code>make page</code>, or \
     <code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, and build Stampede again. The figures are at \
     <a href=\"/api/status\">/api/status</a>, <a href=\"/api/series\">/api/series</a> and \
     <a href=\"/metrics\">/metrics</a> all the same.</p></html>\n";

/// The page itself contains its content security policy, with the hashes of its script and style. Only a header can
/// forbid framing.
const FRAME_POLICY: &str = "frame-ancestors 'none'";

pub(super) fn router() -> Router {
    Router::new().route("/", get(page))
}

async fn page() -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (CONTENT_SECURITY_POLICY, FRAME_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
    ];
    (headers, PAGE.unwrap_or(PAGE_MISSING))
}
