//! What a queue of webhooks must offer.

use std::fmt;
use std::future::Future;

use bytes::Bytes;

use crate::authority::Community;
use crate::outbound::Target;
use crate::signature::SigningSecrets;

/// Milliseconds since 1970-01-01T00:00:00Z. They are stored, so they must mean the same after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub u64);

/// An endpoint, by the number that the queue knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u64);

/// A message's id: the same in each attempt, so that a receiver can tell a repetition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub String);

/// Where a community wants to be told.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Which.
    pub id: EndpointId,
    /// Whose.
    pub community: Community,
    /// Where.
    pub target: Target,
    /// What requests are signed with.
    pub secrets: SigningSecrets,
}

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Which.
    pub id: MessageId,
    /// Of whom it tells, so that it can be forgotten with them: `sub`.
    pub person: String,
    /// JSON.
    pub body: Bytes,
    /// When it was put into the queue.
    pub queued: UnixMillis,
    /// Attempts that failed.
    pub attempts: u32,
}

/// An endpoint and its oldest message.
#[derive(Clone, Debug)]
pub struct Head {
    /// As it is configured now.
    pub endpoint: Endpoint,
    /// What is to be delivered next.
    pub message: Message,
}

/// An endpoint that something waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Which.
    pub endpoint: EndpointId,
    /// Whose.
    pub community: Community,
    /// Before when it is not to be tried.
    pub not_before: UnixMillis,
    /// Attempts in a row that failed.
    pub failures: u32,
}

/// Why a message is given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyDead {
    /// It was tried as often as it may be.
    Attempts {
        /// What was the matter the last time.
        last: String,
    },
    /// It was tried once more when it was already too old.
    Age {
        /// What was the matter the last time.
        last: String,
    },
    /// The endpoint answered 410 (Gone): it is to be told nothing any more, by this or any later message.
    Gone,
}

impl fmt::Display for WhyDead {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyDead::Attempts { last } => write!(to, "tried too often: {last}"),
            WhyDead::Age { last } => write!(to, "too old: {last}"),
            WhyDead::Gone => to.write_str("the endpoint answered 410 (Gone)"),
        }
    }
}

/// A message that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// What was to be told.
    pub message: Message,
    /// Why it was given up.
    pub why: WhyDead,
    /// When.
    pub at: UnixMillis,
}

/// What went wrong with the queue itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError(pub String);

impl fmt::Display for QueueError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for QueueError {}

type Answer<T> = Result<T, QueueError>;

/// Keeps messages in the order in which they came, one line for each endpoint. Who puts a message in tells
/// [`super::Deliveries::wake`] when it is kept. Each verb is done when its future is: what is durable, is durable then. What
/// became of an attempt is told also when its endpoint was removed or its message forgotten meanwhile, which is no error.
pub trait Queue: Send + Sync + 'static {
    /// The endpoints that something waits for, when deliveries begin.
    fn waiting(&self) -> impl Future<Output = Answer<Vec<Waiting>>> + Send;

    /// The oldest message of an endpoint, or none when nothing waits, or the endpoint is no more.
    fn head(&self, endpoint: EndpointId) -> impl Future<Output = Answer<Option<Head>>> + Send;

    /// The oldest message was delivered: take it out.
    fn delivered(&self, endpoint: EndpointId, message: &MessageId)
    -> impl Future<Output = Answer<()>> + Send;

    /// An attempt failed: note how often its message was tried, how often the endpoint failed in a row, and when to try
    /// it next.
    fn failed(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        attempts: u32,
        failures: u32,
        not_before: UnixMillis,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// The oldest message is given up: put it aside, where people see it.
    fn dead(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        why: WhyDead,
        at: UnixMillis,
    ) -> impl Future<Output = Answer<()>> + Send;
}
