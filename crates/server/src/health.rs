//! `/healthz` and `/readyz`: whether the process is alive, and whether it wants new connections.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;
use bus::State;
use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether load balancers should send new connections here. Initially not.
#[derive(Clone, Default)]
pub(crate) struct Readiness {
    ready: Arc<AtomicBool>,
    /// `None` if this is the only node.
    bus: Option<bus::Status>,
}

impl Readiness {
    /// Creates the state, not ready, with the status of the bus to report.
    pub(crate) fn with_bus(bus: Option<bus::Status>) -> Readiness {
        Readiness { bus, ..Readiness::default() }
    }

    /// Sets whether new connections are wanted.
    pub(crate) fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// Formats the status of the bus. A node whose bus is away stays ready: it serves its clients, and other nodes
    /// would not be better for them.
    fn bus_line(&self) -> String {
        let date = |since| Timestamp::try_from(since).map_or("unknown".into(), |since| format!("{since:.0}"));
        match self.bus.as_ref().map(bus::Status::state) {
            None => String::new(),
            Some(State::Up { since }) => format!("bus: up since {}\n", date(since)),
            Some(State::Away { since, because }) => {
                format!("bus: away since {} because {because}\n", date(since))
            }
        }
    }

    fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }
}

/// Creates the routes of the two probes.
pub(crate) fn router(readiness: Readiness) -> Router {
    Router::new().route("/healthz", get(|| async { probe(StatusCode::OK, "ok\n".into()) })).route(
        "/readyz",
        get(move || async move {
            match readiness.is_ready() {
                true => probe(StatusCode::OK, format!("ready\n{}", readiness.bus_line())),
                false => {
                    probe(StatusCode::SERVICE_UNAVAILABLE, format!("not ready\n{}", readiness.bus_line()))
                }
            }
        }),
    )
}

fn probe(status: StatusCode, text: String) -> impl IntoResponse {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")], text)
}
