//! Messages from other threads to a shard.

use crate::admission::Visit;
use crate::relay::Reply;
use crate::shard::{Question, SessionToken, ShardCensus, Transit};
use bytes::Bytes;
use hub::{Answer, BusEvent, NewConnection, ShardMessage, TaskOwner};
use proto::phoenix::{FrameKind, Version};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// One mailbox message.
pub(crate) enum Mail {
    /// A message for this shard's hub, from another hub or from outside.
    Shard(ShardMessage),
    /// From the bus between nodes.
    Bus(BusEvent),
    /// A spawned task finished.
    Answer { owner: TaskOwner, answer: Answer },
    /// A client begins a long-poll session.
    SessionOpen { seed: SessionSeed, reply: Reply<String> },
    /// A client waits for messages.
    Poll { token: SessionToken, reply: Reply<PollAnswer> },
    /// A client sends messages.
    Post { token: SessionToken, messages: Vec<(FrameKind, Bytes)>, reply: Reply<PostAnswer> },
    /// Requests the largest topics and the slowest readers here.
    Census { question: Question, reply: Reply<ShardCensus> },
    /// Requests the number of members that these topics have here.
    Members { topics: Arc<[Arc<str>]>, reply: Reply<Vec<usize>> },
    /// It is this shard's turn to serve its crowds.
    Turn,
    /// Close every socket with 1012 and end every session, spread over this time; reply when none is left.
    Drain { spread: Duration, reply: Reply<()> },
}

/// What accompanies a socket whose handshake was done elsewhere.
pub(crate) struct Seed {
    pub(crate) mount: hub::MountIndex,
    pub(crate) deflate: Option<proto::ws::deflate::Agreed>,
    pub(crate) visit: Arc<Visit>,
    /// `None` for an echo mount.
    pub(crate) socket: Option<(Version, SocketParts)>,
    /// Dropped when the shard has the socket.
    pub(crate) transit: Transit,
}

/// The parts of a [`Socket`](crate::Socket).
pub(crate) struct SocketParts {
    pub(crate) id: Option<Box<str>>,
    pub(crate) assigns: Option<Arc<dyn Any + Send + Sync>>,
}

impl From<crate::Socket> for SocketParts {
    fn from(socket: crate::Socket) -> SocketParts {
        SocketParts { id: socket.id, assigns: socket.assigns }
    }
}

/// The parameters of a new long-poll session.
pub(crate) struct SessionSeed {
    pub(crate) mount: hub::MountIndex,
    pub(crate) version: Version,
    pub(crate) socket: SocketParts,
    /// How long a poll waits.
    pub(crate) window: Duration,
    /// 128 random bits.
    pub(crate) secret: u128,
    pub(crate) seat: Seat,
}

/// Holds the counts of a session, for its address and in total, until it is dropped. Nobody ever waits for such a
/// permit, so releasing one on a shard does not wake the runtime, which a shard must not do directly.
pub(crate) struct Seat {
    pub(crate) _visit: Visit,
    pub(crate) _place: OwnedSemaphorePermit,
}

/// The answer to a poll.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PollAnswer {
    /// The messages that waited.
    Messages(Vec<Bytes>),
    /// Nothing within the window.
    Nothing,
    /// There is no such session.
    Gone,
}

/// The outcome of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostAnswer {
    /// Every message has been handled.
    Taken,
    /// A message could not be decoded, and the session has ended.
    Undecodable,
    /// There is no such session.
    Gone,
}

/// Converts to the hub's type for a new connection.
pub(crate) fn new_connection(
    key: hub::ConnectionKey,
    mount: hub::MountIndex,
    dialect: hub::Dialect,
    socket: SocketParts,
) -> NewConnection {
    NewConnection { key, mount, dialect, socket_id: socket.id, assigns: socket.assigns }
}
