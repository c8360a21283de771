//! One shard of a run: its users, their timers, and the order of work within a turn. What happens to a user is in the
//! sibling modules: `interpret` runs its session, `connecting` opens its WebSocket, `websocket` sends and receives on
//! it, `channels` implements Phoenix, `requests` does HTTP, `deliveries` accounts for messages, `sessions` begins and
//! ends its sessions, `endings` ends the run.
//!
//! A user costs memory only here and in the engine's slot: while idle it has no task, no thread and no buffer.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use engine::{Admission, ConnectionId, Driver, EndCause, Io, ListenerIndex};
use proto::ws::{Deflater, Inflater};

use super::arrivals::Arrivals;
use super::bursts::{Bursts, Crowd};
use super::client::{Client, Doing};
use super::clock::NEVER;
use super::endings::Phase;
use super::feed::Feed;
use super::program::Program;
use super::roster::UserSlab;
use super::sources::SourceRotation;
use super::stage::{Mail, Stage};
use super::waits::Waits;
use crate::draw::Rng;
use crate::ledger::Stay;
use crate::observe::{Batch, Kind, Nanos, Observation, Outcome, UserId};
use crate::schedule::{Schedule, Wheel};
use crate::statistics::Population;

/// Maximum number of users that begin in one turn of the shard. Each user of a burst has a few answers coming: if fewer
/// began per turn than answers are read per poll, the first ones would keep the others from beginning, and the burst
/// would be spread out.
const ARRIVALS_PER_TURN_MAX: usize = 1024;
/// Maximum number of timers that fire in one turn. The messages they send are answered at once, and the answers remain
/// unread meanwhile.
const TIMERS_PER_TURN_MAX: usize = 256;
/// Maximum number of users that continue in one turn, of those that can continue at once; equal to the arrivals, for
/// the same reason.
const READY_PER_TURN_MAX: usize = ARRIVALS_PER_TURN_MAX;

/// One thread's part of a run.
pub(crate) struct Shard {
    pub(super) stage: Arc<Stage>,
    pub(super) index: u16,
    /// One entry per session.
    pub(super) programs: Vec<Rc<Program>>,
    pub(super) clients: UserSlab<Client>,
    pub(super) wheel: Wheel,
    /// Places of the users that can continue.
    pub(super) ready: VecDeque<u32>,
    /// Waiting users, by barrier.
    pub(super) at_barrier: Vec<Vec<Waiting>>,
    pub(super) arrivals: Arrivals,
    pub(super) feed: Feed,
    pub(super) sources: SourceRotation,
    pub(super) inflater: Inflater,
    pub(super) deflater: Deflater,
    /// For masks and keys, which are not part of any user's own draws.
    pub(super) noise: Rng,
    /// Buffers for the payload of the message being built, and for its frame.
    pub(super) body: Vec<u8>,
    pub(super) frame: Vec<u8>,
    pub(super) phase: Phase,
    /// Users that are due at the same moment.
    pub(super) crowds: Bursts,
    /// Members that have left, until it is known what other machines published.
    pub(super) stays: Vec<Stay>,
    /// Lower bound of the time between a message becoming readable and being read: from the shard's poll to the read.
    pub(super) read_lag: Population,
    /// How long the thread waited for a CPU before it polled.
    pub(super) waits: Waits,
    /// Number of connection events in the current poll.
    events: u32,
    /// Table memory that has already been added to the gauges.
    told: Held,
}

/// Memory of a shard's tables, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Held {
    users: usize,
    timers: usize,
}

/// A user at a barrier: its place, its number, and the number of the opening that it waits for.
pub(super) type Waiting = (u32, UserId, u32);

/// The engine's per-connection data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Peer {
    /// The WebSocket of the user at this place.
    WebSocket(u32),
    /// The HTTP connection of the user at this place.
    Http(u32),
}

impl Shard {
    pub(crate) fn new(
        stage: Arc<Stage>,
        index: u16,
        programs: Vec<Rc<Program>>,
        schedule: Schedule,
        sink: SyncSender<Batch>,
    ) -> Self {
        let plan = Arc::clone(&stage.plan);
        Self {
            index,
            programs,
            clients: UserSlab::new(),
            wheel: Wheel::new(),
            ready: VecDeque::new(),
            at_barrier: vec![Vec::new(); plan.barriers.len()],
            arrivals: Arrivals::new(&plan, schedule),
            feed: Feed::new(index, sink, Arc::clone(&stage.gauges)),
            sources: SourceRotation::new(&plan.sources, index, stage.shards),
            inflater: Inflater::default(),
            deflater: Deflater::default(),
            noise: Rng::for_purpose(plan.seed, NOISE ^ u32::from(index)),
            body: Vec::new(),
            frame: Vec::new(),
            phase: Phase::Playing,
            crowds: Bursts::default(),
            stays: Vec::new(),
            read_lag: Population::default(),
            waits: Waits::default(),
            events: 0,
            told: Held::default(),
            stage,
        }
    }

