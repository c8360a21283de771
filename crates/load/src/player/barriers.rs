//! Barriers at which users wait for each other, across all shards of the machine. If the run has other machines, the
//! controller, which hears from all of them, decides when a barrier opens.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::coordination::BarrierState;
use crate::observe::Nanos;
use crate::scenario::plan::BarrierId;

/// All barriers of a run.
#[derive(Debug)]
pub(crate) struct Barriers {
    all: Vec<Mutex<Barrier>>,
    /// Whether users on other machines use the barriers too.
    has_others: bool,
}

#[derive(Debug, Default)]
struct Barrier {
    waiting: u64,
    /// Number of users that must arrive; `None` is all users.
    wanted: Option<u64>,
    /// Number of the next opening.
    next: u32,
    /// Whether one of the waiting users has timed out.
    is_impatient: bool,
}

/// The opening of a barrier: all shards must release the users that wait for this opening.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Opening {
    pub(crate) barrier: BarrierId,
    /// How often the barrier has opened before.
    pub(crate) number: u32,
    /// When it opens: the same moment for all shards, whenever each reads its mail.
    pub(crate) at: Nanos,
    /// Whether all users have arrived.
    pub(crate) is_complete: bool,
}

impl Barriers {
    pub(crate) fn new(count: usize, has_others: bool) -> Self {
        Self { all: (0..count).map(|_| Mutex::default()).collect(), has_others }
    }

    /// A user arrives at a barrier that waits for `wanted` users, or for `everybody` if that number is known. Returns
    /// the number of the opening that the user waits for, and the opening itself if the barrier opens now.
    pub(crate) fn come(
        &self,
        id: BarrierId,
        wanted: Option<u64>,
        everybody: Option<u64>,
        now: Nanos,
    ) -> (u32, Option<Opening>) {
        let Some(mut barrier) = self.lock(id) else { return (0, None) };
        let number = barrier.next;
        barrier.waiting += 1;
        barrier.wanted = wanted;
        if self.has_others {
            return (number, None);
        }
        (number, barrier.open_if_complete(id, everybody, now))
    }

    /// A user that waited for an opening leaves without it.
    pub(crate) fn go(&self, id: BarrierId, number: u32) {
        if let Some(mut barrier) = self.lock(id).filter(|barrier| barrier.next == number) {
            barrier.waiting = barrier.waiting.saturating_sub(1);
        }
    }

    /// A user that waits for an opening has timed out: the barrier opens for all.
    pub(crate) fn time_out(&self, id: BarrierId, number: u32, now: Nanos) -> Option<Opening> {
        let mut barrier = self.lock(id).filter(|barrier| barrier.next == number)?;
        if self.has_others {
            barrier.is_impatient = true;
            return None;
        }
        Some(barrier.open(id, false, now))
    }

    /// Re-evaluates all barriers after the number of users has dropped or become known, since the users they wait for
    /// may all be there.
    pub(crate) fn recount(&self, everybody: u64, now: Nanos) -> Vec<Opening> {
        if self.has_others {
            return Vec::new();
        }
        let ids = (0..self.all.len()).map(|index| BarrierId(index as u16));
        ids.filter_map(|id| self.lock(id)?.open_if_complete(id, Some(everybody), now)).collect()
    }

    /// Returns the state of every barrier.
    pub(crate) fn states(&self) -> Vec<BarrierState> {
        let state = |id| {
            let barrier = self.lock(BarrierId(id))?;
            let Barrier { waiting, wanted, next: number, is_impatient } = *barrier;
            Some(BarrierState { number, waiting, wanted, is_impatient })
        };
        (0..self.all.len() as u16).filter_map(state).collect()
    }

    /// Opens a barrier on the controller's behalf; returns false if this opening has already happened.
    pub(crate) fn open(&self, id: BarrierId, number: u32) -> bool {
        let Some(mut barrier) = self.lock(id).filter(|barrier| barrier.next == number) else { return false };
        barrier.open(id, true, 0);
        true
    }

