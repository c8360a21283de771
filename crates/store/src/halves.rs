//! Messages that wait together, in two parts that a database can store at the same time.

use chat::Request;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Fewer are stored sooner than they are divided.
const DIVIDED_MIN: usize = 64;

/// Two parts of which neither looks at a row that the other writes, each in the order in which it came.
///
/// # Errors
/// All of them, as they came: there is something else among them than messages, a sender's client id stands there twice, or
/// they are few.
pub(crate) fn divide(requests: Vec<Request>) -> Result<[Vec<Request>; 2], Vec<Request>> {
    if requests.len() < DIVIDED_MIN || !are_apart(&requests) {
        return Err(requests);
    }
    let hasher = RandomState::new();
    let mut halves = [Vec::new(), Vec::new()];
    for request in requests {
        let half = match &request {
            // The places in a conversation are given by one part.
            Request::Append(append) => hasher.hash_one(append.asked.command.conversation) as usize % 2,
            Request::Write(_) | Request::Read(_) => 0,
        };
        halves[half].push(request);
    }
    Ok(halves)
}

/// Whether all are messages that have nothing but conversations in common.
fn are_apart(requests: &[Request]) -> bool {
    let mut client_ids = HashSet::with_capacity(requests.len());
    requests.iter().all(|request| match request {
        Request::Append(append) => {
            let (call, draft) = (&append.asked.call, &append.asked.command.draft);
            draft.client_id.as_ref().is_none_or(|id| client_ids.insert((&call.community, call.by.name(), id)))
        }
        Request::Write(_) | Request::Read(_) => false,
    })
}
