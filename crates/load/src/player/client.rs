//! One user as its shard stores it: its position in its session and a few timestamps. State that only some users need,
//! or all of them only briefly, is behind a box that exists only while needed.

use std::collections::BTreeMap;

use engine::ConnectionId;
use proto::phoenix::Version;
use proto::ws::Pending;

use super::clock::NEVER;
use super::deliveries::{Membership, Unanswered};
use super::program::{Position, RegisterIndex};
use super::recovery::Standing;
use super::requests::Request;
use crate::draw::Rng;
use crate::ledger::Echoes;
use crate::observe::{Nanos, Outcome, UserId};
use crate::scenario::plan::{SessionId, TargetId, VariableId};

/// A user.
#[derive(Debug)]
pub(crate) struct Client {
    /// When the user's session began.
    pub(crate) arrived: Nanos,
    /// When the step that the user waits in began.
    pub(crate) step_began: Nanos,
    /// When the user's next step became possible: the step before was done and its time had come.
    pub(crate) ready_at: Nanos,
    /// The last scheduled time of its pace; [`NEVER`] before the first.
    pub(crate) beat: Nanos,
    /// When the running step should have begun, if a pace scheduled it; otherwise [`NEVER`].
    pub(crate) intended: Nanos,
    /// When the current wait ends or times out.
    pub(crate) step_due: Nanos,
    /// When the next heartbeat is due.
    pub(crate) heartbeat_due: Nanos,
    /// No session begins from this time on.
    pub(crate) repeat_until: Nanos,
    pub(crate) rng: Rng,
    /// Decoder state of an incomplete message.
    pub(crate) pending: Pending,
    /// Register of the outermost loop or transaction.
    pub(crate) register: Register,
    /// The user's own messages that are expected back.
    pub(crate) echoes: Echoes,
    /// The first room that the user is in.
    pub(crate) membership: Option<Membership>,
    pub(crate) rare: Option<Box<Rare>>,
    pub(crate) socket: Option<ConnectionId>,
    pub(crate) user: UserId,
    pub(crate) position: Position,
    /// Number of messages sent, over all sessions of the user.
    pub(crate) sent: u32,
    /// The last Phoenix reference used.
    pub(crate) reference: u32,
    /// Depending on what the user waits for: the reference of the expected reply, or the number of matching messages
    /// still expected.
    pub(crate) awaited: u32,
    /// Reference of the heartbeat that has not been answered yet; 0 is none.
    pub(crate) heartbeat: u32,
    /// How often the user will restart its session.
    pub(crate) iterations_left: u32,
    pub(crate) session: SessionId,
    pub(crate) target: TargetId,
    pub(crate) source: u16,
    pub(crate) doing: Doing,
    pub(crate) line: Line,
    pub(crate) dialect: Spoken,
    /// Whether the user does not delay the end of the run.
    pub(crate) stays: bool,
}

/// What a user is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    /// In the queue of users that can continue.
    Ready,
    /// Waiting for its WebSocket to open.
    Connecting,
    /// Waiting for the reply to a join.
    Joining,
    /// Waiting for the reply to a leave.
    Leaving,
    /// Waiting for the reply to a push.
    Pushing,
    /// Waiting for matching messages.
    Matching,
    /// Waiting for a pause to end.
    Pausing,
    /// Waiting at a barrier.
    AtBarrier,
    /// Waiting for an HTTP response.
    Requesting,
    /// Waiting for the peer's close frame, then continues.
    Closing,
    /// Waiting for the end of its half-open period.
    HalfOpen,
    /// Waiting for the peer's close frame, then finishes.
    Finishing,
    /// Has done all of its steps and only listens until the run ends.
    Staying,
    /// Only listens: the run is draining.
    Draining,
    /// Restarts its session when its time has come.
    Resting,
}

/// What a user does after its closing handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterClose {
    /// Continues with its next step.
    GoOn,
    /// Ends its session.
    Finish,
}

impl Doing {
    /// Returns what follows the closing handshake that the user has begun; `None` if it has begun none.
    pub(crate) fn after_close(self) -> Option<AfterClose> {
        match self {
            Self::Closing => Some(AfterClose::GoOn),
            Self::Finishing => Some(AfterClose::Finish),
            Self::Ready
            | Self::Connecting
            | Self::Joining
            | Self::Leaving
            | Self::Pushing
            | Self::Matching
            | Self::Pausing
            | Self::AtBarrier
            | Self::Requesting
            | Self::HalfOpen
            | Self::Staying
            | Self::Draining
            | Self::Resting => None,
        }
    }
}

