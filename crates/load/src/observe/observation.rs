//! One thing that happened to one user.

use serde::{Deserialize, Serialize};

/// Nanoseconds since the run's start. The start of all machines of a run is the same moment, as well as their clocks
/// agree.
pub type Nanos = u64;

/// A user's number in the run, over all machines.
pub type UserId = u32;

/// [`Observation::room`] of what happened in none.
pub const NO_ROOM: u32 = u32::MAX;
/// [`Observation::label`] of what has none.
pub const NO_LABEL: u16 = u16::MAX;

/// One thing that happened. What a kind does not use is 0, [`NO_ROOM`] or [`NO_LABEL`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Observation {
    /// When it was seen.
    pub at: Nanos,
    /// When it ought to have begun: the beat of a paced send, the arrival of a user.
    pub intended: Nanos,
    /// When it began: the send, the connect, the request.
    pub began: Nanos,
    /// Which message: the sender's number in the upper half, its count of messages (from 1) in the lower.
    pub message: u64,
    /// Who saw it.
    pub user: UserId,
    /// Room, as an index into the run's table of rooms.
    pub room: u32,
    /// Bytes of the payload.
    pub bytes: u32,
    /// How many, where one observation stands for several; expected receivers of a [`Kind::Send`]; 1 for a
    /// [`Kind::Receive`] of a message that another machine sent, which is expected because it came; for a
    /// [`Kind::Connect`], [`Kind::Join`] or [`Kind::Http`] the generator's own delay in microseconds, between when the
    /// user could have begun and `began`; of those that could begin at the same moment, each since the one before it
    /// had begun.
    pub count: u32,
    /// Label of the plan (transaction, step).
    pub label: u16,
    /// Source address, as an index into the run's table of source addresses.
    pub source: u16,
    /// HTTP status, close code or the like; of a [`Kind::Missing`] another machine that sent the messages, from 1.
    pub code: u16,
    /// What.
    pub kind: Kind,
    /// How it went.
    pub outcome: Outcome,
}

impl Observation {
    /// Something that no user in particular has seen, for the caller to complete.
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
    /// A user arrived (`intended` is the schedule's time, `began` from when on the generator's own delay counts: the
    /// same, or when the one before had come that was due at the same moment), or could not be started (`Dropped`).
    Arrival,
    /// A user finished its session (`began` is its arrival). Any outcome but `Ok` is what ended it.
    Finish,
    /// A WebSocket was opened, or could not be: `began` is before the TCP connect, `at` the end of the 101 head. `room`
    /// is the one that it is in from then on, where the URL is the room.
    Connect,
    /// An open WebSocket ended: `Ok` by us, else why; `code` is the close code.
    Disconnect,
    /// A join was answered (`room`), or was not.
    Join,
    /// A room was left: by a leave, a close or a cut.
    Leave,
    /// A message was sent: `intended`, `began` (when the user could have sent it) and `at` (when it went); `count`
    /// receivers are expected.
    Send,
    /// A message came: `intended` and `began` are its intended and actual send time. `Unstamped`: nobody's in
    /// particular.
    Receive,
    /// Messages that `user` should have got in `room` and did not: `count` of them, `Lost` or `InFlight` (it left, or
    /// the run was stopped, before they could come); or of which cannot be told whether it should, `Unjudged`. `code` is
    /// the machine that sent them, from 1, if it is not the user's own; these are expected here, and not by a send.
    Missing,
    /// A push was answered, or was not.
    Reply,
    /// A wait ended.
    Wait,
    /// An HTTP request was answered, or was not; `code` is the status. `Stopped`: it had a connection, and waited for
    /// its response when the run ended.
    Http,
    /// A transaction ended (`label`).
    Transaction,
    /// A scenario's step could not be done.
    Step,
    /// All have begun that were due on one shard at one moment, `began`: `count` arrivals, connects, joins,
    /// requests, and cuts of users who go on without a pause. At `at` the last of them had, and the shard had read what had
    /// come meanwhile.
    Burst,
}

/// How it went. Everything except [`Outcome::Ok`] and the outcomes of messages is an error.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// As it should.
    Ok,
    /// A received message carried no stamp.
    Unstamped,
    /// A received message had come before.
    Duplicate,
    /// A received message was overtaken by a later one of the same sender.
    Reordered,
    /// A received message was not expected by this user: sent before it joined or after it left.
    Unexpected,
    /// A received message came in the second half of the drain, when everything ought to have come, or behind it.
    Late,
    /// A message that never came.
    Lost,
    /// A message that was on its way when its receiver left or the run was stopped.
    InFlight,
    /// A message that another machine sent and that did not come, of which cannot be told whether it was expected.
    Unjudged,
    /// The user was not started: the phase ended before its turn, or a limit of the generator.
    Dropped,
    /// The TCP connect took too long.
    ConnectTimeout,
    /// The TCP connect was refused.
    Refused,
    /// The connection was reset by the peer.
    Reset,
    /// The network or the host cannot be reached.
    Unreachable,
    /// No source address and port was free.
    NoPort,
    /// The generator ran out of descriptors.
    NoDescriptor,
    /// The TLS handshake failed.
    Tls,
    /// The response to the upgrade or to the request took too long.
    HandshakeTimeout,
    /// The upgrade was answered with another status; `code` has it.
    Status,
    /// The upgrade was answered with a redirect; `code` has it.
    Redirect,
    /// The 101 response was not right: wrong accept key, subprotocol or extension.
    BadHandshake,
    /// The peer broke the protocol: WebSocket, HTTP or Phoenix.
    Protocol,
    /// The peer closed; `code` has the WebSocket close code, 1005 without one.
    Closed,
    /// The peer ended the connection without a WebSocket close.
    Ended,
    /// No answer in time.
    Timeout,
    /// An error reply of the server's (`"status": "error"`, an unexpected HTTP status).
    Rejected,
    /// A heartbeat was not answered in time.
    Heartbeat,
    /// What the step needs is not there: no connection, topic not joined, nothing to capture from.
    NotReady,
    /// The scenario gave up (`abort`).
    Aborted,
    /// The run was stopped.
    Stopped,
    /// The generator could not send as fast as the peer read too slowly: the outbox was full.
    Overflow,
    /// The machine that played the user was lost.
    AgentLost,
}

impl Outcome {
    /// Whether something went wrong: it is neither success, nor what becomes of a message, nor the run's own end.
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
