//! Which users arrive on one shard, and when.

use super::stage::Stage;
use crate::draw::Weighted;
use crate::observe::Nanos;
use crate::scenario::plan::{Plan, SessionId};
use crate::schedule::{Arrival, Due, Schedule};

/// One shard's schedule, and how far it has coordinated it with the other shards.
pub(crate) struct Arrivals {
    schedule: Schedule,
    /// The weighted draw of sessions, one entry per phase.
    sessions: Vec<Option<Weighted>>,
    /// Whether the other shards have been told that this one waits or is done.
    has_said: bool,
    /// Number of users that did not arrive and have already been reported.
    dropped: u64,
}

impl Arrivals {
    pub(crate) fn new(plan: &Plan, schedule: Schedule) -> Self {
        let own: Vec<f64> = plan.sessions.iter().map(|session| session.weight).collect();
        let weights = plan.load.phases.iter().map(|phase| phase.weights.as_ref().unwrap_or(&own));
        // If no weight is above 0, every user gets the first session.
        let sessions = weights.map(|weights| Weighted::new(weights).ok()).collect();
        Self { schedule, sessions, has_said: false, dropped: 0 }
    }

    /// Returns the next user if it is due.
    pub(crate) fn next_if_due(&mut self, now: Nanos) -> Option<Arrival> {
        self.schedule.next_if_due(now)
    }

    /// Returns when the next user arrives or the plan ends.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        match self.schedule.next_due() {
            Due::At(at) => Some(at),
            Due::Waits { .. } => None,
            Due::Done { at } => Some(at),
        }
    }

    /// Returns whether no more users arrive and the last phase is over.
    pub(crate) fn is_over(&self, now: Nanos) -> bool {
        matches!(self.schedule.next_due(), Due::Done { at } if at <= now)
    }

    /// Coordinates with the other shards in phases that wait for their users.
    pub(crate) fn agree(&mut self, stage: &Stage, now: Nanos) {
        if self.has_said {
            return;
        }
        match self.schedule.next_due() {
            Due::At(_) => {}
            Due::Waits { not_before } => {
                self.has_said = true;
                stage.proceed(stage.course.wait(not_before, now));
            }
            Due::Done { .. } => {
                self.has_said = true;
                stage.nobody_comes_to_shard(now);
            }
        }
    }

    /// Ends the wait of a phase for its users.
    pub(crate) fn proceed(&mut self, at: Nanos) {
        if matches!(self.schedule.next_due(), Due::Waits { .. }) {
            self.has_said = false;
            self.schedule.proceed(at);
        }
    }

    /// Ends all arrivals from now on.
    pub(crate) fn stop(&mut self, now: Nanos) {
        self.schedule.stop(now);
    }

    /// Returns the number of users that did not arrive and have not been reported before.
    pub(crate) fn newly_dropped(&mut self) -> u64 {
        let dropped = self.schedule.dropped();
        dropped - std::mem::replace(&mut self.dropped, dropped)
    }

    /// Returns the phase active at `now`.
    pub(crate) fn phase_at(&mut self, now: Nanos) -> u16 {
        self.schedule.phase_at(now)
    }

    /// Draws a user's session.
    pub(crate) fn draw_session(&self, phase: u16, rng: &mut crate::draw::Rng) -> SessionId {
        let weighted = self.sessions.get(usize::from(phase)).and_then(Option::as_ref);
        SessionId(weighted.map_or(0, |weighted| weighted.draw(rng)) as u16)
    }
}
