//! Requests of pages in browsers: from which pages people may ask, and what browsers are told of it (CORS, as the
//! [Fetch standard](https://fetch.spec.whatwg.org/#http-cors-protocol) has it).
//!
//! A page is let in by the community's list of origins, or, where it has none, by the server's rule for sockets. Who shows a
//! person's token or nothing is refused otherwise; a key is no page's, and is judged by itself.

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

/// What a page may send beside what every page may.
const HEADERS_TAKEN: &str = "Authorization, Content-Type, Idempotency-Key";
/// What a page may read of an answer's head beside what every page may.
const HEADERS_TOLD: &str = "Retry-After, WWW-Authenticate";
/// For how long a browser need not ask again, in seconds. A page that is let in no more is refused all the same.
const ASKED_AGAIN_AFTER: &str = "600";

/// Whether the server's own rule lets the page in from which a request comes: an extension of requests, by who serves the routes.
/// Without it none is let in but by a community.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageLetIn(pub bool);

/// The page from which a request comes.
pub(crate) struct Page {
    origin: HeaderValue,
    /// By the server's own rule.
    is_let_in: bool,
}

impl Page {
    /// None for what is no page of a browser, which sends no origin.
    pub(crate) fn of(request: &Request) -> Option<Self> {
        let origin = request.headers().get(ORIGIN)?.clone();
        let is_let_in =
            request.extensions().get::<PageLetIn>().is_some_and(|PageLetIn(is_let_in)| *is_let_in);
        Some(Self { origin, is_let_in })
    }

    /// Lets pass a page that may use a community.
    ///
    /// # Errors
    /// [`Code::OriginRefused`]; or the store cannot be asked.
    pub(crate) async fn admit(&self, shared: &Shared, community: &CommunityId) -> Result<(), Problem> {
        if self.may_use(shared, community).await? { Ok(()) } else { Err(refused()) }
    }

    /// Lets a page read an answer of a community that it may use, also if that is an error.
    pub(crate) async fn let_read(&self, shared: &Shared, community: &CommunityId, response: &mut Response) {
        if self.may_use(shared, community).await.unwrap_or(self.is_let_in) {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(HEADERS_TOLD));
        }
    }

    /// A header that is no text is no origin that a list could have. A community that is not there is one without a list, so that
    /// nobody learns which exist.
    async fn may_use(&self, shared: &Shared, community: &CommunityId) -> Result<bool, Failure> {
        let Ok(origin) = self.origin.to_str() else { return Ok(false) };
        match shared.messenger.lets_in(community, origin).await {
            Ok(judged) => Ok(judged.unwrap_or(self.is_let_in)),
            Err(Failure::Absent(_)) => Ok(self.is_let_in),
            Err(failure) => Err(failure),
        }
    }

    /// What a browser is told that asks whether the page may ask, by methods of a path. The server's own pages need no look at
    /// the community: what they ask is judged when they ask it.
    ///
    /// # Errors
    /// [`Code::OriginRefused`], also where there is no such community; or the address asks so too often.
    async fn may_ask(
        &self,
        shared: &Shared,
        community: &CommunityId,
        remote: Option<Remote>,
    ) -> Result<(), Problem> {
        let now = messenger::now();
        shared.strangers.admit(remote, now)?;
        if self.is_let_in || self.may_use(shared, community).await.unwrap_or(false) {
            return Ok(());
        }
        shared.strangers.count(remote, now)?;
        Err(refused())
    }
}

fn refused() -> Problem {
    Problem::new(Code::OriginRefused, "this community is not used from this page")
}

/// Answers are another for other pages: whoever keeps some has to know that.
pub(crate) fn differ_by_page(response: &mut Response) {
    response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
}

/// Answers a browser that asks whether a page may ask; nothing else asks by `OPTIONS`.
///
/// # Errors
/// It is no such question, or the page may not ask.
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
