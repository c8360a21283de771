//! `/healthz` and `/readyz`: whether the process lives, and whether it wants new connections.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;
use bus::State;
use jiff::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether load balancers shall send new connections here. Starts as "no".
#[derive(Clone, Default)]
pub(crate) struct Readiness {
    ready: Arc<AtomicBool>,
    /// None where there is one node.
    bus: Option<bus::Status>,
}

impl Readiness {
    /// Not ready yet, and with this to say of the bus.
    pub(crate) fn with_bus(bus: Option<bus::Status>) -> Readiness {
        Readiness { bus, ..Readiness::default() }
    }

    /// Says from now on that new connections are wanted, or not.
    pub(crate) fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// A node whose bus is away is wanted as before: its clients are served, and those of other nodes are no better off.
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

/// The two probes.
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
