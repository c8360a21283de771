//! What a store is: something that runs verbs in transactions and answers when they are durable.
//!
//! It is asked by callbacks, which no runtime has to be known for: a server hands in what sends on a channel of its own.

use crate::rows::Rows;
use crate::verbs::{Append, Appended};
use crate::{Asked, CommunityId, Failure, Trouble, TroubleKind};
use std::sync::mpsc;

/// Something that can be asked of a store.
pub trait Verb: Send + Sized + 'static {
    /// What comes back.
    type Answer: Send + 'static;
    /// Whether it may write.
    const WRITES: bool;

    /// Whose share of a store's time it takes; none: the operator's.
    fn community(&self) -> Option<&CommunityId>;

    /// How much of that share: about as many short messages could be sent meanwhile, from 1 to [`WEIGHT_MAX`].
    fn weight(&self) -> u32 {
        1
    }

    /// Does it. It may be run again, if the transaction has to be repeated.
    ///
    /// # Errors
    /// As the verb's documentation says.
    fn run(&self, rows: &mut dyn Rows) -> Result<Self::Answer, Failure>;

    /// How it stands in a store's queue.
    fn into_request(self, done: Done<Self::Answer>) -> Request {
        let writes = Self::WRITES;
        let work = Box::new(Pending { verb: self, answer: None, waiter: Waiter(Some(done)) });
        if writes { Request::Write(work) } else { Request::Read(work) }
    }
}

/// The heaviest that a verb can be: one that goes over a whole page of rows.
pub const WEIGHT_MAX: u32 = 100;

/// Is called once, on a thread of the store: it must neither block nor panic.
pub type Done<T> = Box<dyn FnOnce(Result<T, Failure>) + Send>;

/// What stands in a store's queue.
pub enum Request {
    /// An append. Those that stand together are done together, by [`crate::verbs::append_batch`].
    Append(PendingAppend),
    /// Another verb that writes.
    Write(Box<dyn Work>),
    /// A verb that only reads.
    Read(Box<dyn Work>),
}

impl Request {
    /// Whose share of the store's time it takes; none: the operator's.
    pub fn community(&self) -> Option<&CommunityId> {
        match self {
            Self::Append(append) => append.asked.community(),
            Self::Write(work) | Self::Read(work) => work.community(),
        }
    }

    /// How much of that share; see [`Verb::weight`].
    pub fn weight(&self) -> u32 {
        let weight = match self {
            Self::Append(append) => append.asked.weight(),
            Self::Write(work) | Self::Read(work) => work.weight(),
        };
        weight.clamp(1, WEIGHT_MAX)
    }

    /// Answers without having done it.
    pub fn refuse(self, trouble: Trouble) {
        match self {
            Self::Append(append) => append.settle(Err(trouble.into())),
            Self::Write(work) | Self::Read(work) => work.settle(Err(trouble)),
        }
    }
}

/// A verb whose answer is waited for.
pub trait Work: Send {
    /// See [`Verb::community`].
    fn community(&self) -> Option<&CommunityId>;

    /// See [`Verb::weight`].
    fn weight(&self) -> u32;

    /// Runs the verb. A rule's failure is an answer like another and is kept.
    ///
    /// # Errors
    /// Storage trouble: the transaction must be taken back.
    fn run(&mut self, rows: &mut dyn Rows) -> Result<(), Trouble>;

    /// Gives the answer of the last run, which is durable now; or the trouble.
    fn settle(self: Box<Self>, outcome: Result<(), Trouble>);
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

    fn run(&mut self, rows: &mut dyn Rows) -> Result<(), Trouble> {
        match self.verb.run(rows) {
            Err(Failure::Unavailable(trouble)) => Err(trouble),
            answer => {
                self.answer = Some(answer);
                Ok(())
            }
        }
    }

    fn settle(self: Box<Self>, outcome: Result<(), Trouble>) {
        let Self { answer, waiter, .. } = *self;
        let answer = answer.unwrap_or_else(|| Err(lost()));
        waiter.tell(outcome.map_err(Failure::Unavailable).and(answer));
    }
}

/// Who waits for an answer. They are told once, whatever becomes of the store's thread.
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
    Trouble::new(TroubleKind::Closed, "the store ended before it answered").into()
}

/// An append whose answer is waited for.
pub struct PendingAppend {
    /// What is appended.
    pub asked: Asked<Append>,
    waiter: Waiter<Appended>,
}

impl PendingAppend {
    /// Waits.
    pub fn new(asked: Asked<Append>, done: Done<Appended>) -> Self {
        Self { asked, waiter: Waiter(Some(done)) }
    }

    /// Gives the answer, which must be durable.
    pub fn settle(self, answer: Result<Appended, Failure>) {
        self.waiter.tell(answer);
    }
}

/// A store.
///
/// Requests of one community that write are done in the order in which they came, and are answered when they are durable.
/// Requests that read see everything that was answered before they were submitted. Communities share a store evenly: which
/// of two communities' requests is done first is the store's to decide.
pub trait Store: Send + Sync {
    /// Names this life of the store's order: places ([`Seq`](crate::Seq)) of another epoch say nothing here. It is another
    /// one after the store was restored from a copy.
    fn epoch(&self) -> &str;

    /// Takes a request. It never blocks for long: when too many wait, of its community or altogether, it is answered at
    /// once with [`TroubleKind::Busy`].
    fn submit(&self, request: Request);
}

/// How a store is asked; every store has it.
pub trait Ask: Store {
    /// Asks, and goes on. `done` is called once, on a thread of the store or on this one.
    fn submit_verb<V: Verb>(&self, verb: V, done: impl FnOnce(Result<V::Answer, Failure>) + Send + 'static) {
        self.submit(verb.into_request(Box::new(done)));
    }

    /// Asks, and waits for the answer. Not for a thread that may not block.
    ///
    /// # Errors
    /// As the verb's documentation says.
    fn ask<V: Verb>(&self, verb: V) -> Result<V::Answer, Failure> {
        let (answer, answered) = mpsc::sync_channel(1);
        self.submit_verb(verb, move |outcome| {
            // Nobody else holds the other end, and it waits below.
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

    /// What who asks is told until the request is gone.
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
        let busy = |request: Request| request.refuse(Trouble::new(TroubleKind::Busy, "too many"));
        assert_eq!(told(append(), busy), ["busy"]);
        assert_eq!(told(call().ask(ReadCommunity), busy), ["busy"]);
    }
}
