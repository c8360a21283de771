//! One event that happened to one user.

use serde::{Deserialize, Serialize};

/// Nanoseconds since the start of the run. All machines of a run share the same start, as far as their clocks agree.
pub type Nanos = u64;

/// A user's number in the run, unique across all machines.
pub type UserId = u32;

/// [`Observation::room`] of an event without a room.
pub const NO_ROOM: u32 = u32::MAX;
/// [`Observation::label`] of an event without a label.
pub const NO_LABEL: u16 = u16::MAX;

/// One event. A field that the kind does not use is 0, [`NO_ROOM`] or [`NO_LABEL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// When it was observed.
    pub at: Nanos,
    /// When it should have begun: the scheduled time of a paced send, or the scheduled arrival of a user.
    pub intended: Nanos,
    /// When it actually began: the send, the connect, the request.
    pub began: Nanos,
    /// The message: the sender's number in the upper half, the sender's message count (from 1) in the lower half.
    pub message: u64,
    /// The user that observed it.
    pub user: UserId,
    /// Room, as an index into the run's room table.
    pub room: u32,
    /// Payload size in bytes.
    pub bytes: u32,
    /// How many events this stands for, if more than one. For a [`Kind::Send`], the number of expected receivers; 1 for
    /// a [`Kind::Receive`] of a message that another machine sent, which is expected because it arrived. For a
    /// [`Kind::Connect`], [`Kind::Join`] or [`Kind::Http`], the generator's own delay in microseconds between when the
    /// user could have begun and `began`; where several could begin at the same moment, each one's delay counts from
    /// when the one before it had begun.
    pub count: u32,
    /// Label from the plan (transaction, step).
    pub label: u16,
    /// Source address, as an index into the run's table of source addresses.
    pub source: u16,
    /// HTTP status, close code or similar; for a [`Kind::Missing`], the number (from 1) of another machine that sent
    /// the messages.
    pub code: u16,
    /// What happened.
    pub kind: Kind,
    /// How it ended.
    pub outcome: Outcome,
}

impl Observation {
    /// Returns an observation that belongs to no particular user, for the caller to complete.
    #[must_use]
    pub fn of_nobody(kind: Kind, at: Nanos) -> Self {
        Self {
            at,
            intended: 0,
            began: 0,
            message: 0,
            user: 0,
            room: NO_ROOM,
            bytes: 0,
            count: 0,
            label: NO_LABEL,
            source: 0,
            code: 0,
            kind,
            outcome: Outcome::Ok,
        }
    }
}

/// What happened.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Kind {
    /// A user arrived, or could not be started (`Dropped`). `intended` is the scheduled time. The generator's own delay
    /// counts from `began`: the same time, or when the previous user due at the same moment had arrived.
    Arrival,
    /// A user finished its session (`began` is its arrival). Any outcome but `Ok` is the reason why it ended.
    Finish,
    /// A WebSocket was opened, or failed to open: `began` is before the TCP connect, `at` is the end of the 101 head.
    /// Where the URL selects the room, `room` is the room the user is in from then on.
    Connect,
    /// An open WebSocket ended: `Ok` if we closed it, otherwise the reason; `code` is the close code.
    Disconnect,
    /// A join was answered (`room`), or failed.
    Join,
    /// A room was left: by a leave, a close or an abrupt disconnect.
    Leave,
    /// A message was sent: `intended`, `began` (when the user could have sent it) and `at` (when it was sent); `count`
    /// receivers are expected.
    Send,
    /// A message was received: `intended` and `began` are its intended and actual send time. `Unstamped`: its sender is
    /// unknown.
    Receive,
    /// Messages that `user` should have received in `room` but did not: `count` of them, `Lost` or `InFlight` (the user
    /// left, or the run was stopped, before they could arrive); or `Unjudged` where it cannot be determined whether the
    /// user should have received them. `code` is the machine that sent them, from 1, if it is not the user's own; those
    /// are expected here and not by a send.
    Missing,
    /// A push was answered, or its answer failed to arrive.
    Reply,
    /// A wait ended.
    Wait,
    /// An HTTP request was answered, or failed; `code` is the status. `Stopped`: it had a connection and was waiting
    /// for its response when the run ended.
    Http,
    /// A transaction ended (`label`).
    Transaction,
    /// A scenario's step could not be executed.
    Step,
    /// Everything due on one shard at one moment (`began`) has begun: `count` arrivals, connects, joins, requests, and
    /// disconnects of users who go on without a pause. At `at` the last of them had begun, and the shard had read what
    /// had arrived meanwhile.
    Burst,
}

