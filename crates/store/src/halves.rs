//! Splits queued messages into two parts that a database can store concurrently.

use chat::Request;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// Fewer messages are stored faster without splitting.
const DIVIDED_MIN: usize = 64;

/// Splits into two parts, neither of which reads rows that the other writes, each in order of arrival.
///
/// # Errors
/// All requests, unchanged: they are not only messages, or a sender's client id occurs twice, or they are few.
pub(crate) fn divide(requests: Vec<Request>) -> Result<[Vec<Request>; 2], Vec<Request>> {
    if requests.len() < DIVIDED_MIN || !are_apart(&requests) {
        return Err(requests);
    }
    let hasher = RandomState::new();
    let mut halves = [Vec::new(), Vec::new()];
    for request in requests {
        let half = match &request {
            // One part must assign all sequence numbers of a conversation.
            Request::Append(append) => hasher.hash_one(append.asked.command.conversation) as usize % 2,
            Request::Write(_) | Request::Read(_) => 0,
        };
        halves[half].push(request);
    }
    Ok(halves)
}

/// Whether all are messages that share nothing but conversations.
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
