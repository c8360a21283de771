//! Requests the status of a running server.

use crate::asking::{AskError, Server};
use crate::status::Status;
use hyper::{Method, StatusCode};
use std::fmt;

/// How many of the largest topics and slowest readers are requested.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusLimits {
    pub(super) topics: usize,
    pub(super) readers: usize,
}

impl StatusLimits {
    /// As many as a screen shows.
    pub(super) const ALL: StatusLimits = StatusLimits { topics: 20, readers: 20 };
}

/// Why there is no status.
#[derive(Debug)]
pub(crate) enum ScrapeError {
    /// The server could not be asked.
    Ask(AskError),
    /// It answered with another status code.
    Status { authority: String, status: StatusCode },
    /// Its answer is not a status document.
    Content { authority: String, error: serde_json::Error },
}

impl fmt::Display for ScrapeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScrapeError::Ask(error) => error.fmt(f),
            ScrapeError::Status { authority, status } => {
                write!(
                    f,
                    "{authority}: response status {status}: check that it is the administration address of a \
                     server of this version"
                )
            }
            ScrapeError::Content { authority, error } => {
                write!(f, "{authority}: invalid response: {error}")
            }
        }
    }
}

impl std::error::Error for ScrapeError {}

/// Requests the status.
pub(super) fn status(server: &Server, asked: StatusLimits) -> Result<Status, ScrapeError> {
    let path = format!("/api/status?topics={}&readers={}", asked.topics, asked.readers);
    let (status, body) = server.ask(&Method::GET, &path, None).map_err(ScrapeError::Ask)?;
    let authority = || server.authority().to_owned();
    if status != StatusCode::OK {
        return Err(ScrapeError::Status { authority: authority(), status });
    }
    serde_json::from_slice(&body).map_err(|error| ScrapeError::Content { authority: authority(), error })
}
