//! Requests by idempotency key, with their answers: bounded by number, bytes and age. Pure state, without IO or clock.
//!
//! Each community has its own shelf. When there is no room, whoever asks most makes room first: a caller at their limit
//! loses their own oldest request, then the community its oldest, then the oldest of all is dropped. A request in
//! progress is never dropped.

#[cfg(test)]
mod tests;

use crate::operation::AnswerKept;
use crate::problem::{Code, Problem};
use axum::http::StatusCode;
use bytes::Bytes;
use chat::{ClientId, CommunityId, Moment, PersonId};
use std::collections::{HashMap, VecDeque};

/// How long a request and its answer are remembered.
pub(crate) const KEEP_MINUTES: u64 = 60;
/// How long an answer with a secret is kept: a client that lost it retries soon.
pub(crate) const KEEP_SECRET_MINUTES: u64 = 5;
/// Remembered requests per caller.
const OF_CALLER_MAX: usize = 100;
/// Remembered requests per community.
const OF_COMMUNITY_MAX: usize = 1_000;
/// Remembered requests in total.
const ALL_MAX: usize = 10_000;
/// Bytes of answers kept per community; beyond it the oldest answers are dropped, but their requests stay remembered.
const COMMUNITY_BYTES_MAX: usize = 1 << 20;
/// The same in total.
const BYTES_MAX: usize = 16 << 20;
const MINUTE_MS: u64 = 60_000;

/// An answer.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Bytes,
}

/// A request with a key.
pub(super) struct KeyedRequest {
    /// `None`: it concerns no community.
    pub(super) community: Option<CommunityId>,
    /// The caller, as named by [`super::name`].
    pub(super) by: String,
    pub(super) key: ClientId,
    /// A hash of the request.
    pub(super) request: u64,
    pub(super) answer_kept: AnswerKept,
}

/// What to do with a request.
pub(super) enum Begun {
    /// Run it, under this number.
    First(u64),
    /// Nothing: it was answered.
    Again(Answer),
}

/// The counters at one moment.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct IdempotencyCounts {
    /// Requests that are remembered by their key.
    pub(crate) keys: u64,
    /// Bytes of their answers.
    pub(crate) answer_bytes: u64,
    /// Repeated requests that got the first answer again, since the start.
    pub(crate) repeated_total: u64,
}

/// See the module.
#[derive(Default)]
pub(super) struct Kept {
    shelves: HashMap<Option<CommunityId>, Shelf>,
    /// Of all shelves.
    count: usize,
    bytes: usize,
    /// The number of the next request.
    next: u64,
    repeated: u64,
}

/// The requests of one community, the oldest first.
#[derive(Default)]
struct Shelf {
    records: VecDeque<Record>,
    bytes: usize,
}

struct Record {
    number: u64,
    by: String,
    key: ClientId,
    request: u64,
    answer_kept: AnswerKept,
    state: State,
}

enum State {
    UnderWay,
    /// A person whom the answer may name was erased meanwhile: the answer is not kept.
    UnderWayUnkept,
    /// Completed at that time. Without an answer, it is no longer kept.
    Done(Moment, Option<Answer>),
}

impl Record {
    fn is_under_way(&self) -> bool {
        matches!(self.state, State::UnderWay | State::UnderWayUnkept)
    }

    /// Returns the bytes that count towards the limits.
    fn bytes(&self) -> usize {
        match &self.state {
            State::Done(_, Some(answer)) => answer.body.len(),
            State::Done(_, None) | State::UnderWay | State::UnderWayUnkept => 0,
        }
    }

    fn forget_answer(&mut self) {
        match &mut self.state {
            State::Done(_, answer) => *answer = None,
            State::UnderWay => self.state = State::UnderWayUnkept,
            State::UnderWayUnkept => {}
        }
    }

