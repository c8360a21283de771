//! The arrivals of a run, phase by phase.

use std::collections::VecDeque;
use std::time::Duration;

use crate::draw::Rng;
use crate::observe::{Nanos, UserId};
use crate::scenario::plan::{Arrivals, Load, Phase};
use crate::schedule::phase::{Times, count};
use crate::schedule::{Arrival, Due, Repeat, ScheduleError, Share};

/// Maximum number of phases that may begin between the last one asked for and the next arrival; beyond that,
/// [`Schedule::phase_at`] drops the oldest.
const PHASES_AHEAD_MAX: usize = 64;

/// The arrivals of one share of a run's users, in time order within each phase. The iterator ends where the plan ends,
/// or where it must be told when the next phase begins ([`Due::Waits`]).
///
/// User numbers follow the phases: the first phase has the lowest ones. All shares of the same plan agree on all
/// arrivals, whatever the sizes of the shares. A share takes a few bytes and skips the users of other shares (Poisson
/// phases have to draw them).
#[derive(Clone, Debug)]
pub struct Schedule {
    phases: Vec<Phase>,
    rounds: u32,
    run_ends: Option<Nanos>,
    seed: u64,
    share: Share,
    /// Index of the share's next user, from 0.
    nth: u64,
    current: Current,
    state: State,
    upcoming: Option<Arrival>,
    begun: VecDeque<(Nanos, u16)>,
    dropped: u64,
}

/// The phase that the next arrival is taken from.
#[derive(Clone, Debug)]
struct Current {
    round: u32,
    phase: usize,
    begin: Nanos,
    /// Number of the phase's first user.
    first_user: u64,
    count: u64,
    times: Times,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Plays,
    Waits { not_before: Nanos },
    Done { at: Nanos },
}

impl Schedule {
    /// Returns the arrivals of `share` under `load`; `seed` is the scenario's.
    ///
    /// # Errors
    /// [`ScheduleError`] names the phase that is invalid.
    pub fn new(load: &Load, seed: u64, share: &Share) -> Result<Self, ScheduleError> {
        if load.phases.len() > usize::from(u16::MAX) {
            return Err(ScheduleError::TooManyPhases { phases: load.phases.len() });
        }
        load.phases.iter().try_for_each(check)?;
        let nothing = Current { round: 0, phase: 0, begin: 0, first_user: 0, count: 0, times: Times::AtOnce };
        let mut schedule = Self {
            phases: load.phases.clone(),
            rounds: load.rounds.max(1),
            run_ends: load.duration.map(nanos),
            seed,
            share: share.clone(),
            nth: 0,
            current: nothing,
            state: State::Plays,
            upcoming: None,
            begun: VecDeque::new(),
            dropped: 0,
        };
        if schedule.phases.iter().all(|phase| count(phase) == 0) {
            let round: Nanos = schedule.phases.iter().filter_map(|phase| phase.duration).map(nanos).sum();
            schedule.finish(round.saturating_mul(u64::from(schedule.rounds)));
        } else {
            schedule.begin(0, 0);
            schedule.look_ahead();
        }
        Ok(schedule)
    }

    /// Returns the next event.
    #[must_use]
    pub fn next_due(&self) -> Due {
        match (self.upcoming, self.state) {
            (Some(arrival), _) => Due::At(arrival.at),
            (None, State::Waits { not_before }) => Due::Waits { not_before },
            (None, State::Done { at }) => Due::Done { at },
            // Unreachable in practice: looking ahead ends in one of the other states.
            (None, State::Plays) => Due::At(self.current.begin),
        }
    }

