//! One user as its shard keeps it: where it is in its session and a few times. What only some users need, or all of
//! them only for a moment, is behind a box that exists while it is needed.

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
    /// When its session began.
    pub(crate) arrived: Nanos,
    /// When the step that it waits in began.
    pub(crate) step_began: Nanos,
    /// Since when it could do its next step: the step before is done, and its time has come.
    pub(crate) ready_at: Nanos,
    /// The last beat of its pace; [`NEVER`] before the first.
    pub(crate) beat: Nanos,
    /// When the running step ought to have begun, if a beat says so; else [`NEVER`].
    pub(crate) intended: Nanos,
    /// When what it waits for is over, or has taken too long.
    pub(crate) step_due: Nanos,
    /// When the next heartbeat is due.
    pub(crate) heartbeat_due: Nanos,
    /// No session begins from here on.
    pub(crate) repeat_until: Nanos,
    pub(crate) rng: Rng,
    /// What has come of an incomplete message.
    pub(crate) pending: Pending,
    /// The outermost loop's or transaction's register.
    pub(crate) register: Register,
    /// Own messages that are expected back.
    pub(crate) echoes: Echoes,
    /// The first room that it is in.
    pub(crate) membership: Option<Membership>,
    pub(crate) rare: Option<Box<Rare>>,
    pub(crate) socket: Option<ConnectionId>,
    pub(crate) user: UserId,
    pub(crate) position: Position,
    /// Messages sent, in all its sessions.
    pub(crate) sent: u32,
    /// The last Phoenix reference used.
    pub(crate) reference: u32,
    /// The reference whose reply it waits for, or how many matching messages it still waits for.
    pub(crate) awaited: u32,
    /// The reference of the heartbeat that is not answered yet; 0 is none.
    pub(crate) heartbeat: u32,
    /// How often it begins its session anew.
    pub(crate) iterations_left: u32,
    pub(crate) session: SessionId,
    pub(crate) target: TargetId,
    pub(crate) source: u16,
    pub(crate) doing: Doing,
    pub(crate) line: Line,
    pub(crate) dialect: Spoken,
    /// Whether it does not hold up the end of the run.
    pub(crate) stays: bool,
}

/// What a user does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Doing {
    /// It is on the list of those that go on.
    Ready,
    /// It waits for its WebSocket to open.
    Connecting,
    /// For the reply to a join.
    Joining,
    /// For the reply to a leave.
    Leaving,
    /// For the reply to a push.
    Pushing,
    /// For messages of a certain kind.
    Matching,
    /// For a pause to end.
    Pausing,
    /// For the others.
    AtBarrier,
    /// For an HTTP response.
    Requesting,
    /// For the peer's close frame; then it goes on.
    Closing,
    /// For the end of its silence.
    HalfOpen,
    /// For the peer's close frame; then it is gone.
    Finishing,
    /// It has done all that it came for, and listens until the run ends.
    Staying,
    /// It only listens: the run is draining.
    Draining,
    /// It begins its session anew when its time has come.
    Resting,
}

/// What a user does when its closing handshake is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AfterClose {
    /// Its next step.
    GoOn,
    /// Its session is over.
    Finish,
}

impl Doing {
    /// What comes after the closing handshake that the user has begun; `None` where it has begun none.
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
    /// There is none.
    Down,
    /// TCP or TLS is not established.
    Dialing,
    /// The request is sent.
    Upgrading,
    /// Messages go both ways.
    Open,
    /// Our close frame is sent.
    Closing,
    /// It is kept, and neither heard nor spoken on.
    Mute,
}

/// What is spoken on a user's WebSocket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spoken {
    /// `None` is plain messages.
    pub(crate) phoenix: Option<Version>,
    pub(crate) deflate: bool,
    /// The step that opened it is this far back in the program: a Phoenix heartbeat's interval stands there.
    pub(crate) opened_by: Position,
}

/// What a loop counts, or a transaction's begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Register {
    /// When the transaction began, or after which no round of the loop begins.
    pub(crate) at: Nanos,
    pub(crate) rounds: u32,
    pub(crate) rounds_max: u32,
}