    /// Returns whether the answer may contain this text: for one that does not exist yet, that is unknown.
    fn may_name(&self, named: &[u8]) -> bool {
        match &self.state {
            State::Done(_, Some(answer)) => answer.body.windows(named.len()).any(|part| part == named),
            State::Done(_, None) => false,
            State::UnderWay | State::UnderWayUnkept => true,
        }
    }

    /// Returns whether it is still to be remembered, after dropping an answer that is too old.
    fn ages(&mut self, now: Moment) -> bool {
        let State::Done(at, _) = &self.state else {
            return true;
        };
        let age_ms = now.since_ms(*at);
        if self.answer_kept == AnswerKept::Briefly && age_ms >= KEEP_SECRET_MINUTES * MINUTE_MS {
            self.forget_answer();
        }
        age_ms < KEEP_MINUTES * MINUTE_MS
    }
}

impl Kept {
    /// Begins a request.
    ///
    /// # Errors
    /// [`Code::UnderWay`], [`Code::IdempotencyKeyReused`], [`Code::AnswerGone`]; [`Code::Busy`] if there is no room
    /// because too many are in progress.
    pub(super) fn begin(&mut self, asked: KeyedRequest, now: Moment) -> Result<Begun, Problem> {
        let KeyedRequest { community, by, key, request, answer_kept } = asked;
        self.change(&community, |shelf| shelf.records.retain_mut(|record| record.ages(now)));
        let shelf = self.shelves.get(&community);
        if let Some(known) = shelf.and_then(|shelf| shelf.find(&by, &key)) {
            let answer = repeated(known, request)?.clone();
            self.repeated += 1;
            return Ok(Begun::Again(answer));
        }
        self.make_room(&community, &by)?;
        let number = self.next;
        self.next += 1;
        self.change(&community, |shelf| {
            shelf.records.push_back(Record { number, by, key, request, answer_kept, state: State::UnderWay });
        });
        Ok(Begun::First(number))
    }

    /// Records the answer of a completed request.
    pub(super) fn finish(
        &mut self,
        community: &Option<CommunityId>,
        number: u64,
        answer: Answer,
        now: Moment,
    ) {
        let fits = answer.body.len() <= COMMUNITY_BYTES_MAX;
        self.change(community, |shelf| {
            if let Some(record) = shelf.records.iter_mut().find(|record| record.number == number) {
                let is_kept = fits && matches!(record.state, State::UnderWay);
                record.state = State::Done(now, is_kept.then_some(answer));
            }
        });
        while self.bytes > BYTES_MAX
            || self.shelves.get(community).is_some_and(|shelf| shelf.bytes > COMMUNITY_BYTES_MAX)
        {
            self.change(community, |shelf| {
                let oldest = shelf.records.iter_mut().find(|record| record.bytes() > 0);
                oldest.into_iter().for_each(Record::forget_answer);
            });
        }
    }

    /// Frees the key of a request that failed. A completed request is not affected.
    pub(super) fn abandon(&mut self, community: &Option<CommunityId>, number: u64) {
        self.change(community, |shelf| {
            shelf.records.retain(|record| record.number != number || !record.is_under_way());
        });
    }

    /// Forgets what a person asked, and every answer that names them, including those of requests in progress.
    pub(super) fn forget(&mut self, community: &CommunityId, person: &PersonId) {
        // An id contains nothing that JSON escapes.
        let named = format!("\"{person}\"");
        self.change(&Some(community.clone()), |shelf| {
            shelf.records.retain(|record| record.by != person.as_str());
            let naming = shelf.records.iter_mut().filter(|record| record.may_name(named.as_bytes()));
            naming.for_each(Record::forget_answer);
        });
    }

    /// Forgets the requests of a community, and the one that created it; the answers of requests in progress are not
    /// kept.
    pub(super) fn close(&mut self, community: &CommunityId) {
        let named = format!("\"{community}\"");
        self.change(&None, |shelf| {
            shelf.records.retain(|record| record.is_under_way() || !record.may_name(named.as_bytes()));
        });
        self.change(&Some(community.clone()), |shelf| {
            shelf.records.retain(Record::is_under_way);
            shelf.records.iter_mut().for_each(Record::forget_answer);
        });
    }

