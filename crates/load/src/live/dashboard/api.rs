//! The run as JSON, and the request to stop it.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Deserialize, Serialize};

use crate::live::dashboard::access::Access;
use crate::live::dashboard::viewers::Viewers;
use crate::live::{Board, Status, Stop};

/// Maximum number of rows in one response of `/api/series`; further rows need further requests.
pub const SERIES_ROWS_PER_ANSWER_MAX: usize = 600;

#[derive(Clone)]
struct Shared {
    board: Arc<Board>,
    access: Access,
    viewers: Arc<Viewers>,
}

#[derive(Serialize)]
struct StatusAnswer<'a> {
    #[serde(flatten)]
    status: &'a Status,
    /// `no`, `orderly` or `at_once`.
    stop: &'static str,
    stop_needs_token: bool,
}

#[derive(Deserialize)]
struct SeriesQuery {
    #[serde(default)]
    since: u32,
}

#[derive(Deserialize)]
struct StopQuery {
    #[serde(default)]
    at_once: bool,
}

#[derive(Serialize)]
struct StopAnswer {
    stop: &'static str,
}

pub(super) fn router(board: Arc<Board>, access: Access, viewers: Arc<Viewers>) -> Router {
    Router::new()
        .route("/api/status", get(status))
        .route("/api/series", get(series))
        .route("/api/stop", post(stop))
        .with_state(Shared { board, access, viewers })
}

async fn status(State(shared): State<Shared>) -> Response {
    let status = shared.board.status();
    shared.viewers.told(status.stage);
    fresh(StatusAnswer {
        status: &status,
        stop: stop_name(shared.board.stop()),
        stop_needs_token: shared.access.needs_token(),
    })
}

async fn series(State(shared): State<Shared>, Query(query): Query<SeriesQuery>) -> Response {
    shared.viewers.given_rows();
    fresh(shared.board.series(query.since, SERIES_ROWS_PER_ANSWER_MAX))
}

async fn stop(State(shared): State<Shared>, Query(query): Query<StopQuery>, headers: HeaderMap) -> Response {
    if let Err(refusal) = shared.access.judge_stop(&headers) {
        return refusal.into_response();
    }
    shared.board.request_stop(if query.at_once { Stop::AtOnce } else { Stop::Orderly });
    (StatusCode::ACCEPTED, fresh(StopAnswer { stop: stop_name(shared.board.stop()) })).into_response()
}

fn fresh(body: impl Serialize) -> Response {
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::No => "no",
        Stop::Orderly => "orderly",
        Stop::AtOnce => "at_once",
    }
}