/// What only some users have, or only for a moment.
#[derive(Debug, Default)]
pub(crate) struct Rare {
    /// By [`VariableId`]; as long as the highest that was set.
    pub(crate) variables: Vec<Option<Box<str>>>,
    /// Rows of the feeders that the user is at.
    pub(crate) rows: Vec<Option<u32>>,
    /// Registers of inner loops and transactions.
    pub(crate) registers: Vec<Register>,
    /// Rooms after the first.
    pub(crate) memberships: Vec<Membership>,
    /// While a WebSocket opens: its `Sec-WebSocket-Key`.
    pub(crate) key: Option<Box<str>>,
    /// While a WebSocket opens: its request target.
    pub(crate) path: Option<Box<str>>,
    /// While a join is not answered.
    pub(crate) join: Option<Box<PendingJoin>>,
    /// While a certain message is waited for.
    pub(crate) wanted: Option<Box<Wanted>>,
    /// The last message or response body, where the session captures.
    pub(crate) last_message: Option<Box<[u8]>>,
    /// Header lines of the last response, where the session captures them.
    pub(crate) last_headers: Vec<(String, String)>,
    /// The HTTP connection, and the request on it.
    pub(crate) request: Option<Box<Request>>,
    /// Who is present on topics joined with `presence`, with how many entries.
    pub(crate) present: BTreeMap<String, u32>,
    /// How slowly it reads.
    pub(crate) slow_reader: Option<SlowReader>,
    /// Why its orderly close is none of a session that went well.
    pub(crate) failure: Option<Outcome>,
    /// Recoverable topics that it is a member of, with a connection or without.
    pub(crate) followed: Vec<Followed>,
    /// A publication on one of them that the server has not answered.
    pub(crate) unanswered: Option<Unanswered>,
    /// How often it has come back since it was in a room.
    pub(crate) returns: u32,
}

/// A recoverable topic that a user is a member of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Followed {
    /// As [`Membership::topic`].
    pub(crate) topic: u32,
    /// `None` while the server does not know where the topic stands.
    pub(crate) standing: Option<Standing>,
    /// Whether the connection is gone on which it was joined.
    pub(crate) is_away: bool,
}

/// A join that is not answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PendingJoin {
    pub(crate) topic: String,
    pub(crate) join_ref: u32,
    pub(crate) echo: bool,
    pub(crate) presence: bool,
    pub(crate) recover: bool,
}

/// What a message must be like, filled in for the user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) topic: Option<String>,
    pub(crate) event: Option<String>,
    pub(crate) contains: Option<String>,
}

/// A user that reads slowly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SlowReader {
    pub(crate) bytes_per_second: u64,
    /// When it reads again.
    pub(crate) resumes_at: Nanos,
}

impl Client {
    /// The box for what is rare, made if there is none.
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// Frees the box for what is rare if nothing is in it.
    pub(crate) fn tidy(&mut self) {
        if self.rare.as_ref().is_some_and(|rare| rare.is_vacant()) {
            self.rare = None;
        }
    }

    /// The soonest time at which something is due.
    pub(crate) fn due(&self) -> Nanos {
        let resumes_at = self.slow_reader().map_or(NEVER, |slow| slow.resumes_at);
        self.step_due.min(self.heartbeat_due).min(resumes_at)
    }

    pub(crate) fn slow_reader(&self) -> Option<SlowReader> {
        self.rare.as_ref()?.slow_reader
    }

    /// The value of a variable; empty while it has none.
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

    /// All rooms that it is in.
    pub(crate) fn memberships(&self) -> impl Iterator<Item = &Membership> {
        let further = self.rare.iter().flat_map(|rare| rare.memberships.iter());
        self.membership.iter().chain(further)
    }

    /// All rooms that it is in.
    pub(crate) fn memberships_mut(&mut self) -> impl Iterator<Item = &mut Membership> {
        let further = self.rare.iter_mut().flat_map(|rare| rare.memberships.iter_mut());
        self.membership.iter_mut().chain(further)
    }

    /// What it knows of a recoverable topic that it is a member of.
    pub(crate) fn followed(&self, topic: u32) -> Option<&Followed> {
        self.rare.as_ref()?.followed.iter().find(|followed| followed.topic == topic)
    }

    /// What it knows of a recoverable topic that it is a member of.
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

    /// Takes out the first room for which `is_it` holds.
    pub(crate) fn leave(&mut self, is_it: impl Fn(&Membership) -> bool) -> Option<Membership> {
        if self.membership.as_ref().is_some_and(&is_it) {
            let further = self.rare.as_mut().and_then(|rare| rare.memberships.pop());
            return std::mem::replace(&mut self.membership, further);
        }
        let further = &mut self.rare.as_mut()?.memberships;
        let place = further.iter().position(is_it)?;
        Some(further.swap_remove(place))
    }

    /// The intended time of what it does now, which a beat gives only once.
    pub(crate) fn take_intended(&mut self) -> Nanos {
        match std::mem::replace(&mut self.intended, NEVER) {
            NEVER => self.ready_at,
            beat => beat,
        }
    }

    /// The generator's own delay of the step that is on, in microseconds: from when the user could have begun it.
    pub(crate) fn begin_lag_us(&self) -> u32 {
        u32::try_from(self.step_began.saturating_sub(self.ready_at) / 1_000).unwrap_or(u32::MAX)
    }

    /// A new Phoenix reference; never 0.
    pub(crate) fn next_reference(&mut self) -> u32 {
        self.reference = self.reference.wrapping_add(1).max(1);
        self.reference
    }
}

/// What an idle user costs: this, its slot in the engine (40 bytes and 8 for whose it is) and in the wheel (16). The
/// bound of all together, with what an allocator adds, is 400 bytes.
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
