//! The bounded queue to a store's threads, shared by communities.

use crate::lanes::{Lanes, Shared};
use chat::{StoreError, StoreErrorKind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Requests waiting for a store's threads: in order of arrival within a community, with communities taking turns.
///
/// A community may have as many requests waiting as there are free places (Choudhury and Hahne's dynamic threshold):
/// alone it fills half of the queue; `n` that flood it leave one part in `n + 1` free. So a community with nothing
/// queued finds a place.
pub(crate) struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    changed: Condvar,
    max: usize,
}

struct Waiting<T> {
    lanes: Lanes<T>,
    closed: bool,
    /// Threads that sleep until something comes. Waking is a system call, also where nobody sleeps.
    asleep: usize,
}

impl<T: Shared> Queue<T> {
    /// A queue with `max` places.
    pub(crate) fn new(max: usize) -> Self {
        let waiting = Waiting { lanes: Lanes::new(), closed: false, asleep: 0 };
        Self { waiting: Mutex::new(waiting), changed: Condvar::new(), max: max.max(1) }
    }

    /// Appends an item to its community's lane; returns it if there is no place or the queue is closed.
    pub(crate) fn push(&self, item: T) -> Result<(), (T, StoreError)> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err((item, StoreError::new(StoreErrorKind::Closed, "no more requests are accepted")));
        }
        let (all, own) = (waiting.lanes.waiting(), waiting.lanes.waiting_of(item.community()));
        if own >= self.max.saturating_sub(all) {
            let detail = format!("{all} requests are waiting, {own} of them from this community");
            return Err((item, StoreError::new(StoreErrorKind::Busy, detail)));
        }
        waiting.lanes.push(item);
        let someone_sleeps = waiting.asleep > 0;
        drop(waiting);
        if someone_sleeps {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Takes items with a total weight of up to `weight_max`, at least one; blocks while there are none. `None` if the
    /// queue is closed and empty.
    pub(crate) fn take(&self, weight_max: u32) -> Option<Vec<T>> {
        let mut waiting = self.lock();
        while waiting.lanes.waiting() == 0 {
            if waiting.closed {
                return None;
            }
            waiting.asleep += 1;
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            waiting.asleep -= 1;
        }
        Some(waiting.lanes.take(weight_max))
    }

    /// Refuses new items. Queued ones are still processed.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Closes the queue and drops what nobody will take any more.
    pub(crate) fn abandon(&self) {
        self.close();
        // Items answer when dropped, so drop them without holding the lock.
        let items = self.lock().lanes.drain();
        drop(items);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        // No code panics while holding it.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::tests::{Item, item};

    /// How many items of a community are accepted.
    fn fill(queue: &Queue<Item>, community: &str) -> u32 {
        let refused = (0..).find_map(|nth| queue.push(item(community, nth)).err());
        let (item, trouble) = refused.expect("a queue is bounded");
        assert_eq!(trouble.kind, StoreErrorKind::Busy);
        item.nth
    }

    #[test]
    fn communities_that_flood_it_leave_a_place_for_who_has_nothing_waiting() {
        let queue = Queue::new(1_000);
        assert_eq!(fill(&queue, "first"), 500);
        assert_eq!(fill(&queue, "second"), 250);
        for nth in 0..200 {
            assert!(queue.push(item(&format!("quiet-{nth}"), 0)).is_ok(), "{nth}");
            assert!(queue.push(item("first", 0)).is_err());
        }
    }

    #[test]
    fn the_least_queue_takes_one() {
        let queue = Queue::new(1);
        assert!(queue.push(item("one", 0)).is_ok());
        assert_eq!(
            queue.push(item("two", 7)).map_err(|(item, trouble)| (item.nth, trouble.kind)),
            Err((7, StoreErrorKind::Busy))
        );
    }

    #[test]
    fn a_closed_queue_gives_what_it_has_and_takes_nothing() {
        let queue = Queue::new(9);
        assert!(queue.push(item("one", 1)).is_ok());
        queue.close();
        assert_eq!(
            queue.push(item("one", 2)).map_err(|(_, trouble)| trouble.kind),
            Err(StoreErrorKind::Closed)
        );
        assert_eq!(queue.take(9), Some(vec![item("one", 1)]));
        assert_eq!(queue.take(9), None);
    }

    #[test]
    fn whatever_waits_is_taken_at_once_up_to_the_bound() {
        let queue = Queue::new(19);
        for nth in 0..5 {
            assert!(queue.push(item("one", nth)).is_ok());
        }
        let places =
            |taken: Option<Vec<Item>>| taken.map(|items| items.iter().map(|item| item.nth).collect());
        assert_eq!(places(queue.take(3)), Some(vec![0, 1, 2]));
        assert_eq!(places(queue.take(3)), Some(vec![3, 4]));
    }
}
