//! The interpreter of a user's session: which operation comes next, what it does, and how a wait ends.

use std::rc::Rc;

use engine::Io;

use super::barriers::Opening;
use super::client::{Client, Doing, Register, Wanted};
use super::clock::{NEVER, nanos, nanos_of_seconds};
use super::program::{LoopBegin, LoopEnd, Operation, Program, RegisterIndex};
use super::render::Scene;
use super::shard::Shard;
use super::stage::{EndReason, Mail, Stage};
use crate::draw::Distribution;
use crate::observe::{Kind, NO_LABEL, Nanos, Outcome};
use crate::scenario::plan::{BarrierId, LabelId, Wait};

/// Maximum number of operations of one user in one turn. A session may loop for ever without waiting; it must not block
/// the other users.
const OPERATIONS_PER_TURN_MAX: usize = 1024;

/// A loop without a maximum number of rounds.
const UNBOUNDED: u32 = u32::MAX;

/// The result of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Done; continue with the next one.
    Next,
    /// The user waits; an event or its timer continues the session.
    Waits,
    /// The session is over.
    Ends(Outcome),
}

/// Returns the context for rendering a user's templates.
pub(super) fn scene<'s>(stage: &'s Stage, host: &'s str, stamp: &'s [u8]) -> Scene<'s> {
    Scene {
        numbers: &stage.numbers,
        feeders: &stage.plan.feeders,
        target_host: host,
        clock: stage.clock,
        stamp,
    }
}

impl Shard {
    /// Continues a user's session until it waits or ends.
    pub(super) fn advance(&mut self, io: &mut Io<'_, Self>, place: u32) {
        let Some(client) = self.clients.item_mut(place) else { return };
        client.doing = Doing::Ready;
        let Some(program) = self.programs.get(usize::from(client.session.0)).map(Rc::clone) else { return };
        for _ in 0..OPERATIONS_PER_TURN_MAX {
            let Some(client) = self.clients.item_mut(place) else { return };
            let operation = program.operations.get(client.position as usize).unwrap_or(&Operation::End);
            client.position += 1;
            match self.perform(io, place, &program, operation) {
                Flow::Next => {}
                Flow::Waits => return self.set_timer(place),
                Flow::Ends(outcome) => return self.end_session(io, place, outcome),
            }
        }
        let now = self.now();
        if let Some(client) = self.clients.item_mut(place) {
            client.ready_at = now;
            self.ready.push_back(place);
        }
    }

    /// Ends a user's wait as of `at` and continues its session.
    pub(super) fn step_done(&mut self, io: &mut Io<'_, Self>, place: u32, at: Nanos) {
        let Some(client) = self.clients.item_mut(place) else { return };
        client.step_due = NEVER;
        client.ready_at = at;
        self.advance(io, place);
    }

    /// Returns the operation in which a user waits.
    pub(super) fn running(&self, place: u32) -> Option<(Rc<Program>, usize)> {
        let client = self.clients.item(place)?;
        let program = Rc::clone(self.programs.get(usize::from(client.session.0))?);
        Some((program, (client.position as usize).checked_sub(1)?))
    }

    /// Returns the label of the operation in which a user waits.
    pub(super) fn running_label(&self, place: u32) -> u16 {
        let running = self.running(place);
        let label = running.and_then(|(program, position)| program.operations.get(position)?.label());
        label.map_or(NO_LABEL, |label| label.0)
    }

    fn perform(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        program: &Program,
        operation: &Operation,
    ) -> Flow {
        match operation {
            Operation::Connect(_, connect) => self.connect(io, place, connect, program),
            Operation::Join(_, join) => self.join(io, place, join),
            Operation::Leave(_, topic) => self.leave_topic(io, place, topic),
            Operation::Push(label, push) => self.push(io, place, *label, push),
            Operation::Send(label, send) => self.send(io, place, *label, send),
            Operation::Wait(_, wait) => self.wait(place, wait),
            Operation::Think(pause) => self.think(place, pause),
            Operation::Pace(interval) => self.pace(place, interval),
            Operation::Barrier { barrier, users, timeout, .. } => {
                self.come_to_barrier(place, *barrier, *users, nanos(*timeout))
            }
            Operation::Set(variable, expression) => self.with_client(place, |stage, host, client| {
                let value = scene(stage, host, b"").value(expression, client);
                client.set_variable(*variable, &value);
            }),
            Operation::Capture(variable, extractor) => self.capture(place, *variable, extractor),
            Operation::Http(_, request) => self.request(io, place, request),
            Operation::Close { code, reason } => self.close_step(io, place, *code, reason),
            Operation::Cut => self.cut(io, place, program),
            Operation::HalfOpen(pause) => self.half_open(io, place, nanos(*pause)),
            Operation::SlowReader(rate) => self.read_slowly(io, place, *rate),
            Operation::Stay => self.stay(place),
            Operation::Abort { whole_run } => self.give_up(*whole_run),
            Operation::Jump(to) => self.jump(place, *to),
            Operation::JumpUnless(condition, to) => {
                let mut holds = false;
                let flow = self.with_client(place, |stage, host, client| {
                    holds = scene(stage, host, b"").holds(condition, client);
                });
                if holds { flow } else { self.jump(place, *to) }
            }
            Operation::Choose(branches) => {
                let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
                let sum = branches.last().map_or(0.0, |branch| branch.0);
                let drawn = client.rng.unit() * sum;
                let chosen = branches.partition_point(|branch| branch.0 <= drawn).min(branches.len() - 1);
                self.jump(place, branches[chosen].1)
            }
            Operation::LoopBegin(begin) => self.begin_loop(place, begin),
            Operation::LoopEnd(end) => self.next_round(place, end),
            Operation::TransactionBegin(register) => {
                let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
                let began = client.ready_at;
                *client.register(*register) = Register { at: began, ..Register::default() };
                Flow::Next
            }
            Operation::TransactionEnd(register, label) => {
                let at = self.now();
                self.end_transaction(place, *register, *label, Outcome::Ok, at);
                Flow::Next
            }
            Operation::End => Flow::Ends(Outcome::Ok),
        }
    }