/// How an event ended. Everything except [`Outcome::Ok`] and the outcomes of messages is an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// As expected.
    Ok,
    /// A received message carried no stamp.
    Unstamped,
    /// A received message had been received before.
    Duplicate,
    /// A received message was overtaken by a later one from the same sender.
    Reordered,
    /// A received message was not expected by this user: it was sent before the user joined or after it left.
    Unexpected,
    /// A message was received in the second half of the drain, when everything should have arrived, or after the drain.
    Late,
    /// A message that never arrived.
    Lost,
    /// A message that was in flight when its receiver left or the run was stopped.
    InFlight,
    /// A message that another machine sent and that did not arrive; it cannot be determined whether it was expected.
    Unjudged,
    /// The user was not started: the phase ended before its turn, or the generator reached a limit.
    Dropped,
    /// The TCP connect took too long.
    ConnectTimeout,
    /// The TCP connect was refused.
    Refused,
    /// The connection was reset by the peer.
    Reset,
    /// The network or the host is unreachable.
    Unreachable,
    /// No source address and port were free.
    NoPort,
    /// The generator ran out of file descriptors.
    NoDescriptor,
    /// The TLS handshake failed.
    Tls,
    /// The response to the upgrade or to the request took too long.
    HandshakeTimeout,
    /// The upgrade was answered with another status, given in `code`.
    Status,
    /// The upgrade was answered with a redirect, given in `code`.
    Redirect,
    /// The 101 response was invalid: wrong accept key, subprotocol or extension.
    BadHandshake,
    /// The peer violated the protocol: WebSocket, HTTP or Phoenix.
    Protocol,
    /// The peer closed the connection; `code` is the WebSocket close code, 1005 if there was none.
    Closed,
    /// The peer ended the connection without a WebSocket close.
    Ended,
    /// No answer arrived in time.
    Timeout,
    /// The server replied with an error (`"status": "error"`, an unexpected HTTP status).
    Rejected,
    /// A heartbeat was not answered in time.
    Heartbeat,
    /// A precondition of the step is missing: no connection, topic not joined, nothing to capture from.
    NotReady,
    /// The scenario gave up (`abort`).
    Aborted,
    /// The run was stopped.
    Stopped,
    /// The peer read too slowly for the generator to keep sending: the outbox was full.
    Overflow,
    /// The machine that played the user was lost during the run.
    AgentLost,
}

impl Outcome {
    /// Returns whether the outcome is an error: neither success, nor the outcome of a message, nor the end of the run.
    #[must_use]
    pub fn is_failure(self) -> bool {
        match self {
            Self::Ok
            | Self::Unstamped
            | Self::Duplicate
            | Self::Reordered
            | Self::Unexpected
            | Self::Late
            | Self::Lost
            | Self::InFlight
            | Self::Unjudged
            | Self::Stopped => false,
            Self::Dropped
            | Self::ConnectTimeout
            | Self::Refused
            | Self::Reset
            | Self::Unreachable
            | Self::NoPort
            | Self::NoDescriptor
            | Self::Tls
            | Self::HandshakeTimeout
            | Self::Status
            | Self::Redirect
            | Self::BadHandshake
            | Self::Protocol
            | Self::Closed
            | Self::Ended
            | Self::Timeout
            | Self::Rejected
            | Self::Heartbeat
            | Self::NotReady
            | Self::Aborted
            | Self::Overflow
            | Self::AgentLost => true,
        }
    }
}