    /// Drops what is too old.
    pub(super) fn sweep(&mut self, now: Moment) {
        let communities: Vec<_> = self.shelves.keys().cloned().collect();
        for community in communities {
            self.change(&community, |shelf| shelf.records.retain_mut(|record| record.ages(now)));
        }
    }

    pub(super) fn counts(&self) -> IdempotencyCounts {
        let (keys, answer_bytes) = (self.count as u64, self.bytes as u64);
        IdempotencyCounts { keys, answer_bytes, repeated_total: self.repeated }
    }

    /// Changes a shelf, and updates the totals. An empty shelf is removed.
    fn change(&mut self, community: &Option<CommunityId>, act: impl FnOnce(&mut Shelf)) {
        let shelf = self.shelves.entry(community.clone()).or_default();
        let (count, bytes) = (shelf.records.len(), shelf.bytes);
        act(shelf);
        shelf.bytes = shelf.records.iter().map(Record::bytes).sum();
        self.count = self.count - count + shelf.records.len();
        self.bytes = self.bytes - bytes + shelf.bytes;
        if shelf.records.is_empty() {
            self.shelves.remove(community);
        }
    }

    fn make_room(&mut self, community: &Option<CommunityId>, by: &str) -> Result<(), Problem> {
        let (own, all) = self.shelves.get(community).map_or((0, 0), |shelf| {
            (shelf.records.iter().filter(|record| record.by == by).count(), shelf.records.len())
        });
        let was_made = if own >= OF_CALLER_MAX {
            self.drop_oldest(community, |record| record.by == by)
        } else if all >= OF_COMMUNITY_MAX {
            self.drop_oldest(community, |_| true)
        } else if self.count >= ALL_MAX {
            self.drop_oldest(community, |_| true) || self.drop_oldest_of_all()
        } else {
            true
        };
        if was_made { Ok(()) } else { Err(Problem::busy()) }
    }

    /// Returns whether there was one that is not in progress.
    fn drop_oldest(&mut self, community: &Option<CommunityId>, is_meant: impl Fn(&Record) -> bool) -> bool {
        let mut dropped = false;
        self.change(community, |shelf| {
            let oldest = shelf.records.iter().position(|record| !record.is_under_way() && is_meant(record));
            dropped = oldest.and_then(|place| shelf.records.remove(place)).is_some();
        });
        dropped
    }

    fn drop_oldest_of_all(&mut self) -> bool {
        let first =
            |shelf: &Shelf| shelf.records.iter().find(|record| !record.is_under_way()).map(|r| r.number);
        let oldest = self.shelves.iter().filter_map(|(of, shelf)| Some((first(shelf)?, of))).min();
        let Some(community) = oldest.map(|(_, of)| of.clone()) else {
            return false;
        };
        self.drop_oldest(&community, |_| true)
    }
}

impl Shelf {
    fn find(&self, by: &str, key: &ClientId) -> Option<&Record> {
        self.records.iter().find(|record| record.by == by && record.key == *key)
    }
}

/// Returns the answer to the same request.
fn repeated(known: &Record, request: u64) -> Result<&Answer, Problem> {
    if known.request != request {
        let detail = "this idempotency key was used for a different request: use a new key for each request";
        return Err(Problem::new(Code::IdempotencyKeyReused, detail));
    }
    match &known.state {
        State::UnderWay | State::UnderWayUnkept => Err(Problem::under_way()),
        State::Done(_, Some(answer)) => Ok(answer),
        State::Done(_, None) => {
            let detail =
                "the request has succeeded, but its response is no longer kept: look up what it created";
            Err(Problem::new(Code::AnswerGone, detail))
        }
    }
}
