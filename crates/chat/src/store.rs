//! The store interface: runs verbs in transactions and answers when they are durable.
//!
//! Answers arrive through callbacks, so that no async runtime is needed here: a server passes one that sends on its own
//! channel.

use crate::rows::Rows;
use crate::verbs::{Append, Appended};
use crate::{Asked, CommunityId, Failure, StoreError, StoreErrorKind};
use std::sync::mpsc;

/// An operation that a store can run.
pub trait Verb: Send + Sized + 'static {
    /// The result type.
    type Answer: Send + 'static;
    /// Whether it may write.
    const WRITES: bool;

    /// The community whose share of the store's time it uses; `None`: the operator's.
    fn community(&self) -> Option<&CommunityId>;

    /// Its cost against that share, in units of about one short message sent, from 1 to [`WEIGHT_MAX`].
    fn weight(&self) -> u32 {
        1
    }

    /// Runs the verb. It may run more than once, if the transaction must be retried.
    ///
    /// # Errors
    /// As the verb's documentation says.
    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure>;

    /// Wraps the verb for a store's queue.
    fn into_request(self, done: Done<Self::Answer>) -> Request {
        let writes = Self::WRITES;
        let work = Box::new(Pending { verb: self, answer: None, waiter: Waiter(Some(done)) });
        if writes { Request::Write(work) } else { Request::Read(work) }
    }
}

/// The maximum weight of a verb: that of one that goes through a whole page of rows.
pub const WEIGHT_MAX: u32 = 100;

/// A completion callback. It is called once, on one of the store's threads, and must neither block nor panic.
pub type Done<T> = Box<dyn FnOnce(Result<T, Failure>) + Send>;

/// An entry of a store's queue.
pub enum Request {
    /// An append. Adjacent appends run as one batch, by [`crate::verbs::append_batch`].
    Append(PendingAppend),
    /// Another verb that writes.
    Write(Box<dyn Work>),
    /// A verb that only reads.
    Read(Box<dyn Work>),
}

impl Request {
    /// The community whose share of the store's time it uses; `None`: the operator's.
    pub fn community(&self) -> Option<&CommunityId> {
        match self {
            Self::Append(append) => append.asked.community(),
            Self::Write(work) | Self::Read(work) => work.community(),
        }
    }

    /// Its cost against that share; see [`Verb::weight`].
    pub fn weight(&self) -> u32 {
        let weight = match self {
            Self::Append(append) => append.asked.weight(),
            Self::Write(work) | Self::Read(work) => work.weight(),
        };
        weight.clamp(1, WEIGHT_MAX)
    }

    /// Answers with `trouble`, without running the request.
    pub fn refuse(self, trouble: StoreError) {
        match self {
            Self::Append(append) => append.settle(Err(trouble.into())),
            Self::Write(work) | Self::Read(work) => work.settle(Err(trouble)),
        }
    }
}

/// A queued verb together with its completion callback.
pub trait Work: Send {
    /// See [`Verb::community`].
    fn community(&self) -> Option<&CommunityId>;

    /// See [`Verb::weight`].
    fn weight(&self) -> u32;

    /// Runs the verb. A rule's failure is kept as the answer, like a success.
    ///
    /// # Errors
    /// A storage failure: the transaction must be rolled back.
    fn run(&mut self, rows: &mut dyn Rows) -> Result<(), StoreError>;

    /// Delivers the answer of the last run, which must be durable by now, or the failure.
    fn settle(self: Box<Self>, outcome: Result<(), StoreError>);
}

struct Pending<V: Verb> {
    verb: V,
    answer: Option<Result<V::Answer, Failure>>,
    waiter: Waiter<V::Answer>,
}

impl<V: Verb> Work for Pending<V> {
    fn community(&self) -> Option<&CommunityId> {
        self.verb.community()
    }

    fn weight(&self) -> u32 {
        self.verb.weight()
    }

    fn run(&mut self, rows: &mut dyn Rows) -> Result<(), StoreError> {
        match self.verb.run(rows) {
            Err(Failure::Unavailable(trouble)) => Err(trouble),
            answer => {
                self.answer = Some(answer);
                Ok(())
            }
        }
    }

    fn settle(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Self { answer, waiter, .. } = *self;
        let answer = answer.unwrap_or_else(|| Err(lost()));
        waiter.tell(outcome.map_err(Failure::Unavailable).and(answer));
    }
}