/// The state of a user's WebSocket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// No WebSocket.
    Down,
    /// TCP or TLS is not established yet.
    Dialing,
    /// The upgrade request has been sent.
    Upgrading,
    /// Messages flow both ways.
    Open,
    /// Our close frame has been sent.
    Closing,
    /// Kept open, but neither read nor written.
    Mute,
}

/// The protocol spoken on a user's WebSocket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spoken {
    /// `None` is plain WebSocket messages.
    pub(crate) phoenix: Option<Version>,
    pub(crate) deflate: bool,
    /// Position of the step that opened it, which holds the interval of Phoenix heartbeats.
    pub(crate) opened_by: Position,
}

/// A loop's counters, or the begin of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Register {
    /// When the transaction began, or the time from which no round of the loop begins.
    pub(crate) at: Nanos,
    pub(crate) rounds: u32,
    pub(crate) rounds_max: u32,
}

/// State that only some users have, or only briefly.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// Indexed by [`VariableId`]; as long as the highest variable that was set.
    pub(crate) variables: Vec<Option<Box<str>>>,
    /// The user's current row of each feeder.
    pub(crate) rows: Vec<Option<u32>>,
    /// Registers of nested loops and transactions.
    pub(crate) registers: Vec<Register>,
    /// Rooms after the first.
    pub(crate) memberships: Vec<Membership>,
    /// The `Sec-WebSocket-Key`, while a WebSocket opens.
    pub(crate) key: Option<Box<str>>,
    /// The request target, while a WebSocket opens.
    pub(crate) path: Option<Box<str>>,
    /// The join that is pending, if any.
    pub(crate) join: Option<Box<PendingJoin>>,
    /// What the user waits for, while it waits for matching messages.
    pub(crate) wanted: Option<Box<Wanted>>,
    /// The last message or response body, if the session captures.
    pub(crate) last_message: Option<Box<[u8]>>,
    /// Header lines of the last response, if the session captures them.
    pub(crate) last_headers: Vec<(String, String)>,
    /// The HTTP connection and the request on it.
    pub(crate) request: Option<Box<Request>>,
    /// Keys present on topics joined with `presence`, with their number of entries.
    pub(crate) present: BTreeMap<String, u32>,
    /// The user's reading rate, if it reads slowly.
    pub(crate) slow_reader: Option<SlowReader>,
    /// Why the session failed, although its WebSocket is closed gracefully.
    pub(crate) failure: Option<Outcome>,
    /// Recoverable topics that the user is a member of, connected or not.
    pub(crate) followed: Vec<Followed>,
    /// A publication on one of them that the server has not acknowledged.
    pub(crate) unanswered: Option<Unanswered>,
    /// Number of reconnects since the user was last in a room.
    pub(crate) returns: u32,
}

/// A recoverable topic that a user is a member of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Followed {
    /// As [`Membership::topic`].
    pub(crate) topic: u32,
    /// `None` while the server does not know the topic's position.
    pub(crate) standing: Option<Standing>,
    /// Whether the connection on which it was joined is gone.
    pub(crate) is_away: bool,
}

/// A join that has not been answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PendingJoin {
    pub(crate) topic: String,
    pub(crate) join_ref: u32,
    pub(crate) echo: bool,
    pub(crate) presence: bool,
    pub(crate) recover: bool,
}

/// The criteria for a message, with templates rendered for the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) topic: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) contains: Option<String>,
}

/// The state of a user that reads slowly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SlowReader {
    pub(crate) bytes_per_second: u64,
    /// When it reads again.
    pub(crate) resumes_at: Nanos,
}

impl Client {
    /// Returns the box for rare state, creating it if there is none.
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Frees the box for rare state if it is empty.
    pub(crate) fn tidy(&mut self) {
        if self.rare.as_ref().is_some_and(|rare| rare.is_vacant()) {
            self.rare = None;
        }
    }

    /// Returns the earliest time at which something is due.
    pub(crate) fn due(&self) -> Nanos {
        let resumes_at = self.slow_reader().map_or(NEVER, |slow| slow.resumes_at);
        self.step_due.min(self.heartbeat_due).min(resumes_at)
    }

    pub(crate) fn slow_reader(&self) -> Option<SlowReader> {
        self.rare.as_ref()?.slow_reader
    }

    /// Returns the value of a variable; empty if it is not set.
    pub(crate) fn variable(&self, id: VariableId) -> &str {
        let value = self.rare.as_ref().and_then(|rare| rare.variables.get(usize::from(id.0))?.as_deref());
        value.unwrap_or_default()
    }

