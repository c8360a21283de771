//! How a shard's part of a run ends: nothing new begins, messages in flight get time to arrive, all connections close,
//! and every user gets its finish.

use std::sync::Arc;

use engine::Io;

use super::client::{Doing, Line};
use super::clock::{NEVER, nanos};
use super::shard::Shard;
use super::stage::{End, EndReason};
use crate::observe::{Kind, Nanos, Observation, Outcome};

/// Maximum number of users handled in one turn.
const USERS_PER_TURN_MAX: usize = 512;
/// Limit on unanswered closes at the end, over all shards. If a million users closed at once, the last would wait
/// longer than the close timeout, however fast the server is.
const CLOSES_UNANSWERED_MAX: usize = 10_000;

/// The phase of a shard's part of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Users arrive and play.
    Playing,
    /// All users are told to stop sending, starting at `place`.
    Quieting {
        /// The next user to be told.
        place: u32,
        /// Why the run ends.
        why: EndReason,
    },
    /// All users only listen.
    Draining {
        /// When the drain ends.
        until: Nanos,
        /// Why the run ends.
        why: EndReason,
    },
    /// All users are told to close, starting at `place`.
    Closing {
        /// The next user to be told.
        place: u32,
        /// Number of users that have not been told.
        untold: usize,
        /// Why the run ends.
        why: EndReason,
    },
    /// All connections are cut, starting at `place`.
    Cutting {
        /// The next user.
        place: u32,
    },
    /// The last users wait for the answers to their closes.
    Leaving {
        /// Why the run ends.
        why: EndReason,
    },
    /// No users are left; waits for what other machines published.
    Settling {
        /// Why the run ends.
        why: EndReason,
    },
    /// The shard has ended.
    Over,
}

impl Shard {
    /// Stops arrivals and lets present users finish what they are doing.
    pub(super) fn stop(&mut self, why: EndReason) {
        if self.phase != Phase::Playing {
            return;
        }
        let now = self.now();
        self.report_dropped(now);
        self.arrivals.stop(now);
        match why {
            EndReason::Finished | EndReason::Duration | EndReason::GivenUp => self.report_dropped(now),
            // When the run is stopped by hand, users that have not arrived are not wanted any more.
            EndReason::Stopped | EndReason::Aborted => {
                self.arrivals.newly_dropped();
            }
        }
        self.phase = Phase::Quieting { place: 0, why };
        self.stage.shard_drains();
    }

    /// Ends everything now.
    pub(super) fn abort(&mut self) {
        if matches!(self.phase, Phase::Over | Phase::Cutting { .. }) {
            return;
        }
        self.stop(EndReason::Aborted);
        self.phase = Phase::Cutting { place: 0 };
    }

    /// Advances the phase of the run; returns whether there is more to do at once.
    pub(super) fn conduct(&mut self, io: &mut Io<'_, Self>) -> bool {
        let now = self.now();
        match self.phase {
            Phase::Playing => self.look_for_the_end(now),
            Phase::Quieting { place, why } => {
                let (next, _) = self.tell_some(io, place, USERS_PER_TURN_MAX, Self::quiet);
                let until = now.saturating_add(nanos(self.stage.plan.drain));
                self.phase = match next {
                    Some(place) => Phase::Quieting { place, why },
                    None => Phase::Draining { until, why },
                };
                next.is_some() || self.clients.len() == 0
            }
            Phase::Draining { until, why } => {
                let is_over = now >= until || self.clients.len() == 0;
                if is_over {
                    self.phase = Phase::Closing { place: 0, untold: self.clients.len(), why };
                }
                is_over
            }
            Phase::Closing { place, untold, why } => {
                let room =
                    closes_unanswered_max(self.stage.shards).saturating_sub(self.closes_unanswered(untold));
                if room == 0 {
                    return false;
                }
                let most = room.min(USERS_PER_TURN_MAX);
                let (next, told) = self.tell_some(io, place, most, Self::close_at_end);
                let untold = untold.saturating_sub(told);
                self.phase =
                    next.map_or(Phase::Leaving { why }, |place| Phase::Closing { place, untold, why });
                next.is_some() || self.clients.len() == 0
            }
            Phase::Cutting { place } => {
                let (next, _) = self.tell_some(io, place, USERS_PER_TURN_MAX, Self::cut_at_end);
                self.phase =
                    next.map_or(Phase::Leaving { why: EndReason::Aborted }, |place| Phase::Cutting { place });
                true
            }
            Phase::Leaving { why } => {
                let is_empty = self.clients.len() == 0;
                if is_empty {
                    self.stage.together.shard_is_empty();
                    self.phase = Phase::Settling { why };
                }
                is_empty
            }
            Phase::Settling { why } => {
                self.settle_elsewhere(why, now);
                false
            }
            Phase::Over => false,
        }
    }