    /// Takes the users that arrive up to and including `now`.
    pub fn take_until(&mut self, now: Nanos) -> impl Iterator<Item = Arrival> + '_ {
        std::iter::from_fn(move || self.next_if_due(now))
    }

    /// Takes the next user if it arrives up to and including `now`.
    pub fn next_if_due(&mut self, now: Nanos) -> Option<Arrival> {
        if self.upcoming?.at <= now { self.next() } else { None }
    }

    /// Begins the next phase at `at`: the answer to [`Due::Waits`], without effect at any other time. A time before the
    /// waiting phase's own end is raised to that end.
    pub fn proceed(&mut self, at: Nanos) {
        if let State::Waits { not_before } = self.state {
            self.state = State::Plays;
            self.begin_next(at.max(not_before));
            self.look_ahead();
        }
    }

    /// Ends all arrivals from `at` on. Returns how many users of the current phase had not arrived yet; they count as
    /// dropped.
    pub fn stop(&mut self, at: Nanos) -> u64 {
        let before = self.dropped;
        if self.upcoming.take().is_some() {
            self.nth -= 1;
            if self.current.begin <= at {
                self.drop_rest();
            }
        }
        self.finish(at);
        self.dropped - before
    }

    /// Returns how many users of the share the whole plan has, over all rounds; `None` is unlimited.
    #[must_use]
    pub fn planned(&self) -> Option<u64> {
        let counts = self.phases.iter().map(count);
        let round = counts
            .into_iter()
            .try_fold(0_u64, |sum, count| if count == u64::MAX { None } else { sum.checked_add(count) })?;
        Some(self.share.count_of(round.checked_mul(u64::from(self.rounds))?))
    }

    /// Returns how many users of the share did not arrive because their phase or the run ended before their turn.
    /// Phases that did not begin do not count.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the phase active at `now`, as an index into [`Load::phases`]; calls must pass times in ascending order.
    pub fn phase_at(&mut self, now: Nanos) -> u16 {
        while self.begun.get(1).is_some_and(|&(begin, _)| begin <= now) {
            self.begun.pop_front();
        }
        self.begun.front().map_or(0, |&(_, phase)| phase)
    }

    /// Advances through the plan to the next arrival, or to where it ends or waits.
    fn look_ahead(&mut self) {
        while self.upcoming.is_none() && self.state == State::Plays {
            let last_user = self.current.first_user.saturating_add(self.current.count);
            match self.share.user(self.nth) {
                Some(user) if u64::from(user) < last_user => self.arrive(user),
                Some(_) => self.end_phase(),
                // User numbers are exhausted.
                None => {
                    self.drop_rest();
                    self.finish(self.current.begin);
                }
            }
        }
    }

    fn arrive(&mut self, user: UserId) {
        let phase = &self.phases[self.current.phase];
        let phase_ends = phase.duration.map(|duration| self.current.begin.saturating_add(nanos(duration)));
        let nth_of_phase = u64::from(user) - self.current.first_user;
        let at = self.current.begin.saturating_add(self.current.times.at(nth_of_phase));
        // Check the phase's end first: it may lie long before the end of the run.
        if matches!(phase.arrivals, Arrivals::Closed { .. }) && phase_ends.is_some_and(|end| at >= end) {
            self.drop_rest();
        } else if let Some(run_ends) = self.run_ends.filter(|&run_ends| at >= run_ends) {
            self.drop_rest();
            self.finish(run_ends);
        } else {
            let ends = [phase_ends, self.run_ends].into_iter().flatten().min();
            self.upcoming = Some(Arrival {
                at,
                user,
                phase: self.current.phase as u16,
                round: self.current.round,
                repeat: match phase.arrivals {
                    Arrivals::Closed { iterations, .. } => Some(Repeat { iterations, until: ends }),
                    Arrivals::Constant(_)
                    | Arrivals::Ramp(..)
                    | Arrivals::Poisson(_)
                    | Arrivals::Burst(_)
                    | Arrivals::Pause => None,
                },
            });
            self.nth += 1;
        }
    }

    fn end_phase(&mut self) {
        let phase = &self.phases[self.current.phase];
        let is_closed = matches!(phase.arrivals, Arrivals::Closed { .. });
        let waits = phase.wait_for_users || is_closed && phase.duration.is_none();
        let length = match (phase.duration, self.current.count) {
            (Some(duration), _) => nanos(duration),
            (None, 0) => 0,
            (None, count) => self.current.times.at(count - 1),
        };
        let end = self.current.begin.saturating_add(length);
        if waits && !self.is_last() {
            self.state = State::Waits { not_before: end };
        } else {
            self.begin_next(end);
        }
    }

    fn is_last(&self) -> bool {
        self.current.phase + 1 == self.phases.len() && self.current.round + 1 == self.rounds
    }

    fn begin_next(&mut self, at: Nanos) {
        if self.is_last() {
            return self.finish(at);
        }
        if let Some(run_ends) = self.run_ends.filter(|&run_ends| at >= run_ends) {
            return self.finish(run_ends);
        }
        self.current.phase += 1;
        if self.current.phase == self.phases.len() {
            self.current.phase = 0;
            self.current.round += 1;
        }
        self.begin(at, self.current.first_user.saturating_add(self.current.count));
    }

    /// Begins the phase that `current` names.
    fn begin(&mut self, at: Nanos, first_user: u64) {
        let phase = &self.phases[self.current.phase];
        let passes = self.current.round.wrapping_mul(self.phases.len() as u32);
        let rng = Rng::for_purpose(self.seed, passes.wrapping_add(self.current.phase as u32));
        self.current.begin = at;
        self.current.first_user = first_user;
        self.current.count = count(phase);
        self.current.times = Times::new(phase, rng);
        if self.begun.len() >= PHASES_AHEAD_MAX {
            self.begun.pop_front();
        }
        self.begun.push_back((at, self.current.phase as u16));
    }

    fn finish(&mut self, at: Nanos) {
        let at = self.run_ends.map_or(at, |run_ends| at.min(run_ends));
        self.state = State::Done { at };
    }

    /// Drops the remaining users of the phase. An unlimited phase drops nobody, because it has no definite remaining
    /// users.
    fn drop_rest(&mut self) {
        if let Some(next_phase) = self.current.first_user.checked_add(self.current.count)
            && self.current.count < u64::MAX
        {
            let nth = self.share.count_of(next_phase).max(self.nth);
            self.dropped += nth - self.nth;
            self.nth = nth;
        }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let arrival = self.upcoming.take()?;
        self.look_ahead();
        Some(arrival)
    }
}

fn check(phase: &Phase) -> Result<(), ScheduleError> {
    let rates = match phase.arrivals {
        Arrivals::Constant(rate) | Arrivals::Poisson(rate) => [rate, rate],
        Arrivals::Ramp(from, to) => [from, to],
        Arrivals::Burst(_) | Arrivals::Closed { .. } | Arrivals::Pause => [0.0, 0.0],
    };
    if let Some(&rate) = rates.iter().find(|rate| !(rate.is_finite() && **rate >= 0.0)) {
        return Err(ScheduleError::NotARate { phase: phase.name.clone(), rate });
    }
    if matches!(phase.arrivals, Arrivals::Ramp(..)) && phase.duration.is_none() {
        return Err(ScheduleError::RampWithoutDuration { phase: phase.name.clone() });
    }
    Ok(())
}

fn nanos(duration: Duration) -> Nanos {
    Nanos::try_from(duration.as_nanos()).unwrap_or(Nanos::MAX)
}

#[cfg(test)]
mod tests;
