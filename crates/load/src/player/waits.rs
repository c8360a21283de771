//! How long a shard's thread waited for a CPU before it polled. Nothing else shows that time: until the thread runs, it
//! does not know of anything that it could be late with.

use std::time::Duration;

use engine::machine::OwnScheduling;

use crate::observe::Nanos;
use crate::statistics::Population;

/// Minimum interval between two queries to the kernel; shorter waits do not matter.
const ASK_AFTER: Nanos = 1_000_000;

/// The time for which one thread waited for a CPU.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    kernel: Kernel,
    asked_at: Nanos,
    /// Total wait over the thread's lifetime.
    waited: Duration,
    /// Number of items read since the last poll.
    read: u64,
    /// Wait before a poll in which something was read, counted once per item: an answer waits as long as its reader.
    seen: Population,
}

#[derive(Debug, Default)]
enum Kernel {
    /// Opened in the thread's first turn, because the descriptor refers to the thread that opens it.
    #[default]
    NotAsked,
    Known(OwnScheduling),
    /// The kernel does not provide it; nothing is estimated then.
    Silent,
}

impl Waits {
    /// Counts one item that was read.
    pub(crate) fn has_read(&mut self) {
        self.read += 1;
    }

    /// Ends a poll: everything that it returned has been read.
    pub(crate) fn end_look(&mut self, now: Nanos) {
        let read = std::mem::take(&mut self.read);
        if now.saturating_sub(self.asked_at) < ASK_AFTER {
            return self.seen_before(read, Duration::ZERO);
        }
        self.asked_at = now;
        if let Some(waited) = self.kernel.waited() {
            let before = std::mem::replace(&mut self.waited, waited);
            self.seen_before(read, waited.saturating_sub(before));
        }
    }

    /// Returns all waits; empty if the kernel does not provide them.
    pub(crate) fn seen(&self) -> &Population {
        &self.seen
    }

    fn seen_before(&mut self, read: u64, waited: Duration) {
        if read > 0 && matches!(self.kernel, Kernel::Known(_)) {
            self.seen.record_many(u64::try_from(waited.as_micros()).unwrap_or(u64::MAX), read);
        }
    }
}

impl Kernel {
    fn waited(&mut self) -> Option<Duration> {
        if matches!(self, Self::NotAsked) {
            *self = OwnScheduling::open().map_or(Self::Silent, Self::Known);
        }
        let Self::Known(own) = self else { return None };
        match own.read() {
            Ok(scheduling) => Some(scheduling.waited),
            Err(_) => {
                *self = Self::Silent;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_is_counted_once_each_with_what_the_thread_waited_before() {
        let mut waits = Waits::default();
        waits.end_look(5 * ASK_AFTER);
        if matches!(waits.kernel, Kernel::Silent) {
            return; // the kernel does not provide it
        }
        for look in 0..10 {
            (0..3).for_each(|_| waits.has_read());
            waits.end_look((10 + look) * ASK_AFTER / 2);
        }
        assert_eq!(waits.seen().count(), 30);
        waits.end_look(100 * ASK_AFTER);
        assert_eq!(waits.seen().count(), 30, "a look that finds nothing measures nothing");
    }

    #[test]
    fn a_kernel_that_does_not_say_leaves_nothing_rather_than_zeros() {
        let mut waits = Waits { kernel: Kernel::Silent, ..Waits::default() };
        waits.has_read();
        waits.end_look(5 * ASK_AFTER);
        assert_eq!(waits.seen().count(), 0);
    }
}