    /// Returns the current time of the run.
    pub(super) fn now(&self) -> Nanos {
        self.stage.clock.now()
    }

    /// Records that something was read completely at time `at`. It had been readable at least since the shard polled;
    /// what became readable during the previous turn, or while the thread waited for a CPU, has waited longer than is
    /// counted here.
    pub(super) fn has_read(&mut self, io: &Io<'_, Self>, at: Nanos) {
        self.waits.has_read();
        let looked = self.stage.clock.at(io.now());
        self.read_lag.record(at.saturating_sub(looked) / 1_000);
    }

    /// Returns an observation by a user, for the caller to complete.
    pub(super) fn of_client(&self, place: u32, kind: Kind, outcome: Outcome, at: Nanos) -> Observation {
        let (user, source) = self.clients.item(place).map_or((0, 0), |client| (client.user, client.source));
        Observation { user, source, outcome, ..Observation::of_nobody(kind, at) }
    }

    /// A user begins a step that it could begin since it became ready: its own delay counts from when those due at the
    /// same moment had begun. The intended time has been taken before.
    pub(super) fn begins(&mut self, place: u32, now: Nanos) {
        if let Some(client) = self.clients.item_mut(place) {
            client.ready_at = self.crowds.begin(client.ready_at, now, true);
        }
    }

    /// Reports a burst: all users due at one moment have begun, and everything that had arrived meanwhile was read.
    pub(super) fn see_burst(&mut self, burst: &Crowd) {
        let Crowd { due, count, .. } = *burst;
        let nobody = Observation::of_nobody(Kind::Burst, burst.end());
        let seen = Observation { intended: due, began: due, count, ..nobody };
        self.see(seen, String::new);
    }

    /// Passes on an observation; for a failure, notes the text of the first of its kind.
    pub(super) fn see(&mut self, observation: Observation, text: impl FnOnce() -> String) {
        let Observation { kind, outcome, code, at, user, .. } = observation;
        if outcome.is_failure() {
            self.stage.examples.note(kind, outcome, code, at, user, text);
        }
        self.feed.push(observation);
    }

    /// Sets a user's timer to what it waits for.
    pub(super) fn set_timer(&mut self, place: u32) {
        let Some(client) = self.clients.item_mut(place) else {
            self.wheel.cancel(place);
            return;
        };
        client.tidy();
        match client.due() {
            NEVER => drop(self.wheel.cancel(place)),
            due => self.wheel.arm(place, due),
        }
    }

    /// Everything that the shard's last poll returned has been read.
    fn end_look(&mut self, io: &Io<'_, Self>) {
        let looked = self.stage.clock.at(io.now());
        self.crowds.has_looked(looked, std::mem::take(&mut self.events));
        self.waits.end_look(self.now());
        self.tell_growth();
    }

    /// Adds the growth of the tables to the gauges; none of them ever shrinks.
    fn tell_growth(&mut self) {
        let held = Held { users: self.clients.bytes(), timers: self.wheel.bytes() };
        if held != self.told {
            let gauges = &self.stage.gauges;
            gauges.users_bytes.fetch_add((held.users - self.told.users) as u64, Ordering::Relaxed);
            gauges.timers_bytes.fetch_add((held.timers - self.told.timers) as u64, Ordering::Relaxed);
            self.told = held;
        }
    }

    fn fire_timers(&mut self, io: &mut Io<'_, Self>) -> bool {
        let now = self.now();
        for _ in 0..TIMERS_PER_TURN_MAX {
            let Some(place) = self.wheel.pop_expired(now) else { return false };
            self.timer(io, place, now);
        }
        true
    }

    fn let_ready_go_on(&mut self, io: &mut Io<'_, Self>) -> bool {
        for _ in 0..READY_PER_TURN_MAX.min(self.ready.len()) {
            let Some(place) = self.ready.pop_front() else { break };
            // In the meantime the user may have been stopped, or may be gone.
            if self.clients.item(place).is_some_and(|client| client.doing == Doing::Ready) {
                self.advance(io, place);
            }
        }
        !self.ready.is_empty()
    }