    /// Returns whether a message received at `at` is late: in the second half of the drain, or after it.
    pub(super) fn is_late(&self, at: Nanos) -> bool {
        match self.phase {
            Phase::Playing | Phase::Quieting { .. } => false,
            Phase::Draining { until, .. } => at > until.saturating_sub(nanos(self.stage.plan.drain) / 2),
            Phase::Closing { .. }
            | Phase::Cutting { .. }
            | Phase::Leaving { .. }
            | Phase::Settling { .. }
            | Phase::Over => true,
        }
    }

    /// Returns when the phase of the run is to be advanced next.
    pub(super) fn next_ending(&self) -> Option<Nanos> {
        match self.phase {
            Phase::Playing => self.stage.plan.load.duration.map(nanos),
            Phase::Draining { until, .. } => Some(until),
            Phase::Quieting { .. }
            | Phase::Closing { .. }
            | Phase::Cutting { .. }
            | Phase::Leaving { .. }
            | Phase::Settling { .. }
            | Phase::Over => None,
        }
    }

    /// Returns when the next user arrives or the last phase ends.
    pub(super) fn next_arrival(&self, now: Nanos) -> Option<Nanos> {
        let is_playing = self.phase == Phase::Playing && !self.arrivals.is_over(now);
        is_playing.then(|| self.arrivals.next_due()).flatten()
    }

    /// Judges what was received from other machines as soon as it is known what they published, and ends. An aborted
    /// run does not wait for it.
    fn settle_elsewhere(&mut self, why: EndReason, now: Nanos) {
        let settlement = match self.stage.together.settlement() {
            Some(settlement) => settlement,
            None if why == EndReason::Aborted || !self.stage.together.has_others() => Arc::default(),
            None => return,
        };
        self.settle_stays(&settlement, now);
        self.phase = Phase::Over;
        while let Some(burst) = self.crowds.next_left(now) {
            self.see_burst(&burst);
        }
        self.feed.close();
        self.stage.shard_has_ended(End { why, at: now }, &self.read_lag, self.waits.seen());
    }

    fn look_for_the_end(&mut self, now: Nanos) -> bool {
        self.arrivals.agree(&self.stage, now);
        self.report_dropped(now);
        let phase = self.arrivals.phase_at(now);
        if self.index == 0 {
            let gauge = &self.stage.gauges.phase;
            gauge.store(u64::from(phase), std::sync::atomic::Ordering::Relaxed);
        }
        if self.stage.plan.load.duration.is_some_and(|duration| now >= nanos(duration)) {
            self.stop(EndReason::Duration);
            return true;
        }
        let course = &self.stage.course;
        let is_over = self.arrivals.is_over(now) && course.is_over() && course.active() == 0;
        // Other machines may still send to users that only listen here.
        let is_over = is_over && self.stage.together.finish();
        if is_over {
            self.stop(EndReason::Finished);
        }
        is_over
    }

    /// Counts users that did not get their turn as both wanted and dropped.
    fn report_dropped(&mut self, now: Nanos) {
        let count = self.arrivals.newly_dropped();
        if count == 0 {
            return;
        }
        let wanted = &self.stage.gauges.wanted;
        wanted.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let nobody = Observation::of_nobody(Kind::Arrival, now);
        let seen = Observation { intended: now, began: now, count, outcome: Outcome::Dropped, ..nobody };
        self.see(seen, || "the phase or the run ended before the user could start".to_owned());
    }

