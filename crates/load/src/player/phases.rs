//! Coordinates the shards of a machine on the course of the run: when a phase has waited for its users, and when no
//! more users arrive.
//!
//! Users of other machines are not known here. If there are other machines, a phase that has waited for this machine's
//! users pauses until the controller reports that the users of all machines have finished.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::observe::Nanos;

/// The course of the run over all shards.
#[derive(Debug)]
pub(crate) struct PhaseCoordinator {
    shards: usize,
    /// Whether users on other machines are waited for, too.
    has_others: bool,
    /// Number of users that have arrived and not finished for good.
    active: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of shards whose schedule waits for the users of its phase.
    waiting: usize,
    /// The end of the phase itself.
    not_before: Nanos,
    /// Number of shards whose schedule has ended.
    done: usize,
    /// When the next phase may begin, if only other machines are waited for.
    pause: Option<Nanos>,
    /// Number of pauses so far.
    pauses: u32,
}

impl PhaseCoordinator {
    pub(crate) fn new(shards: usize, has_others: bool) -> Self {
        Self { shards, has_others, active: AtomicU64::new(0), state: Mutex::default() }
    }

    /// A user has arrived.
    pub(crate) fn enter(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// A user has finished for good. Returns when the next phase begins, if this was the last user it waited for.
    pub(crate) fn leave(&self, now: Nanos) -> Option<Nanos> {
        let is_last = self.active.fetch_sub(1, Ordering::AcqRel) == 1;
        is_last.then(|| self.proceed(&mut self.lock(), now)).flatten()
    }

    /// Returns the number of users that have arrived and not finished for good.
    pub(crate) fn active(&self) -> u64 {
        self.active.load(Ordering::Acquire)
    }

    /// A shard has started all its users of a phase that waits for them. Called once per shard and phase. Returns when
    /// the next phase begins, if all shards have called this and no users are left.
    pub(crate) fn wait(&self, not_before: Nanos, now: Nanos) -> Option<Nanos> {
        let mut state = self.lock();
        state.waiting += 1;
        state.not_before = state.not_before.max(not_before);
        self.proceed(&mut state, now)
    }

    /// A shard's schedule has ended. Called once per shard. Returns whether it was the last one.
    pub(crate) fn done(&self) -> bool {
        let mut state = self.lock();
        state.done += 1;
        state.done == self.shards
    }

    /// Returns whether no more users arrive.
    pub(crate) fn is_over(&self) -> bool {
        self.lock().done >= self.shards
    }

    fn proceed(&self, state: &mut State, now: Nanos) -> Option<Nanos> {
        if state.waiting < self.shards || self.active() > 0 {
            return None;
        }
        let not_before = std::mem::take(&mut state.not_before).max(now);
        state.waiting = 0;
        if self.has_others {
            state.pause = Some(not_before);
            return None;
        }
        Some(not_before)
    }

    /// Returns the number of the current pause, and when the next phase may begin.
    pub(crate) fn pause(&self) -> Option<(u32, Nanos)> {
        let state = self.lock();
        state.pause.map(|not_before| (state.pauses, not_before))
    }

    /// Ends the pause with this number, because the users of all machines have finished. Returns whether it was the
    /// current pause.
    pub(crate) fn resume(&self, number: u32) -> bool {
        let mut state = self.lock();
        let is_on = state.pause.is_some() && state.pauses == number;
        if is_on {
            state.pause = None;
            state.pauses = state.pauses.wrapping_add(1);
        }
        is_on
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two operations, so a poisoned lock is safe to use.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_phase_begins_with_the_end_of_the_last_user() {
        let course = PhaseCoordinator::new(2, false);
        course.enter();
        assert_eq!([course.wait(10, 5), course.wait(10, 6)], [None, None]);
        assert_eq!(course.leave(50), Some(50));
        assert_eq!([course.wait(70, 60), course.wait(70, 61)], [None, Some(70)], "nobody came");
    }

    #[test]
    fn users_that_finish_early_begin_nothing() {
        let course = PhaseCoordinator::new(2, false);
        course.enter();
        assert_eq!(course.wait(10, 5), None);
        assert_eq!(course.leave(7), None);
        assert_eq!(course.wait(10, 8), Some(10));
    }

    #[test]
    fn nobody_comes_any_more_when_all_shards_say_so() {
        let course = PhaseCoordinator::new(2, false);
        assert!(!course.done() && !course.is_over());
        assert!(course.done() && course.is_over());
    }

    #[test]
    fn with_other_machines_a_phase_pauses_until_all_have_finished() {
        let course = PhaseCoordinator::new(1, true);
        assert_eq!((course.wait(10, 5), course.pause()), (None, Some((0, 10))));
        assert_eq!([course.resume(1), course.resume(0), course.resume(0)], [false, true, false]);
        course.enter();
        assert_eq!((course.wait(20, 15), course.pause()), (None, None), "its user is still there");
        assert_eq!((course.leave(30), course.pause()), (None, Some((1, 30))));
    }
}
