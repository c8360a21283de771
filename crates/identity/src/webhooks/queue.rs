//! The interface of a webhook queue.

use std::fmt;
use std::future::Future;

use bytes::Bytes;

use crate::authority::Community;
use crate::outbound::Target;
use crate::signature::SigningSecrets;

/// Milliseconds since 1970-01-01T00:00:00Z. Stored, so their meaning must not change with a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub u64);

/// An endpoint, by its number in the queue, which no endpoint of any other community has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointId(pub u64);

/// A message's id: the same for every attempt, so that receivers can detect duplicates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub String);

/// A community's webhook endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its id.
    pub id: EndpointId,
    /// The community that it belongs to.
    pub community: Community,
    /// Its URL.
    pub target: Target,
    /// The secrets that requests are signed with.
    pub secrets: SigningSecrets,
}

/// A webhook message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: MessageId,
    /// The `sub` of the person it is about, so that it can be erased with them.
    pub person: String,
    /// The id of the conversation it is about, so that it can be erased with it.
    pub conversation: Option<String>,
    /// JSON body.
    pub body: Bytes,
    /// When it was queued.
    pub queued: UnixMillis,
    /// Number of failed attempts.
    pub attempts: u32,
}

impl Message {
    /// Returns whether it is about this person or conversation.
    pub(super) fn is_about(&self, subject: MessageSubject<'_>) -> bool {
        match subject {
            MessageSubject::Person(person) => self.person == person,
            MessageSubject::Conversation(conversation) => self.conversation.as_deref() == Some(conversation),
        }
    }
}

/// A person or conversation that messages are about, within a community.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSubject<'a> {
    /// The `sub` of a person.
    Person(&'a str),
    /// The id of a conversation.
    Conversation(&'a str),
}

/// An endpoint and its oldest message.
#[derive(Clone, Debug)]
pub struct Head {
    /// The endpoint, as currently configured.
    pub endpoint: Endpoint,
    /// The next message to deliver.
    pub message: Message,
}

/// An endpoint with waiting messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its community.
    pub community: Community,
    /// It must not be tried before this time.
    pub not_before: UnixMillis,
    /// Number of consecutive failures.
    pub failures: u32,
}

/// Why a message is given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyDead {
    /// It reached the maximum number of attempts.
    Attempts {
        /// The last error.
        last: String,
    },
    /// Its last attempt failed, or that of a message before it, and it was too old by then.
    Age {
        /// The last error.
        last: String,
    },
    /// The endpoint answered 410 (Gone): it must not get this or any later message.
    Gone,
}

impl fmt::Display for WhyDead {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyDead::Attempts { last } => write!(to, "too many failed attempts; the last one: {last}"),
            WhyDead::Age { last } => write!(to, "too old; the last attempt: {last}"),
            WhyDead::Gone => to.write_str("the endpoint responded with 410 (Gone)"),
        }
    }
}

/// A message that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadLetter {
    /// The message.
    pub message: Message,
    /// Why it was given up.
    pub why: WhyDead,
    /// When it was given up.
    pub at: UnixMillis,
}

/// A failure of the queue itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueError(pub String);

impl fmt::Display for QueueError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for QueueError {}

type Answer<T> = Result<T, QueueError>;

/// Stores messages in order of arrival, per endpoint. Whoever adds a message calls [`super::Deliveries::wake`] once it
/// is stored. Each operation is complete when its future is: with a durable queue, it is then durable. The outcome of
/// an attempt is reported even if its endpoint was removed or its message forgotten in the meantime, which is not an
/// error.
pub trait Queue: Send + Sync + 'static {
    /// Returns the endpoints with waiting messages, when deliveries start.
    fn waiting(&self) -> impl Future<Output = Answer<Vec<Waiting>>> + Send;

    /// Returns an endpoint's oldest message; `None` if nothing waits or the endpoint was removed.
    fn head(&self, endpoint: EndpointId) -> impl Future<Output = Answer<Option<Head>>> + Send;

    /// Removes the oldest message, which was delivered.
    fn delivered(&self, endpoint: EndpointId, message: &MessageId)
    -> impl Future<Output = Answer<()>> + Send;

    /// Records a failed attempt: the message's number of attempts, the endpoint's consecutive failures, and when to try
    /// next.
    fn failed(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        attempts: u32,
        failures: u32,
        not_before: UnixMillis,
    ) -> impl Future<Output = Answer<()>> + Send;

    /// Moves the oldest message to the dead letters, where people can see it.
    fn dead(
        &self,
        endpoint: EndpointId,
        message: &MessageId,
        why: WhyDead,
        at: UnixMillis,
    ) -> impl Future<Output = Answer<()>> + Send;
}
