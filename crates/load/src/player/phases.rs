//! Where the shards of the machine have to agree about the course of the run: when a phase has waited for its users, and
//! when nobody comes any more.
//!
//! Users of other machines are not known here: where there are any, a phase that has waited for this machine's users
//! pauses until it is said that all machines' have finished.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::observe::Nanos;

/// The course of the run over all shards.
#[derive(Debug)]
pub(crate) struct Course {
    shards: usize,
    /// Whether users on other machines are waited for too.
    has_others: bool,
    /// Users that have arrived and not finished for good.
    active: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Shards whose schedule waits for the users of its phase.
    waiting: usize,
    /// The phase's own end.
    not_before: Nanos,
    /// Shards whose schedule has come to its end.
    done: usize,
    /// When the next phase may begin, where only other machines are waited for.
    pause: Option<Nanos>,
    /// Pauses so far.
    pauses: u32,
}

impl Course {
    pub(crate) fn new(shards: usize, has_others: bool) -> Self {
        Self { shards, has_others, active: AtomicU64::new(0), state: Mutex::default() }
    }

    /// A user has arrived.
    pub(crate) fn enter(&self) {
        self.active.fetch_add(1, Ordering::AcqRel);
    }

    /// A user has finished for good. Returns when the next phase begins, if it waited for this one only.
    pub(crate) fn leave(&self, now: Nanos) -> Option<Nanos> {
        let is_last = self.active.fetch_sub(1, Ordering::AcqRel) == 1;
        is_last.then(|| self.proceed(&mut self.lock(), now)).flatten()
    }

    /// Users that have arrived and not finished.
    pub(crate) fn active(&self) -> u64 {
        self.active.load(Ordering::Acquire)
    }

    /// A shard has let all its users of a phase come that waits for them. To be said once. Returns when the next phase
    /// begins, if all shards have said so and nobody is left.
    pub(crate) fn wait(&self, not_before: Nanos, now: Nanos) -> Option<Nanos> {
        let mut state = self.lock();
        state.waiting += 1;
        state.not_before = state.not_before.max(not_before);
        self.proceed(&mut state, now)
    }

    /// A shard's schedule has come to its end. To be said once. Returns whether that was the last one.
    pub(crate) fn done(&self) -> bool {
        let mut state = self.lock();
        state.done += 1;
        state.done == self.shards
    }

    /// Whether nobody comes any more.
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

    /// The number of the pause that is on, and when the next phase may begin.
    pub(crate) fn pause(&self) -> Option<(u32, Nanos)> {
        let state = self.lock();
        state.pause.map(|not_before| (state.pauses, not_before))
    }

    /// All machines' users have finished: the pause of this number is over. Returns whether it was on.
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
        // The state is whole between any two operations.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_phase_begins_with_the_end_of_the_last_user() {
        let course = Course::new(2, false);
        course.enter();
        assert_eq!([course.wait(10, 5), course.wait(10, 6)], [None, None]);
        assert_eq!(course.leave(50), Some(50));
        assert_eq!([course.wait(70, 60), course.wait(70, 61)], [None, Some(70)], "nobody came");
    }

    #[test]
    fn users_that_finish_early_begin_nothing() {
        let course = Course::new(2, false);
        course.enter();
        assert_eq!(course.wait(10, 5), None);
        assert_eq!(course.leave(7), None);
        assert_eq!(course.wait(10, 8), Some(10));
    }

    #[test]
    fn nobody_comes_any_more_when_all_shards_say_so() {
        let course = Course::new(2, false);
        assert!(!course.done() && !course.is_over());
        assert!(course.done() && course.is_over());
    }

    #[test]
    fn with_other_machines_a_phase_pauses_until_all_have_finished() {
        let course = Course::new(1, true);
        assert_eq!((course.wait(10, 5), course.pause()), (None, Some((0, 10))));
        assert_eq!([course.resume(1), course.resume(0), course.resume(0)], [false, true, false]);
        course.enter();
        assert_eq!((course.wait(20, 15), course.pause()), (None, None), "its user is still there");
        assert_eq!((course.leave(30), course.pause()), (None, Some((1, 30))));
    }
}
