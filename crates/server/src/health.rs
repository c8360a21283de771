//! `/healthz` and `/readyz`: whether the process lives, and whether it wants new connections.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether load balancers shall send new connections here. Starts as "no".
#[derive(Clone, Debug, Default)]
pub(crate) struct Readiness {
    ready: Arc<AtomicBool>,
}

impl Readiness {
    /// Says from now on that new connections are wanted, or not.
    pub(crate) fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }
}

/// The two probes.
pub(crate) fn router(readiness: Readiness) -> Router {
    Router::new().route("/healthz", get(|| async { probe(StatusCode::OK, "ok\n") })).route(
        "/readyz",
        get(move || async move {
            match readiness.is_ready() {
                true => probe(StatusCode::OK, "ready\n"),
                false => probe(StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
            }
        }),
    )
}

fn probe(status: StatusCode, text: &'static str) -> impl IntoResponse {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")], text)
}
