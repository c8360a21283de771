//! Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): each runs once, and when it is
//! repeated gets the first answer again.
//!
//! It owns which requests count as the same, and keeps a request running after its caller has disconnected; what is
//! kept, and for how long, is in [`kept`]. It must never keep the content of a request: only a hash of it, under a key
//! of this process.

mod kept;

pub(crate) use kept::{IdempotencyCounts, KEEP_MINUTES, KEEP_SECRET_MINUTES};

use crate::caller::Caller;
use crate::input::{Raw, read_bytes};
use crate::operation::{AnswerKept, Operation};
use crate::problem::{Code, Problem};
use crate::reply;
use crate::request_context::RequestContext;
use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use chat::{ClientId, CommunityId, PersonId};
use kept::{Answer, Begun, Kept, KeyedRequest};
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The header with a request's key.
pub(crate) const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// How often entries that are too old are searched for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

/// The requests of this process by their key.
pub(crate) struct Idempotency {
    hasher: RandomState,
    kept: Mutex<Kept>,
}

/// Returns the key of a request, if it has one: text, bare or as a quoted string (RFC 8941, section 3.3.3) without
/// escapes.
///
/// # Errors
/// It is not a valid client id.
pub(crate) fn key_of(headers: &HeaderMap) -> Result<Option<ClientId>, Problem> {
    let Some(value) = headers.get(IDEMPOTENCY_HEADER) else {
        return Ok(None);
    };
    let text = value.to_str().unwrap_or_default().trim();
    let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let key = ClientId::parse(quoted.unwrap_or(text));
    key.map(Some).map_err(|problem| Problem::field(problem.at(IDEMPOTENCY_HEADER)))
}

impl Idempotency {
    pub(crate) fn new() -> Self {
        Self { hasher: RandomState::new(), kept: Mutex::default() }
    }

    /// Runs an operation with a key, or returns the first answer again.
    ///
    /// # Errors
    /// As the operation; [`Code::UnderWay`], [`Code::IdempotencyKeyReused`], [`Code::AnswerGone`]; [`Code::Busy`] if
    /// too many are in progress.
    pub(crate) async fn once(
        self: &Arc<Self>,
        key: ClientId,
        answer_kept: AnswerKept,
        operation: &Operation,
        context: RequestContext,
        raw: Raw,
    ) -> Result<Response, Problem> {
        let Raw { path, uri, headers, body } = raw;
        let body = read_bytes(body).await?;
        // The rooms are part of the request, because a token for other rooms might get another answer.
        let request = (operation.id, uri.path(), uri.query(), &context.acting, context.rooms(), &body[..]);
        let asked = KeyedRequest {
            community: context.community.clone(),
            by: name(&context.caller),
            key,
            request: self.hasher.hash_one(request),
            answer_kept,
        };
        let begun = self.kept().begin(asked, context.now)?;
        let ticket = match begun {
            Begun::Again(Answer { status, body }) => return Ok(reply::written(status, body)),
            Begun::First(number) => {
                Ticket { idempotency: self.clone(), community: context.community.clone(), number }
            }
        };
        let running = (operation.run)(context, Raw { path, uri, headers, body: Body::from(body) });
        // A caller who disconnects before the answer is one who retries: by then the outcome must be known.
        let done = tokio::spawn(async move { ticket.keep(running.await?).await });
        done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a request with an idempotency key did not complete");
            Err(Problem::new(Code::Internal, "internal error: the server's log has the details"))
        })
    }

    /// Forgets what an erased person asked, and the answers that name them.
    pub(crate) fn forget(&self, community: &CommunityId, person: &PersonId) {
        self.kept().forget(community, person);
    }

    /// Forgets the requests of a closed community, so that they do not answer those of a later one with the same name.
    pub(crate) fn close(&self, community: &CommunityId) {
        self.kept().close(community);
    }

    /// Drops what is too old, for ever: secrets must not stay until the next request.
    pub(crate) async fn age(&self) {
        loop {
            tokio::time::sleep(SWEEP_INTERVAL).await;
            self.kept().sweep(messenger::now());
        }
    }

    pub(crate) fn counts(&self) -> IdempotencyCounts {
        self.kept().counts()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the caller's name among the callers of a community; each has its own keys.
fn name(caller: &Caller) -> String {
    match caller {
        // A person's id contains no slash.
        Caller::Operator => "/".to_owned(),
        Caller::Anonymous => "//".to_owned(),
        Caller::Key { prefix, .. } => format!("/{prefix}"),
        Caller::Person { id, .. } => id.to_string(),
    }
}

/// A request in progress. If dropped without an answer, its key is free again.
struct Ticket {
    idempotency: Arc<Idempotency>,
    community: Option<CommunityId>,
    number: u64,
}

impl Ticket {
    async fn keep(self, response: Response) -> Result<Response, Problem> {
        if !response.status().is_success() {
            return Ok(response);
        }
        let (head, body) = response.into_parts();
        let body = to_bytes(body, usize::MAX).await.map_err(|error| {
            tracing::error!(%error, "a response could not be read");
            Problem::new(Code::Internal, "the response could not be written")
        })?;
        let answer = Answer { status: head.status, body: body.clone() };
        self.idempotency.kept().finish(&self.community, self.number, answer, messenger::now());
        Ok(Response::from_parts(head, Body::from(body)))
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.idempotency.kept().abandon(&self.community, self.number);
    }
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn a_key_is_the_same_with_and_without_quotes() {
        for (text, key) in [
            ("order-4711", Some("order-4711")),
            ("\"order-4711\"", Some("order-4711")),
            ("\"order", None),
            ("\"\"", None),
            ("a\\\"b", None),
            ("\"a\";x=1", None),
        ] {
            let headers = HeaderMap::from_iter([(
                axum::http::HeaderName::from_static(IDEMPOTENCY_HEADER),
                HeaderValue::from_static(text),
            )]);
            let read = key_of(&headers).ok().flatten();
            assert_eq!(read.as_ref().map(ClientId::as_str), key, "{text}");
        }
        assert!(key_of(&HeaderMap::new()).is_ok_and(|key| key.is_none()));
    }
}