    fn let_users_come(&mut self, io: &mut Io<'_, Self>) -> bool {
        for _ in 0..ARRIVALS_PER_TURN_MAX {
            let now = self.now();
            let Some(arrival) = self.arrivals.next_if_due(now) else { return false };
            self.arrive(io, &arrival, now);
        }
        true
    }

    /// Returns how long the shard may sleep.
    fn patience(&mut self, has_more: bool) -> Option<Duration> {
        let now = self.now();
        while let Some(burst) = self.crowds.next_over(now) {
            self.see_burst(&burst);
        }
        let batch = self.feed.tend(now);
        if has_more {
            return Some(Duration::ZERO);
        }
        let due =
            [self.next_arrival(now), self.wheel.next_due(), self.next_ending()].into_iter().flatten().min();
        let until_due =
            due.filter(|due| *due != NEVER).map(|due| Duration::from_nanos(due.saturating_sub(now)));
        let behind = self.crowds.is_behind().then_some(LOOK_AGAIN);
        until_due.into_iter().chain(batch).chain(behind).min()
    }
}

/// How long a shard sleeps while it is behind with a burst: the resolution of the time at which it had caught up.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// Draw purpose of the shards' own randomness.
const NOISE: u32 = 0x6e6f_0000;

impl Driver for Shard {
    type Peer = Peer;
    type Mail = Mail;
    type Seed = ();

    fn accepted(&mut self, _: ListenerIndex, _: SocketAddr) -> Admission<Peer> {
        unreachable!("a shard of a run listens nowhere")
    }

    fn peer_for(&mut self, (): &()) -> Peer {
        unreachable!("nobody gives a run connections")
    }

    fn adopted(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, (): ()) {}

    fn connected(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        self.events += 1;
        match io.peer(id).copied() {
            Some(Peer::WebSocket(place)) => self.socket_connected(io, place, id),
            Some(Peer::Http(place)) => self.request_connected(io, place, id),
            None => {}
        }
    }

    fn received(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, bytes: &mut [u8]) -> usize {
        self.events += 1;
        match io.peer(id).copied() {
            Some(Peer::WebSocket(place)) => self.socket_received(io, place, id, bytes),
            Some(Peer::Http(place)) => self.response_received(io, place, id, bytes),
            None => bytes.len(),
        }
    }

    fn ended(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, peer: Peer, cause: EndCause) {
        self.events += 1;
        match peer {
            Peer::WebSocket(place) => self.socket_ended(io, place, id, cause),
            Peer::Http(place) => self.request_ended(io, place, id, cause),
        }
    }

    fn idle_limit(&self, _: &Peer) -> Option<Duration> {
        None
    }

    fn expired(&mut self, _: &mut Io<'_, Self>, _: ConnectionId) {}

    fn overflowed(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        io.abort(id);
    }

    fn mail(&mut self, _: &mut Io<'_, Self>, mail: Mail) {
        match mail {
            Mail::Proceed(at) => self.arrivals.proceed(at),
            Mail::Open(opening) => self.open_barrier(opening),
            Mail::Stop(why) => self.stop(why),
            // Wakes the shard; the next turn sees the new state.
            Mail::NobodyIsLeft => {}
            Mail::Abort => self.abort(),
        }
    }

    fn turn(&mut self, io: &mut Io<'_, Self>) -> Option<Duration> {
        if let Some(left) = self.stage.clock.until_start() {
            return Some(left);
        }
        self.end_look(io);
        let mut has_more = self.let_users_come(io);
        has_more |= self.fire_timers(io);
        has_more |= self.let_ready_go_on(io);
        has_more |= self.conduct(io);
        self.patience(has_more)
    }
}

impl Shard {
    /// Increments a gauge.
    pub(super) fn raise(&self, gauge: impl Fn(&super::gauges::Gauges) -> &std::sync::atomic::AtomicU64) {
        gauge(&self.stage.gauges).fetch_add(1, Ordering::Relaxed);
    }

    /// Decrements a gauge.
    pub(super) fn lower(&self, gauge: impl Fn(&super::gauges::Gauges) -> &std::sync::atomic::AtomicU64) {
        gauge(&self.stage.gauges).fetch_sub(1, Ordering::Relaxed);
    }
}
