//! What other threads tell a shard.

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

/// One letter.
pub(crate) enum Mail {
    /// From a hub, or for one.
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
    /// Which topics are the largest here, and who reads slowest?
    Census { question: Question, reply: Reply<ShardCensus> },
    /// How many members have these topics here?
    Members { topics: Arc<[Arc<str>]>, reply: Reply<Vec<usize>> },
    /// It is this shard's turn to serve its crowds.
    Turn,
    /// Close every socket with 1012 and end every session, spread over this time, and say when nobody is left.
    Drain { spread: Duration, reply: Reply<()> },
}

/// What travels with a socket whose handshake was done elsewhere.
pub(crate) struct Seed {
    pub(crate) mount: hub::MountIndex,
    pub(crate) deflate: Option<proto::ws::deflate::Agreed>,
    pub(crate) visit: Arc<Visit>,
    /// Absent for an echo mount.
    pub(crate) socket: Option<(Version, SocketParts)>,
    /// Ends when the shard has the socket.
    pub(crate) transit: Transit,
}

/// A [`Socket`](crate::Socket), taken apart.
pub(crate) struct SocketParts {
    pub(crate) id: Option<Box<str>>,
    pub(crate) assigns: Option<Arc<dyn Any + Send + Sync>>,
}

impl From<crate::Socket> for SocketParts {
    fn from(socket: crate::Socket) -> SocketParts {
        SocketParts { id: socket.id, assigns: socket.assigns }
    }
}

/// What a new long-poll session is.
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

/// What counts a session, to its address and in all, until it is dropped. Nobody ever waits for such a permit, so letting
/// go of one on a shard wakes nobody, which a shard must not do itself.
pub(crate) struct Seat {
    pub(crate) _visit: Visit,
    pub(crate) _place: OwnedSemaphorePermit,
}

/// What a poll brings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PollAnswer {
    /// These.
    Messages(Vec<Bytes>),
    /// Nothing within the window.
    Nothing,
    /// There is no such session.
    Gone,
}

/// What became of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostAnswer {
    /// Every message has been handled.
    Taken,
    /// A message could not be decoded, and the session is over.
    Undecodable,
    /// There is no such session.
    Gone,
}

/// A hub's view of a new connection.
pub(crate) fn new_connection(
    key: hub::ConnectionKey,
    mount: hub::MountIndex,
    dialect: hub::Dialect,
    socket: SocketParts,
) -> NewConnection {
    NewConnection { key, mount, dialect, socket_id: socket.id, assigns: socket.assigns }
}
