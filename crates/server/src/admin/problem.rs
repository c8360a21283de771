//! Errors of the administration API, as RFC 9457 problem documents.

use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use gateway::BroadcastError;
use serde_json::json;

/// An error response; `detail` tells the caller what to do.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    detail: String,
}

impl Problem {
    /// The request does not conform to the documentation.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Problem {
        Problem { status: StatusCode::BAD_REQUEST, detail: detail.into() }
    }

    /// The request does not present the token.
    pub(crate) fn unauthorized() -> Problem {
        let detail =
            "send the token from the file `admin-token` in the data directory as `Authorization: Bearer …`";
        Problem { status: StatusCode::UNAUTHORIZED, detail: detail.into() }
    }

    /// There is nothing under this path.
    pub(crate) fn not_found() -> Problem {
        Problem { status: StatusCode::NOT_FOUND, detail: "this path does not exist".into() }
    }

    /// A broadcast was not accepted.
    pub(crate) fn not_taken(reason: BroadcastError) -> Problem {
        match reason {
            BroadcastError::NotAnObject => Problem::bad_request(reason.to_string()),
            // The server is overloaded.
            _ => Problem {
                status: StatusCode::SERVICE_UNAVAILABLE,
                detail: format!("{reason}: try again later"),
            },
        }
    }

    /// The request was executed on this node, but the bus to the others is away.
    pub(crate) fn other_nodes_not_told() -> Problem {
        Problem {
            status: StatusCode::SERVICE_UNAVAILABLE,
            detail: "the sockets of this node were closed, but the bus is unavailable and the other nodes were not \
                 told: try again later"
                .into(),
        }
    }

    /// The path exists, but not with this method.
    pub(crate) fn method_not_allowed() -> Problem {
        Problem {
            status: StatusCode::METHOD_NOT_ALLOWED,
            detail: "this path does not support this method".into(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or_default();
        let document = json!({
            "type": "about:blank",
            "title": title,
            "status": self.status.as_u16(),
            "code": code(self.status),
            "detail": self.detail,
        });
        let mut response = (self.status, document.to_string()).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

/// Returns the code for programs: the same names as in the messenger's API.
fn code(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "malformed",
        StatusCode::UNAUTHORIZED => "credentials_missing",
        StatusCode::NOT_FOUND => "not_found",
        StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
        StatusCode::SERVICE_UNAVAILABLE => "busy",
        _ => "internal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_to_do_is_a_problem_document_with_status_503() {
        let response = Problem::not_taken(BroadcastError::Full).into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/problem+json");
    }
}
