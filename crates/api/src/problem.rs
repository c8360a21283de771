//! Errors as RFC 9457 problem documents: the one place that assigns each its status and code.

use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chat::{Failure, FieldProblem, Refusal, StoreErrorKind};
use messenger::TooManyMessages;
use schemars::JsonSchema;
use serde::Serialize;

/// How long to wait while the first request with an idempotency key is in progress.
const UNDER_WAY_RETRY_S: u64 = 1;
/// How long to wait before a retry when the storage is busy, or away.
const BUSY_RETRY_S: u64 = 1;
const AWAY_RETRY_S: u64 = 5;

macro_rules! codes {
    ($(#[doc = $docs:literal] $code:ident $name:literal $status:ident;)*) => {
        /// What went wrong, for programs.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Code {
            $(#[doc = $docs] $code,)*
        }

        impl Code {
            /// All codes, with their descriptions.
            pub(crate) const ALL: &[(Self, &'static str)] = &[$((Self::$code, $docs)),*];

            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)* }
            }

            pub(crate) const fn status(self) -> StatusCode {
                match self { $(Self::$code => StatusCode::$status,)* }
            }

            /// Returns the code with this name, as the messenger's rules use it.
            fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().map(|(code, _)| *code).find(|code| code.name() == name)
            }
        }
    };
}

codes! {
    /// The request is not valid HTTP or JSON.
    Malformed "malformed" BAD_REQUEST;
    /// The request carries no credentials: send `Authorization: Bearer` with a server key or a person's token.
    CredentialsMissing "credentials_missing" UNAUTHORIZED;
    /// The server key does not belong to this community, or is no longer valid.
    KeyInvalid "key_invalid" UNAUTHORIZED;
    /// The token is not valid in this community: do not try it again.
    TokenInvalid "token_invalid" UNAUTHORIZED;
    /// The token has expired: get a new one.
    TokenExpired "token_expired" UNAUTHORIZED;
    /// The token was revoked.
    TokenRevoked "token_revoked" UNAUTHORIZED;
    /// The token cannot be verified now, because the host site's keys cannot be fetched: try again with the same token.
    TokenUnverifiable "token_unverifiable" SERVICE_UNAVAILABLE;
    /// The key lacks the scope that `detail` names.
    ScopeMissing "scope_missing" FORBIDDEN;
    /// These credentials cannot be used for this operation.
    CallerRefused "caller_refused" FORBIDDEN;
    /// The request comes from a page whose origin is not in the community's list.
    OriginRefused "origin_refused" FORBIDDEN;
    /// The caller's role does not permit this, or not for that person.
    NotPermitted "not_permitted" FORBIDDEN;
    /// The person is banned; `until` is when the ban ends, if it does.
    Banned "banned" FORBIDDEN;
    /// The person is muted: they can read but not write; `until` is when the mute ends, if it does.
    Muted "muted" FORBIDDEN;
    /// One of the two people has blocked the other.
    Blocked "blocked" FORBIDDEN;
    /// The community does not admit guests.
    GuestsRefused "guests_refused" FORBIDDEN;
    /// The community's site refused it.
    RefusedBySite "refused_by_site" FORBIDDEN;
    /// It does not exist, or the caller is not allowed to know that it does.
    NotFound "not_found" NOT_FOUND;
    /// The path does not support this method.
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED;
    /// The request body did not arrive in time; nothing was done.
    BodyOverdue "body_overdue" REQUEST_TIMEOUT;
    /// The name is already in use.
    NameTaken "name_taken" CONFLICT;
    /// This client id or idempotency key was used for a different message.
    ClientIdReused "client_id_reused" CONFLICT;
    /// The first request with this idempotency key is still in progress: wait for the time in `Retry-After`, then send it again.
    UnderWay "under_way" CONFLICT;
    /// The request with this idempotency key has succeeded, but its response is no longer kept: look up what it created.
    AnswerGone "answer_gone" CONFLICT;
    /// The message was deleted.
    Deleted "deleted" CONFLICT;
    /// The last owner must make someone else an owner first.
    LastOwner "last_owner" CONFLICT;
    /// A limit is reached: `limit` is its name and `max` its value.
    LimitReached "limit_reached" CONFLICT;
    /// The request body is too large.
    TooLarge "too_large" PAYLOAD_TOO_LARGE;
    /// The body's media type is not `application/json`.
    MediaType "media_type" UNSUPPORTED_MEDIA_TYPE;
    /// Some fields are invalid; `errors` lists them.
    Invalid "invalid" UNPROCESSABLE_ENTITY;
    /// This idempotency key was used for a different request: use a new key for each request.
    IdempotencyKeyReused "idempotency_key_reused" UNPROCESSABLE_ENTITY;
    /// Too many requests from this caller or address, or too many messages from this person or community: wait for the time in `Retry-After`.
    RateLimited "rate_limited" TOO_MANY_REQUESTS;
    /// The room is in slow mode: wait for the time in `Retry-After`.
    SlowMode "slow_mode" TOO_MANY_REQUESTS;
    /// The storage is overloaded: try again soon.
    Busy "busy" SERVICE_UNAVAILABLE;
    /// The community's site must authorize this request but cannot be reached: try again later.
    SiteUnavailable "site_unavailable" SERVICE_UNAVAILABLE;
    /// The storage or another component is unavailable: try again later.
    Unavailable "unavailable" SERVICE_UNAVAILABLE;
    /// An internal error of the server; its log has the details.
    Internal "internal" INTERNAL_SERVER_ERROR;
}

