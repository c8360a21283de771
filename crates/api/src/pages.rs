//! Requests from pages in browsers: which origins may send them, and the CORS headers (according to the [Fetch
//! standard](https://fetch.spec.whatwg.org/#http-cors-protocol)).
//!
//! An origin is allowed by the community's list, or, if it has none, by the server's rule for sockets. From any other
//! origin, requests with a person's token or without credentials are refused; a key is not used by pages, and is
//! checked on its own.

use crate::Shared;
use crate::addresses::Remote;
use crate::problem::{Code, Problem};
use axum::extract::Request;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chat::{CommunityId, Failure};
use std::time::Instant;

/// Headers that a page may send beside the safelisted ones.
const HEADERS_TAKEN: &str = "Authorization, Content-Type, Idempotency-Key";
/// Response headers that a page may read beside the safelisted ones.
const HEADERS_TOLD: &str = "Retry-After, WWW-Authenticate";
/// How long a browser may cache a preflight, in seconds. A page that is no longer allowed is refused all the same.
const ASKED_AGAIN_AFTER: &str = "600";

/// Whether the server's own rule allows the request's origin: a request extension, set by the server that mounts the
/// routes. Without it, only a community's list allows origins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageLetIn(pub bool);

/// The page that sent a request.
pub(crate) struct Page {
    origin: HeaderValue,
    /// Whether the server's own rule allows it.
    is_let_in: bool,
}

impl Page {
    /// Returns the page; `None` if there is no origin, as from clients other than browsers.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let origin = request.headers().get(ORIGIN)?.clone();
        let is_let_in =
            request.extensions().get::<PageLetIn>().is_some_and(|PageLetIn(is_let_in)| *is_let_in);
        Some(Self { origin, is_let_in })
    }

    /// Checks that a page may use a community.
    ///
    /// # Errors
    /// [`Code::OriginRefused`]; or the store is unavailable.
    pub(crate) async fn admit(&self, shared: &Shared, community: &CommunityId) -> Result<(), Problem> {
        if self.may_use(shared, community).await? { Ok(()) } else { Err(refused()) }
    }

    /// Lets a page that may use the community read an answer, also an error.
    pub(crate) async fn let_read(&self, shared: &Shared, community: &CommunityId, response: &mut Response) {
        if self.may_use(shared, community).await.unwrap_or(self.is_let_in) {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(HEADERS_TOLD));
        }
    }

    /// An origin that is not text cannot be in a list. A community that does not exist counts as one without a list, so
    /// that nobody learns which exist.
    async fn may_use(&self, shared: &Shared, community: &CommunityId) -> Result<bool, Failure> {
        let Ok(origin) = self.origin.to_str() else { return Ok(false) };
        match shared.messenger.lets_in(community, origin).await {
            Ok(judged) => Ok(judged.unwrap_or(self.is_let_in)),
            Err(Failure::Absent(_)) => Ok(self.is_let_in),
            Err(failure) => Err(failure),
        }
    }

    /// Checks a page's preflight. An origin that the server's rule allows needs no look at the community: the request
    /// itself is checked later.
    ///
    /// # Errors
    /// [`Code::OriginRefused`], also if there is no such community; or the address has sent too many.
    async fn may_ask(
        &self,
        shared: &Shared,
        community: &CommunityId,
        remote: Option<Remote>,
    ) -> Result<(), Problem> {
        let now = Instant::now();
        shared.strangers.admit(remote, now)?;
        if self.is_let_in || self.may_use(shared, community).await.unwrap_or(false) {
            return Ok(());
        }
        shared.strangers.count(remote, now)?;
        Err(refused())
    }
}

fn refused() -> Problem {
    Problem::new(
        Code::OriginRefused,
        "this community does not accept requests from pages of this origin: add the \
         origin to its list",
    )
}

/// Answers differ by origin, which caches have to know.
pub(crate) fn differ_by_page(response: &mut Response) {
    response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
}

/// Answers a preflight; nothing else uses `OPTIONS`.
///
/// # Errors
/// It is not a preflight, or the page may not send such a request.
pub(crate) async fn preflight(
    shared: &Shared,
    community: Option<CommunityId>,
    request: Request,
    allow: &str,
) -> Result<Response, Problem> {
    let asked = request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let (Some(page), Some(community), true) = (Page::of(&request), community, asked) else {
        return Err(Problem::method_not_allowed(allow.to_owned()));
    };
    let remote = request.extensions().get::<Remote>().copied();
    drop(request);
    page.may_ask(shared, &community, remote).await?;
    let methods = HeaderValue::from_str(allow).unwrap_or_else(|_| HeaderValue::from_static("GET"));
    let headers = [
        (ACCESS_CONTROL_ALLOW_ORIGIN, page.origin),
        (ACCESS_CONTROL_ALLOW_METHODS, methods),
        (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(HEADERS_TAKEN)),
        (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(ASKED_AGAIN_AFTER)),
    ];
    Ok((StatusCode::NO_CONTENT, headers).into_response())
}
