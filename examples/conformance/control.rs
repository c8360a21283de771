//! The fixture's control endpoints: what server code does outside its channels.

use crate::room::Counts;
use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::routing::{get, post};
use gateway::Handle;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(crate) fn router(handle: Arc<OnceLock<Handle>>, counts: Arc<Counts>) -> Router {
    let publisher = handle.clone();
    Router::new()
        .route("/_fixture/broadcast", post(async move |body: Bytes| broadcast(&publisher, &body)))
        .route(
            "/_fixture/drain",
            post(async move || handle.get().map_or(StatusCode::SERVICE_UNAVAILABLE, drain)),
        )
        .route("/_fixture/events", get(async move || counts.json().to_string()))
}

fn broadcast(handle: &OnceLock<Handle>, body: &[u8]) -> (StatusCode, String) {
    let Some(handle) = handle.get() else { return (StatusCode::SERVICE_UNAVAILABLE, String::new()) };
    let Ok(message) = serde_json::from_slice::<Value>(body) else {
        return (StatusCode::BAD_REQUEST, "the body is not JSON".to_owned());
    };
    let (Some(topic), Some(event)) = (message["topic"].as_str(), message["event"].as_str()) else {
        return (StatusCode::BAD_REQUEST, "`topic` and `event` must be strings".to_owned());
    };
    match handle.broadcast(topic, event, message.get("payload").unwrap_or(&json!({}))) {
        Ok(()) => (StatusCode::NO_CONTENT, String::new()),
        Err(full) => (StatusCode::SERVICE_UNAVAILABLE, full.to_string()),
    }
}

/// Closes every socket with 1012, then ends the program.
pub(crate) fn drain(handle: &Handle) -> StatusCode {
    let handle = handle.clone();
    std::thread::spawn(move || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() {
            runtime.block_on(async {
                // Does not wait for peers that do not answer the close.
                let _ =
                    tokio::time::timeout(Duration::from_secs(5), handle.drain(Duration::from_millis(100)))
                        .await;
            });
        }
        handle.stop();
    });
    StatusCode::NO_CONTENT
}