/// A problem document.
#[derive(Debug)]
pub(crate) struct Problem {
    code: Code,
    members: Box<Members>,
    allow: Option<String>,
}

/// What is wrong with a request (RFC 9457).
#[derive(Serialize, JsonSchema, Debug, Default)]
#[schemars(rename = "Problem")]
struct Members {
    /// The explanation of the code, as a URL relative to the API's address.
    #[serde(rename = "type")]
    kind: String,
    /// The HTTP status as text.
    title: String,
    /// The HTTP status code.
    status: u16,
    /// The kind of problem, for programs.
    code: &'static str,
    /// What went wrong and what to do, for people.
    detail: String,
    /// The invalid fields.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
    /// When a ban or mute ends, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<u64>,
    /// How long to wait before the next attempt, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// The name of the limit that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<&'static str>,
    /// The value of the limit that was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
}

/// What is wrong with one field.
#[derive(Serialize, JsonSchema, Debug)]
struct FieldError {
    /// The path of the field in the body, such as `attachments[2].name`, or the name of the query or path parameter.
    field: String,
    /// What is wrong, for programs.
    code: &'static str,
    /// What is wrong, for people.
    message: String,
}

impl Problem {
    /// Creates a problem with this detail.
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        let status = code.status();
        let members = Members {
            kind: format!("/api#{}", code.name()),
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            code: code.name(),
            detail: detail.into(),
            ..Members::default()
        };
        Self { code, members: Box::new(members), allow: None }
    }

    /// The request has no credentials.
    pub(crate) fn credentials_missing() -> Self {
        let detail = "send a server key or a person's token as `Authorization: Bearer …`";
        Self::new(Code::CredentialsMissing, detail)
    }

    /// The object does not exist, or the caller may not know of it.
    pub(crate) fn not_found() -> Self {
        Self::new(Code::NotFound, "it does not exist, or you are not allowed to know that it does")
    }

    /// One field is wrong.
    pub(crate) fn field(problem: FieldProblem) -> Self {
        Self::from(Failure::Invalid(vec![problem]))
    }

    /// The path exists, and accepts the methods in `allow`.
    pub(crate) fn method_not_allowed(allow: String) -> Self {
        let mut problem = Self::new(Code::MethodNotAllowed, format!("this path supports only {allow}"));
        problem.allow = Some(allow);
        problem
    }

    /// The community's own site does not answer, and must be asked.
    pub(crate) fn site_away() -> Self {
        let detail =
            "the community's site must authorize this request but cannot be reached now: try again later";
        Self::new(Code::SiteUnavailable, detail).waiting(AWAY_RETRY_S * 1_000)
    }

    /// The first request with this idempotency key has not been answered yet.
    pub(crate) fn under_way() -> Self {
        let detail = "the first request with this idempotency key is still in progress: send it again later";
        Self::new(Code::UnderWay, detail).waiting(UNDER_WAY_RETRY_S * 1_000)
    }

    /// The server is overloaded.
    pub(crate) fn busy() -> Self {
        Self::new(Code::Busy, "the server is overloaded: try again").waiting(BUSY_RETRY_S * 1_000)
    }

    /// Too many requests.
    pub(crate) fn rate_limited(wait_ms: u64) -> Self {
        Self::new(Code::RateLimited, format!("too many requests: wait {wait_ms} ms")).waiting(wait_ms)
    }

    /// Too many requests without valid credentials from one address.
    pub(crate) fn address_limited(wait_ms: u64) -> Self {
        let detail =
            format!("too many requests without valid credentials from this address: wait {wait_ms} ms");
        Self::new(Code::RateLimited, detail).waiting(wait_ms)
    }

    /// Too many requests of people at one address.
    pub(crate) fn address_crowded(wait_ms: u64) -> Self {
        let detail = format!("too many requests from the people at this address: wait {wait_ms} ms");
        Self::new(Code::RateLimited, detail).waiting(wait_ms)
    }

    /// Returns whether the credentials are at fault.
    pub(crate) fn is_of_credentials(&self) -> bool {
        self.code.status() == StatusCode::UNAUTHORIZED
    }

    /// Returns the code.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// Returns the schema of the document.
    pub(crate) fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        generator.subschema_for::<Members>()
    }

    fn waiting(mut self, wait_ms: u64) -> Self {
        self.members.retry_after_ms = Some(wait_ms);
        self
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        let code = Code::named(failure.code()).unwrap_or(Code::Internal);
        match failure {
            Failure::Invalid(problems) => {
                let mut problem = Self::new(code, Failure::Invalid(problems.clone()).to_string());
                problem.members.errors = problems.into_iter().map(FieldError::from).collect();
                problem
            }
            // Which object is absent may be more than the caller may know.
            Failure::Absent(_) => Self::not_found(),
            Failure::Refused(refusal) => refused(code, refusal),
            Failure::Conflict(conflict) => Self::new(code, conflict.to_string()),
            Failure::Unavailable(trouble) => {
                messenger::log_trouble(&trouble);
                match trouble.kind {
                    StoreErrorKind::Busy => Self::busy(),
                    StoreErrorKind::Corrupt => Self::new(
                        code,
                        "the server cannot read its stored data: its log has \
                         the details",
                    ),
                    StoreErrorKind::Full
                    | StoreErrorKind::ReadOnly
                    | StoreErrorKind::Io
                    | StoreErrorKind::Away
                    | StoreErrorKind::Contended
                    | StoreErrorKind::Overdue
                    | StoreErrorKind::Closed => {
                        Self::new(code, "the storage is unavailable: try again later")
                            .waiting(AWAY_RETRY_S * 1_000)
                    }
                }
            }
        }
    }
}

