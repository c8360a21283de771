//! A bounded queue to the threads of a store.

use chat::{Trouble, TroubleKind};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What waits for a store's threads, first in, first out.
pub(crate) struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    changed: Condvar,
    max: usize,
}

struct Waiting<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Queue<T> {
    /// For so many.
    pub(crate) fn new(max: usize) -> Self {
        let waiting = Waiting { items: VecDeque::new(), closed: false };
        Self { waiting: Mutex::new(waiting), changed: Condvar::new(), max: max.max(1) }
    }

    /// Adds one at the end, or gives it back when there is no place or the queue is closed.
    pub(crate) fn push(&self, item: T) -> Result<(), (T, Trouble)> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err((item, Trouble::new(TroubleKind::Closed, "it takes no more requests")));
        }
        if waiting.items.len() >= self.max {
            return Err((
                item,
                Trouble::new(TroubleKind::Busy, format!("{} requests wait already", self.max)),
            ));
        }
        waiting.items.push_back(item);
        drop(waiting);
        self.changed.notify_one();
        Ok(())
    }

    /// Takes up to `max` from the beginning, and waits while there is none. Nothing: the queue is closed and empty.
    pub(crate) fn take(&self, max: usize) -> Option<Vec<T>> {
        let mut waiting = self.lock();
        while waiting.items.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let count = waiting.items.len().min(max);
        Some(waiting.items.drain(..count).collect())
    }

    /// Lets nothing more in. What waits is still done.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// What waits, which nobody will take any more.
    pub(crate) fn abandon(&self) {
        self.close();
        // Items answer when they are dropped; not while the lock is held.
        let items = std::mem::take(&mut self.lock().items);
        drop(items);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        // Nothing panics while it is held.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_place_comes_back() {
        let queue = Queue::new(2);
        assert!(queue.push(1).is_ok() && queue.push(2).is_ok());
        assert_eq!(
            queue.push(3).map_err(|(item, trouble)| (item, trouble.kind)),
            Err((3, TroubleKind::Busy))
        );
    }

    #[test]
    fn a_closed_queue_gives_what_it_has_and_takes_nothing() {
        let queue = Queue::new(9);
        assert!(queue.push(1).is_ok());
        queue.close();
        assert_eq!(queue.push(2).map_err(|(_, trouble)| trouble.kind), Err(TroubleKind::Closed));
        assert_eq!(queue.take(9), Some(vec![1]));
        assert_eq!(queue.take(9), None);
    }

    #[test]
    fn whatever_waits_is_taken_at_once_up_to_the_bound() {
        let queue = Queue::new(9);
        for item in 0..5 {
            assert!(queue.push(item).is_ok());
        }
        assert_eq!(queue.take(3), Some(vec![0, 1, 2]));
        assert_eq!(queue.take(3), Some(vec![3, 4]));
    }
}