    /// Returns whether the run has no barriers.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    fn lock(&self, id: BarrierId) -> Option<MutexGuard<'_, Barrier>> {
        // A barrier is consistent between any two operations, so a poisoned lock is safe to use.
        Some(self.all.get(usize::from(id.0))?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Barrier {
    fn open_if_complete(&mut self, id: BarrierId, everybody: Option<u64>, now: Nanos) -> Option<Opening> {
        let wanted = self.wanted.or(everybody)?;
        (self.waiting > 0 && self.waiting >= wanted).then(|| self.open(id, true, now))
    }

    fn open(&mut self, barrier: BarrierId, is_complete: bool, at: Nanos) -> Opening {
        let number = self.next;
        self.waiting = 0;
        self.is_impatient = false;
        self.next = number.wrapping_add(1);
        Opening { barrier, number, at, is_complete }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARRIER: BarrierId = BarrierId(0);

    fn opening(number: u32, at: Nanos, is_complete: bool) -> Opening {
        Opening { barrier: BARRIER, number, at, is_complete }
    }

    #[test]
    fn a_barrier_opens_when_enough_have_come_and_again_for_the_next() {
        let barriers = Barriers::new(1, false);
        for (number, at) in [(0, 70), (1, 900)] {
            assert_eq!(barriers.come(BARRIER, Some(2), None, at - 5), (number, None));
            assert_eq!(barriers.come(BARRIER, Some(2), None, at), (number, Some(opening(number, at, true))));
        }
    }

    #[test]
    fn everybody_is_waited_for_once_it_is_known_how_many_that_are() {
        let barriers = Barriers::new(1, false);
        assert_eq!(barriers.come(BARRIER, None, None, 1), (0, None));
        assert_eq!(barriers.recount(3, 2), []);
        assert_eq!(barriers.come(BARRIER, None, Some(3), 3), (0, None));
        assert_eq!(barriers.recount(2, 4), [opening(0, 4, true)]);
        assert_eq!(barriers.recount(0, 5), [], "nobody waits");
    }

    #[test]
    fn patience_that_is_over_opens_for_all_and_only_once() {
        let barriers = Barriers::new(1, false);
        assert_eq!(barriers.come(BARRIER, Some(9), None, 1), (0, None));
        assert_eq!(barriers.time_out(BARRIER, 0, 2), Some(opening(0, 2, false)));
        assert_eq!(barriers.come(BARRIER, Some(9), None, 3), (1, None));
        assert_eq!(barriers.time_out(BARRIER, 0, 4), None);
    }

    #[test]
    fn who_has_gone_is_not_counted() {
        let barriers = Barriers::new(1, false);
        assert_eq!(barriers.come(BARRIER, Some(2), None, 1), (0, None));
        barriers.go(BARRIER, 0);
        assert_eq!(barriers.come(BARRIER, Some(2), None, 2), (0, None));
    }

    #[test]
    fn with_other_machines_a_barrier_says_who_is_there_and_opens_when_it_is_told() {
        let barriers = Barriers::new(1, true);
        assert_eq!(barriers.come(BARRIER, Some(1), None, 1), (0, None));
        assert_eq!(barriers.recount(1, 2), []);
        let there = BarrierState { number: 0, waiting: 1, wanted: Some(1), is_impatient: false };
        assert_eq!(barriers.states(), [there]);
        assert_eq!(barriers.time_out(BARRIER, 0, 3), None);
        assert_eq!(barriers.states(), [BarrierState { is_impatient: true, ..there }]);
        assert_eq!([barriers.open(BARRIER, 0), barriers.open(BARRIER, 0)], [true, false]);
        let after = BarrierState { number: 1, waiting: 0, is_impatient: false, ..there };
        assert_eq!(barriers.states(), [after]);
    }
}
