//! The begin and the end of a user's session.

use engine::Io;

use super::client::{Client, Doing, Line, Register, Spoken};
use super::clock::NEVER;
use super::endings::Phase;
use super::interpret::Flow;
use super::program::Position;
use super::shard::Shard;
use crate::draw::Rng;
use crate::ledger::Echoes;
use crate::observe::{Kind, Nanos, Observation, Outcome};
use crate::schedule::Arrival;

/// How long a user of a closed phase waits after a failed session, so that a server that refuses everybody is not
/// flooded as fast as the generator can.
const REST_AFTER_FAILURE: Nanos = 1_000_000_000;

/// How long the peer may take to answer a close frame.
pub(super) const CLOSE_TIMEOUT: Nanos = 5_000_000_000;

impl Shard {
    /// Handles the arrival of a user. A user of a closed phase keeps its number in all its sessions, each of which has
    /// its own arrival and finish.
    pub(super) fn arrive(&mut self, io: &mut Io<'_, Self>, arrival: &Arrival, now: Nanos) {
        let mut rng = Rng::for_user(self.stage.plan.seed, arrival.user);
        let session = self.arrivals.draw_session(arrival.phase, &mut rng);
        let target = self.stage.targets.draw(&mut rng);
        let (repeat_until, iterations_left) = match arrival.repeat {
            None => (0, 0),
            Some(repeat) => {
                let iterations = repeat.iterations.map_or(u32::MAX, |n| u32::try_from(n).unwrap_or(u32::MAX));
                (repeat.until.unwrap_or(NEVER), iterations.saturating_sub(1))
            }
        };
        let place = self.clients.insert(Client {
            arrived: now,
            step_began: now,
            ready_at: arrival.at.min(now),
            beat: NEVER,
            intended: NEVER,
            step_due: NEVER,
            heartbeat_due: NEVER,
            repeat_until,
            rng,
            pending: proto::ws::Pending::default(),
            register: Register::default(),
            echoes: Echoes::default(),
            membership: None,
            rare: None,
            socket: None,
            user: arrival.user,
            position: 0,
            sent: 0,
            reference: 0,
            awaited: 0,
            heartbeat: 0,
            iterations_left,
            session,
            target,
            source: 0,
            doing: Doing::Ready,
            line: Line::Down,
            dialect: Spoken { phoenix: None, deflate: false, opened_by: 0 },
            stays: false,
        });
        self.stage.course.enter();
        self.raise(|gauges| &gauges.users);
        // Users of a closed phase are meant to be present, not to arrive at the same moment.
        let began = self.crowds.begin(arrival.at.min(now), now, arrival.repeat.is_none());
        self.begin(io, place, arrival.at, began, now);
    }

    /// `began` is when the generator's own delay starts to count.
    fn begin(&mut self, io: &mut Io<'_, Self>, place: u32, intended: Nanos, began: Nanos, now: Nanos) {
        self.raise(|gauges| &gauges.wanted);
        let seen = self.of_client(place, Kind::Arrival, Outcome::Ok, now);
        self.see(Observation { intended, began, ..seen }, String::new);
        self.advance(io, place);
    }

    /// Restarts the session of a user of a closed phase.
    pub(super) fn begin_anew(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let intended = client.ready_at;
        client.arrived = now;
        client.position = 0;
        client.beat = NEVER;
        client.intended = NEVER;
        self.begin(io, place, intended, intended.min(now), now);
    }