    /// Returns the number of unanswered closes at the end, while `untold` users have not been told to close. If untold
    /// users leave, this underestimates.
    fn closes_unanswered(&self, untold: usize) -> usize {
        self.clients.len().saturating_sub(untold)
    }

    /// Applies `tell` to at most `most` users; returns where the rest begin, and how many users were told.
    fn tell_some(
        &mut self,
        io: &mut Io<'_, Self>,
        place: u32,
        most: usize,
        tell: fn(&mut Self, &mut Io<'_, Self>, u32, Nanos),
    ) -> (Option<u32>, usize) {
        let end = self.clients.places().min(place.saturating_add(u32::try_from(most).unwrap_or(u32::MAX)));
        let now = self.now();
        let mut told = 0;
        for place in place..end {
            if self.clients.item(place).is_some() {
                tell(self, io, place, now);
                told += 1;
            }
        }
        ((end < self.clients.places()).then_some(end), told)
    }

    /// Stops the user from sending. An operation in progress leaves no observation of its own, except a request that
    /// waits for its response; the finish reports that the user was stopped.
    fn quiet(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item_mut(place) else { return };
        let was_resting = client.doing == Doing::Resting;
        match (client.doing, client.line) {
            (Doing::Finishing, _) => {}
            (_, Line::Closing) => {
                client.doing = Doing::Finishing;
                client.rare_mut().failure.get_or_insert(Outcome::Stopped);
            }
            (_, Line::Open) => {
                self.stop_request(io, place);
                // Before any membership is settled: a quiet user does not wait for answers.
                self.doubt_unanswered(place);
                let Some(client) = self.clients.item_mut(place) else { return };
                client.doing = Doing::Draining;
                client.step_due = NEVER;
                self.set_timer(place);
            }
            // Between two sessions: the last one has its finish already.
            (_, Line::Down) if was_resting => self.vanish(place, now),
            (_, Line::Down | Line::Dialing | Line::Upgrading | Line::Mute) => {
                self.close_at_end(io, place, now);
            }
        }
    }

    fn vanish(&mut self, place: u32, now: Nanos) {
        self.wheel.cancel(place);
        if self.clients.remove(place).is_some() {
            self.lower(|gauges| &gauges.users);
            self.stage.user_has_gone(now);
        }
    }

    fn close_at_end(&mut self, io: &mut Io<'_, Self>, place: u32, _: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        if client.doing == Doing::Finishing {
            return;
        }
        // A user that stayed has done everything in its session.
        let outcome = if client.stays { Outcome::Ok } else { Outcome::Stopped };
        self.end_session(io, place, outcome);
    }

    fn cut_at_end(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item_mut(place) else { return };
        if client.doing == Doing::Resting {
            return self.vanish(place, now);
        }
        client.rare_mut().failure.get_or_insert(Outcome::Stopped);
        self.stop_request(io, place);
        self.cut_now(io, place, now);
        self.finish(io, place, now);
    }

    /// Cuts a user's WebSocket, if it has one, and settles its memberships.
    pub(super) fn cut_now(&mut self, io: &mut Io<'_, Self>, place: u32, now: Nanos) {
        let Some(client) = self.clients.item(place) else { return };
        let was_open = matches!(client.line, Line::Open | Line::Closing | Line::Mute);
        self.depart(place);
        self.drop_socket(io, place);
        if was_open {
            let seen = self.of_client(place, Kind::Disconnect, Outcome::Ok, now);
            self.see(seen, String::new);
        }
        self.settle_all(place, Outcome::Ok, now);
    }
}

/// One shard's part of [`CLOSES_UNANSWERED_MAX`], at least one.
fn closes_unanswered_max(shards: u16) -> usize {
    (CLOSES_UNANSWERED_MAX / usize::from(shards.max(1))).max(1)
}