impl From<TooManyMessages> for Problem {
    fn from(too_many: TooManyMessages) -> Self {
        let mut problem = Self::new(Code::RateLimited, too_many.to_string()).waiting(too_many.wait_ms);
        (problem.members.limit, problem.members.max) = (Some(too_many.limit), Some(too_many.max.into()));
        problem
    }
}

fn refused(code: Code, refusal: Refusal) -> Problem {
    let mut problem = Problem::new(code, refusal.to_string());
    match refusal {
        Refusal::NotPermitted(_) | Refusal::Blocked => {}
        Refusal::Banned { until } | Refusal::Muted { until } => {
            problem.members.until = until.map(chat::Moment::millis);
        }
        Refusal::SlowMode { retry_after_ms } => problem = problem.waiting(retry_after_ms),
        Refusal::LimitReached { limit, max } => {
            (problem.members.limit, problem.members.max) = (Some(limit), Some(max));
        }
    }
    problem
}

impl From<FieldProblem> for FieldError {
    fn from(problem: FieldProblem) -> Self {
        Self { field: problem.field, code: problem.code, message: problem.message }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        // Texts and numbers always serialize.
        let document = serde_json::to_string(&self.members).unwrap_or_default();
        let mut response = (self.code.status(), document).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait_ms) = self.members.retry_after_ms {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait_ms.div_ceil(1_000).max(1)));
        }
        if let Some(allow) = self.allow.and_then(|allow| HeaderValue::try_from(allow).ok()) {
            headers.insert(ALLOW, allow);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat::{Action, Conflict, StoreError, Thing};

    #[test]
    fn every_code_of_the_rules_has_a_status_here() {
        let failures = [
            Failure::Invalid(Vec::new()),
            Failure::Absent(Thing::Person),
            Refusal::NotPermitted(Action::Send).into(),
            Refusal::Banned { until: None }.into(),
            Refusal::Muted { until: None }.into(),
            Refusal::SlowMode { retry_after_ms: 1 }.into(),
            Refusal::Blocked.into(),
            Refusal::LimitReached { limit: "group_max", max: 50 }.into(),
            Conflict::NameTaken.into(),
            Conflict::ClientIdReused.into(),
            Conflict::Deleted.into(),
            Conflict::LastOwner.into(),
            StoreError::new(StoreErrorKind::Busy, "").into(),
            StoreError::new(StoreErrorKind::Away, "").into(),
            StoreError::new(StoreErrorKind::Corrupt, "").into(),
        ];
        for failure in failures {
            assert!(Code::named(failure.code()).is_some(), "{failure:?}");
        }
    }

    #[test]
    fn who_must_wait_learns_how_long() {
        let response =
            Problem::from(Failure::from(Refusal::SlowMode { retry_after_ms: 1_200 })).into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[RETRY_AFTER], "2");
    }

    #[test]
    fn what_the_storage_says_is_not_told_to_clients() {
        let trouble = StoreError::new(StoreErrorKind::Io, "/srv/secret/path: no space");
        let problem = Problem::from(Failure::from(trouble));
        assert!(!problem.members.detail.contains("secret"));
    }
}