    /// Runs an action on a user that takes no time.
    pub(super) fn with_client(&mut self, place: u32, act: impl FnOnce(&Stage, &str, &mut Client)) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let host = &self.stage.targets.target(client.target).host;
        act(&self.stage, host, client);
        Flow::Next
    }

    fn jump(&mut self, place: u32, to: u32) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.position = to;
        Flow::Next
    }

    fn begin_loop(&mut self, place: u32, begin: &LoopBegin) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let drawn = begin.times.map(|times| times.sample_whole(&mut client.rng));
        let rounds_max = drawn.map_or(UNBOUNDED, |times| u32::try_from(times).unwrap_or(UNBOUNDED - 1));
        let at = begin.during.map_or(NEVER, |during| client.ready_at.saturating_add(nanos(during)));
        *client.register(begin.register) = Register { at, rounds: 0, rounds_max };
        Flow::Next
    }

    fn next_round(&mut self, place: u32, end: &LoopEnd) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let ready_at = client.ready_at;
        let Register { at, rounds, rounds_max } = *client.register(end.register);
        let is_asked = rounds > 0 || !end.condition_after_first_round;
        let mut goes_on = (rounds_max == UNBOUNDED || rounds < rounds_max) && ready_at < at;
        if let Some(condition) = end.condition.as_ref().filter(|_| goes_on && is_asked) {
            let host = &self.stage.targets.target(client.target).host;
            goes_on = scene(&self.stage, host, b"").holds(condition, client);
        }
        if !goes_on {
            client.position = end.exit;
            return Flow::Next;
        }
        // An unbounded loop may run for more rounds than the counter can hold.
        let round = rounds.saturating_add(1);
        client.register(end.register).rounds = round;
        if let Some(counter) = end.counter {
            client.set_variable(counter, &round.to_string());
        }
        Flow::Next
    }

    /// Reports a transaction.
    pub(super) fn end_transaction(
        &mut self,
        place: u32,
        register: RegisterIndex,
        label: Option<LabelId>,
        outcome: Outcome,
        at: Nanos,
    ) {
        let mut seen = self.of_client(place, Kind::Transaction, outcome, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        seen.began = client.register(register).at;
        seen.intended = seen.began;
        seen.label = label.map_or(NO_LABEL, |label| label.0);
        self.see(seen, || "the session ended within the transaction".to_owned());
    }

    fn think(&mut self, place: u32, pause: &Distribution) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let pause = nanos_of_seconds(pause.sample(&mut client.rng));
        let due = client.ready_at.saturating_add(pause);
        self.wait_until(place, due)
    }

    /// The next paced time is one interval after the last, however late the user is; what the user sends next is
    /// intended for that time.
    fn pace(&mut self, place: u32, interval: &Distribution) -> Flow {
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let last = if client.beat == NEVER { client.ready_at } else { client.beat };
        let beat = last.saturating_add(nanos_of_seconds(interval.sample(&mut client.rng)));
        client.beat = beat;
        client.intended = beat;
        self.wait_until(place, beat)
    }

    /// Continues at `due`, or at once if that has passed.
    fn wait_until(&mut self, place: u32, due: Nanos) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        if due <= now {
            client.ready_at = client.ready_at.max(due);
            return Flow::Next;
        }
        client.doing = Doing::Pausing;
        client.step_due = due;
        Flow::Waits
    }

    fn wait(&mut self, place: u32, wait: &Wait) -> Flow {
        let now = self.now();
        if wait.count == 0 {
            return Flow::Next;
        }
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.doing = Doing::Matching;
        client.awaited = wait.count;
        client.step_began = now;
        client.step_due = now.saturating_add(nanos(wait.timeout));
        let host = &self.stage.targets.target(client.target).host;
        let scene = scene(&self.stage, host, b"");
        let mut text = |template: &Option<_>| template.as_ref().map(|template| scene.text(template, client));
        let wanted = Wanted {
            topic: text(&wait.until.topic),
            event: text(&wait.until.event),
            contains: text(&wait.until.contains),
        };
        client.rare_mut().wanted = Some(Box::new(wanted));
        Flow::Waits
    }

    /// Reports a wait that has ended.
    pub(super) fn wait_is_over(&mut self, io: &mut Io<'_, Self>, place: u32, outcome: Outcome, at: Nanos) {
        let Some((program, position)) = self.running(place) else { return };
        let Some(Operation::Wait(label, wait)) = program.operations.get(position) else { return };
        let mut seen = self.of_client(place, Kind::Wait, outcome, at);
        let Some(client) = self.clients.item_mut(place) else { return };
        client.rare_mut().wanted = None;
        seen.began = client.step_began;
        seen.intended = seen.began;
        seen.label = label.map_or(NO_LABEL, |label| label.0);
        let left = client.awaited;
        self.see(seen, || {
            format!("{left} of {} messages had not arrived after {:?}", wait.count, wait.timeout)
        });
        if outcome != Outcome::Ok && wait.required {
            return self.end_session(io, place, outcome);
        }
        self.step_done(io, place, at);
    }

    fn come_to_barrier(
        &mut self,
        place: u32,
        barrier: BarrierId,
        users: Option<u64>,
        timeout: Nanos,
    ) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        let (number, opening) = self.stage.barriers.come(barrier, users, self.stage.everybody(), now);
        client.doing = Doing::AtBarrier;
        client.awaited = number;
        client.step_began = now;
        client.step_due = now.saturating_add(timeout);
        if let Some(waiting) = self.at_barrier.get_mut(usize::from(barrier.0)) {
            waiting.push((place, client.user, number));
        }
        if let Some(opening) = opening {
            self.stage.tell_all(Mail::Open(opening));
        }
        Flow::Waits
    }

    /// Releases the users that wait for an opening; on all shards they continue from the same moment. The time until a
    /// shard learns of the opening counts as its own delay.
    pub(super) fn open_barrier(&mut self, opening: Opening) {
        let (at, now) = (opening.at, self.now());
        let Some(waiting) = self.at_barrier.get_mut(usize::from(opening.barrier.0)) else { return };
        let (released, kept) =
            std::mem::take(waiting).into_iter().partition(|entry| entry.2 == opening.number);
        *waiting = kept;
        let released: Vec<(u32, u32, u32)> = released;
        let outcome = if opening.is_complete { Outcome::Ok } else { Outcome::Timeout };
        for (place, user, number) in released {
            let mut seen = self.of_client(place, Kind::Wait, outcome, at);
            seen.label = self.running_label(place);
            let Some(client) = self.clients.item_mut(place) else { continue };
            let is_here = client.user == user && client.doing == Doing::AtBarrier && client.awaited == number;
            if !is_here {
                continue;
            }
            // If the barrier opens on all machines at once, that moment is in the future.
            let is_ahead = at > now;
            client.doing = if is_ahead { Doing::Pausing } else { Doing::Ready };
            client.ready_at = at;
            client.step_due = if is_ahead { at } else { NEVER };
            seen.began = client.step_began;
            seen.intended = seen.began;
            self.see(seen, || "timeout while waiting at the barrier".to_owned());
            self.set_timer(place);
            if !is_ahead {
                self.ready.push_back(place);
            }
        }
    }

    /// Handles an expired timer of a user.
    pub(super) fn timer(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        if client.heartbeat_due <= now {
            self.heartbeat(io, place, now);
        }
        self.read_again(io, place, now);
        let Some(client) = self.clients.item(place) else { return };
        if client.step_due <= now {
            self.step_is_due(io, place, now);
        }
        self.set_timer(place);
    }

    fn step_is_due(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let due = std::mem::replace(&mut client.step_due, NEVER);
        match client.doing {
            Doing::Pausing => self.step_done(io, place, due),
            Doing::Connecting => self.connect_timed_out(io, place, now),
            Doing::Joining => self.join_timed_out(io, place, now),
            Doing::Leaving => self.leave_timed_out(io, place, now),
            Doing::Pushing => self.reply_timed_out(io, place, now),
            Doing::Matching => self.wait_is_over(io, place, Outcome::Timeout, now),
            Doing::AtBarrier => self.barrier_timed_out(place, now),
            Doing::Requesting => self.request_timed_out(io, place, now),
            Doing::Closing | Doing::Finishing => self.close_timed_out(io, place, now),
            Doing::HalfOpen => self.half_open_is_over(io, place, due),
            Doing::Resting => self.begin_anew(io, place, now),
            Doing::Ready | Doing::Staying | Doing::Draining => {}
        }
    }

    fn barrier_timed_out(&self, place: u32, now: Nanos) {
        let Some((program, position)) = self.running(place) else { return };
        let Some(Operation::Barrier { barrier, .. }) = program.operations.get(position) else { return };
        let Some(client) = self.clients.item(place) else { return };
        if let Some(opening) = self.stage.barriers.time_out(*barrier, client.awaited, now) {
            self.stage.tell_all(Mail::Open(opening));
        }
    }

    fn give_up(&self, whole_run: bool) -> Flow {
        if whole_run {
            self.stage.tell_all(Mail::Stop(EndReason::GivenUp));
        }
        Flow::Ends(Outcome::Aborted)
    }
}
