//! Requests with an `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header): each is done once, and answered again as
//! the first time when it is sent again.
//!
//! It owns which request is the same as which, and what outlives a caller who hangs up; what is kept, and for how long, is
//! in [`kept`]. It must never keep what a request said: of that there is a hash under a key of this process.

mod kept;

pub(crate) use kept::{IdempotencyCounts, KEEP_MINUTES, KEEP_SECRET_MINUTES};

use crate::caller::Caller;
use crate::desk::Desk;
use crate::input::{Raw, read_bytes};
use crate::operation::{AnswerKept, Operation};
use crate::problem::{Code, Problem};
use crate::reply;
use axum::body::{Body, to_bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use chat::{ClientId, CommunityId, PersonId};
use kept::{Answer, Asked, Begun, Kept};
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// By which a request is known again.
pub(crate) const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// How often what is too old is looked for.
const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

/// What was asked under which key, in this process.
pub(crate) struct Idempotency {
    hasher: RandomState,
    kept: Mutex<Kept>,
}

/// The key of a request, if it has one: text, bare or as a string in quotes (RFC 8941, section 3.3.3), in which nothing needs
/// to be escaped.
///
/// # Errors
/// It is no client id.
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

    /// Does what is asked under a key, or answers as the first time.
    ///
    /// # Errors
    /// Those of the operation; [`Code::UnderWay`], [`Code::IdempotencyKeyReused`], [`Code::AnswerGone`]; [`Code::Busy`] if too
    /// much is under way.
    pub(crate) async fn once(
        self: &Arc<Self>,
        key: ClientId,
        answer_kept: AnswerKept,
        operation: &Operation,
        desk: Desk,
        raw: Raw,
    ) -> Result<Response, Problem> {
        let Raw { path, uri, headers, body } = raw;
        let body = read_bytes(body).await?;
        // A token for other rooms might not have been answered so.
        let request = (operation.id, uri.path(), uri.query(), &desk.acting, desk.rooms(), &body[..]);
        let asked = Asked {
            community: desk.community.clone(),
            by: name(&desk.caller),
            key,
            request: self.hasher.hash_one(request),
            answer_kept,
        };
        let begun = self.kept().begin(asked, desk.now)?;
        let ticket = match begun {
            Begun::Again(Answer { status, body }) => return Ok(reply::written(status, body)),
            Begun::First(number) => {
                Ticket { idempotency: self.clone(), community: desk.community.clone(), number }
            }
        };
        let running = (operation.run)(desk, Raw { path, uri, headers, body: Body::from(body) });
        // Who hangs up before the answer is who asks again: by then it must be known what came of it.
        let done = tokio::spawn(async move { ticket.keep(running.await?).await });
        done.await.unwrap_or_else(|error| {
            tracing::error!(%error, "a request under an idempotency key did not come to its end");
            Err(Problem::new(Code::Internal, "the server made a mistake: its log says more"))
        })
    }

    /// A person was erased: what they asked is not known any more, and answers that name them are not kept.
    pub(crate) fn forget(&self, community: &CommunityId, person: &PersonId) {
        self.kept().forget(community, person);
    }

    /// A community is no more: nobody who has its name later is answered what was asked in it.
    pub(crate) fn close(&self, community: &CommunityId) {
        self.kept().close(community);
    }

    /// Drops what is too old, for ever: secrets must not wait for somebody to ask.
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

/// Whose keys stand apart from others': as they are called among their community's callers.
fn name(caller: &Caller) -> String {
    match caller {
        // No person's id has a slash.
        Caller::Operator => "/".to_owned(),
        Caller::Stranger => "//".to_owned(),
        Caller::Key { prefix, .. } => format!("/{prefix}"),
        Caller::Person { id, .. } => id.to_string(),
    }
}

/// A request under way. If it comes to nothing, its key is free again.
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
            tracing::error!(%error, "an answer could not be read");
            Problem::new(Code::Internal, "the answer could not be written")
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