    pub(crate) fn set_variable(&mut self, id: VariableId, value: &str) {
        let variables = &mut self.rare_mut().variables;
        let place = usize::from(id.0);
        if variables.len() <= place {
            variables.resize(place + 1, None);
        }
        variables[place] = Some(value.into());
    }

    pub(crate) fn register(&mut self, index: RegisterIndex) -> &mut Register {
        let Some(inner) = usize::from(index.0).checked_sub(1) else { return &mut self.register };
        let registers = &mut self.rare_mut().registers;
        if registers.len() <= inner {
            registers.resize(inner + 1, Register::default());
        }
        &mut registers[inner]
    }

    /// Iterates over all rooms that the user is in.
    pub(crate) fn memberships(&self) -> impl Iterator<Item = &Membership> {
        let further = self.rare.iter().flat_map(|rare| rare.memberships.iter());
        self.membership.iter().chain(further)
    }

    /// Iterates over all rooms that the user is in.
    pub(crate) fn memberships_mut(&mut self) -> impl Iterator<Item = &mut Membership> {
        let further = self.rare.iter_mut().flat_map(|rare| rare.memberships.iter_mut());
        self.membership.iter_mut().chain(further)
    }

    /// Returns what the user knows of a recoverable topic that it is a member of.
    pub(crate) fn followed(&self, topic: u32) -> Option<&Followed> {
        self.rare.as_ref()?.followed.iter().find(|followed| followed.topic == topic)
    }

    /// Returns what the user knows of a recoverable topic that it is a member of.
    pub(crate) fn followed_mut(&mut self, topic: u32) -> Option<&mut Followed> {
        self.rare.as_mut()?.followed.iter_mut().find(|followed| followed.topic == topic)
    }

    /// Adds a room.
    pub(crate) fn enter(&mut self, membership: Membership) {
        match &mut self.membership {
            free @ None => *free = Some(membership),
            Some(_) => self.rare_mut().memberships.push(membership),
        }
    }

    /// Removes and returns the first room for which `is_it` holds.
    pub(crate) fn leave(&mut self, is_it: impl Fn(&Membership) -> bool) -> Option<Membership> {
        if self.membership.as_ref().is_some_and(&is_it) {
            let further = self.rare.as_mut().and_then(|rare| rare.memberships.pop());
            return std::mem::replace(&mut self.membership, further);
        }
        let further = &mut self.rare.as_mut()?.memberships;
        let place = further.iter().position(is_it)?;
        Some(further.swap_remove(place))
    }

    /// Returns the intended time of the current step; a paced time is used only once.
    pub(crate) fn take_intended(&mut self) -> Nanos {
        match std::mem::replace(&mut self.intended, NEVER) {
            NEVER => self.ready_at,
            beat => beat,
        }
    }

    /// Returns the generator's own delay of the current step in microseconds, from when the user could have begun it.
    pub(crate) fn begin_lag_us(&self) -> u32 {
        u32::try_from(self.step_began.saturating_sub(self.ready_at) / 1_000).unwrap_or(u32::MAX)
    }

    /// Returns a new Phoenix reference; never 0.
    pub(crate) fn next_reference(&mut self) -> u32 {
        self.reference = self.reference.wrapping_add(1).max(1);
        self.reference
    }
}

/// Size limit of an idle user's own state. It also takes a slot in the engine (40 bytes, and 8 for its peer) and in the
/// timer wheel (16). The limit for all of it, including allocator overhead, is 400 bytes.
pub(crate) const CLIENT_BYTES_MAX: usize = 272;

const _: () = assert!(size_of::<Option<Client>>() <= CLIENT_BYTES_MAX);

impl Rare {
    fn is_vacant(&self) -> bool {
        self.variables.is_empty()
            && self.rows.is_empty()
            && self.registers.is_empty()
            && self.memberships.is_empty()
            && self.key.is_none()
            && self.path.is_none()
            && self.join.is_none()
            && self.wanted.is_none()
            && self.last_message.is_none()
            && self.last_headers.is_empty()
            && self.request.is_none()
            && self.present.is_empty()
            && self.slow_reader.is_none()
            && self.failure.is_none()
            && self.followed.is_empty()
            && self.unanswered.is_none()
            && self.returns == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_user_with_its_timer_and_socket_fits_its_budget() {
        let (engine_slot, wheel_slot, last_seen) = (48, 16, 4);
        let bytes = size_of::<Option<Client>>() + engine_slot + wheel_slot + last_seen;
        assert!(bytes <= 400, "{bytes} bytes");
    }
}