/// The completion callback. It is called exactly once, even if the store's thread dies.
struct Waiter<T>(Option<Done<T>>);

impl<T> Waiter<T> {
    fn tell(mut self, answer: Result<T, Failure>) {
        if let Some(done) = self.0.take() {
            done(answer);
        }
    }
}

impl<T> Drop for Waiter<T> {
    fn drop(&mut self) {
        if let Some(done) = self.0.take() {
            done(Err(lost()));
        }
    }
}

fn lost() -> Failure {
    StoreError::new(StoreErrorKind::Closed, "the store stopped before it answered").into()
}

/// A queued append together with its completion callback.
pub struct PendingAppend {
    /// The append.
    pub asked: Asked<Append>,
    waiter: Waiter<Appended>,
}

impl PendingAppend {
    /// Creates a queued append.
    pub fn new(asked: Asked<Append>, done: Done<Appended>) -> Self {
        Self { asked, waiter: Waiter(Some(done)) }
    }

    /// Delivers the answer, which must be durable.
    pub fn settle(self, answer: Result<Appended, Failure>) {
        self.waiter.tell(answer);
    }
}

/// A store.
///
/// A community's writes run in the order of submission and are answered once durable. Reads see everything that was
/// answered before they were submitted. Communities share a store evenly: the order between requests of different
/// communities is up to the store.
pub trait Store: Send + Sync {
    /// Identifies this lifetime of the store's data: sequence numbers ([`Seq`](crate::Seq)) from another epoch are
    /// meaningless here. It changes when the store is restored from a copy.
    fn epoch(&self) -> &str;

    /// Submits a request. Never blocks for long: if too many requests wait, of its community or in total, it is
    /// answered at once with [`StoreErrorKind::Busy`].
    fn submit(&self, request: Request);

    /// Memory of this process that the store's page caches take, in bytes. A store elsewhere has none.
    fn page_bytes(&self) -> u64 {
        0
    }
}

/// How callers submit verbs; implemented for every store.
pub trait Ask: Store {
    /// Submits a verb without waiting. `done` is called once, on a thread of the store or on the calling thread.
    fn submit_verb<V: Verb>(&self, verb: V, done: impl FnOnce(Result<V::Answer, Failure>) + Send + 'static) {
        self.submit(verb.into_request(Box::new(done)));
    }

    /// Submits a verb and waits for the answer. Not for threads that must not block.
    ///
    /// # Errors
    /// As the verb's documentation says.
    fn ask<V: Verb>(&self, verb: V) -> Result<V::Answer, Failure> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.submit_verb(verb, move |outcome| {
            // The receiver is only dropped after the answer has arrived, see below.
            let _ = answer.send(outcome);
        });
        answered.recv().unwrap_or_else(|_| Err(lost()))
    }
}

impl<S: Store + ?Sized> Ask for S {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::ReadCommunity;
    use crate::{By, Call, CommunityId, ConversationId, Draft, Entropy, Moment, Ulid};

    fn call() -> Call {
        let community = CommunityId::parse("default").expect("it is a name");
        Call { community, by: By::Service, now: Moment::from_millis(1_000), entropy: Entropy([0; 16]) }
    }

    /// Returns every answer that the caller receives until the request is dropped.
    fn told<V: Verb>(verb: V, end: impl FnOnce(Request)) -> Vec<&'static str> {
        let (answer, answers) = mpsc::channel();
        let done = move |outcome: Result<V::Answer, Failure>| {
            answer.send(outcome.map_or_else(|failure| failure.code(), |_| "done")).expect("the test waits");
        };
        end(verb.into_request(Box::new(done)));
        answers.iter().collect()
    }

    #[test]
    fn who_asks_is_told_once_also_where_the_request_is_lost() {
        let append = || {
            let conversation = ConversationId(Ulid::from_bytes([0; 16]));
            call().ask(Append { conversation, draft: Draft::text(None, "hello") })
        };
        assert_eq!(told(append(), drop), ["unavailable"]);
        assert_eq!(told(call().ask(ReadCommunity), drop), ["unavailable"]);
        let busy = |request: Request| request.refuse(StoreError::new(StoreErrorKind::Busy, "too many"));
        assert_eq!(told(append(), busy), ["busy"]);
        assert_eq!(told(call().ask(ReadCommunity), busy), ["busy"]);
    }
}