    /// Ends a user's session: closes gracefully what is open.
    pub(super) fn end_session(&mut self, io: &mut Io<'_, Self>, place: u32, outcome: Outcome) {
        let now = self.now();
        self.end_open_transactions(place, outcome, now, None);
        self.leave_barrier(place);
        if outcome == Outcome::Stopped {
            self.stop_request(io, place);
        }
        self.drop_request(io, place);
        let Some(client) = self.clients.item_mut(place) else { return };
        if outcome != Outcome::Ok {
            client.rare_mut().failure.get_or_insert(outcome);
        }
        match client.line {
            Line::Down => return self.finish(io, place, now),
            Line::Open => {
                client.doing = Doing::Finishing;
                client.step_due = now.saturating_add(CLOSE_TIMEOUT);
                self.send_close(io, place, proto::ws::CloseCode::NORMAL, "");
            }
            Line::Closing => client.doing = Doing::Finishing,
            Line::Dialing | Line::Upgrading => {
                self.drop_socket(io, place);
                return self.finish(io, place, now);
            }
            Line::Mute => {
                self.cut_now(io, place, now);
                return self.finish(io, place, now);
            }
        }
        self.set_timer(place);
    }

    /// Ends the transactions that contain the failing step; a user that goes back to an earlier step stays in those
    /// that contain that one.
    pub(super) fn end_open_transactions(
        &mut self,
        place: u32,
        outcome: Outcome,
        now: Nanos,
        back_to: Option<Position>,
    ) {
        if matches!(outcome, Outcome::Ok | Outcome::Stopped) {
            return;
        }
        let Some((program, position)) = self.running(place) else { return };
        let position = position as u32;
        for span in program.transactions.iter().rev() {
            let span_has = |position: Position| (span.first..span.last).contains(&position);
            if span_has(position) && !back_to.is_some_and(span_has) {
                self.end_transaction(place, span.register, span.label, outcome, now);
            }
        }
    }

    pub(super) fn leave_barrier(&self, place: u32) {
        let Some(client) = self.clients.item(place).filter(|client| client.doing == Doing::AtBarrier) else {
            return;
        };
        let Some((program, position)) = self.running(place) else { return };
        if let Some(super::program::Operation::Barrier { barrier, .. }) = program.operations.get(position) {
            self.stage.barriers.go(*barrier, client.awaited);
        }
    }

    /// A user has nothing open any more: removes it, or schedules its next session.
    pub(super) fn finish(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        self.drop_request(io, place);
        self.settle_all(place, Outcome::Ok, now);
        let label = self.clients.item(place).map_or(0, |client| usize::from(client.session.0));
        let label = self.programs.get(label).map_or(crate::observe::NO_LABEL, |program| program.label.0);
        let Some(client) = self.clients.item_mut(place) else { return };
        let rare = client.rare.take();
        let failure = rare.as_ref().and_then(|rare| rare.failure);
        let present = rare.map_or(0, |rare| rare.present.len());
        let began = client.arrived;
        let repeats = client.iterations_left > 0 && now < client.repeat_until;
        let is_playing = matches!(self.phase, Phase::Playing);
        if repeats && is_playing {
            let rest = if failure.is_some() { REST_AFTER_FAILURE } else { 0 };
            if client.iterations_left != u32::MAX {
                client.iterations_left -= 1;
            }
            client.doing = Doing::Resting;
            client.ready_at = now.saturating_add(rest);
            client.step_due = client.ready_at;
        }
        self.stage.gauges.list_changed(present as u64, 0);
        let seen = self.of_client(place, Kind::Finish, failure.unwrap_or(Outcome::Ok), now);
        self.see(Observation { began, intended: began, label, ..seen }, || {
            "the session ended here".to_owned()
        });
        self.raise(|gauges| &gauges.finished);
        if repeats && is_playing {
            return self.set_timer(place);
        }
        self.wheel.cancel(place);
        let Some(client) = self.clients.remove(place) else { return };
        self.lower(|gauges| &gauges.users);
        if !client.stays {
            self.stage.user_has_gone(now);
        }
    }

    /// A user has done all its steps and does not delay the end of the run any more.
    pub(super) fn stay(&mut self, place: u32) -> Flow {
        let now = self.now();
        let Some(client) = self.clients.item_mut(place) else { return Flow::Waits };
        client.doing = Doing::Staying;
        client.step_due = NEVER;
        if !std::mem::replace(&mut client.stays, true) {
            self.stage.user_has_gone(now);
        }
        Flow::Waits
    }
}
