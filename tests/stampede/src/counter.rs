//! A count that can be waited for.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::PATIENCE;

/// How often something happened, shared by whoever has a clone.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<(Mutex<u64>, Condvar)>);

impl Counter {
    /// Once more.
    pub fn increase(&self) {
        let (count, changed) = &*self.0;
        *count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        changed.notify_all();
    }

    /// So often until now.
    #[must_use]
    pub fn count(&self) -> u64 {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it has happened `wanted` times.
    pub fn wait_for(&self, wanted: u64) {
        let (count, changed) = &*self.0;
        let count = count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = changed.wait_timeout_while(count, PATIENCE, |count| *count < wanted);
        let (count, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!timeout.timed_out(), "waited in vain for {wanted}, there were {}", *count);
    }
}
