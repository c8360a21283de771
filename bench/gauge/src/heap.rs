//! The heap, measured by this program's counting allocator.

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The reported figures, by the names of their budgets.
pub(crate) type Figures = BTreeMap<&'static str, f64>;

/// Maximum time for other threads to finish their work.
const SETTLING_MAX: Duration = Duration::from_secs(20);
/// The heap counts as idle when it has not changed for this long.
const REST: Duration = Duration::from_millis(100);

/// A snapshot of the heap over all threads, as requested, without the allocator's overhead per block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heap {
    pub(crate) bytes: usize,
    pub(crate) blocks: usize,
    /// Number of allocations and reallocations so far.
    pub(crate) requests: usize,
}

impl Heap {
    pub(crate) fn now() -> Heap {
        let stats = INSTRUMENTED_SYSTEM.stats();
        Heap {
            bytes: stats.bytes_allocated - stats.bytes_deallocated,
            blocks: stats.allocations - stats.deallocations,
            requests: stats.allocations + stats.reallocations,
        }
    }

    /// Returns the heap once no thread changes it any more, or as it is after `SETTLING_MAX`.
    pub(crate) fn at_rest() -> Heap {
        let begin = Instant::now();
        let (mut heap, mut since) = (Heap::now(), Instant::now());
        while since.elapsed() < REST && begin.elapsed() < SETTLING_MAX {
            std::thread::sleep(REST / 20);
            let now = Heap::now();
            if now != heap {
                (heap, since) = (now, Instant::now());
            }
        }
        heap
    }

    pub(crate) fn bytes_each(self, smaller: Heap, count: u32) -> f64 {
        each(self.bytes, smaller.bytes, count)
    }

    pub(crate) fn blocks_each(self, smaller: Heap, count: u32) -> f64 {
        each(self.blocks, smaller.blocks, count)
    }

    pub(crate) fn requests_each(self, earlier: Heap, count: u32) -> f64 {
        each(self.requests, earlier.requests, count)
    }
}

/// Returns the difference per item.
pub(crate) fn each(more: usize, less: usize, count: u32) -> f64 {
    rounded((more as f64 - less as f64) / f64::from(count))
}

/// Rounds to thousandths: the rest of growing lists, spread over all items, is noise.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_lives_counts_and_one_that_is_gone_was_asked_for() {
        // Other threads' tests allocate as well, but not as much.
        let before = Heap::now();
        let block = vec![1_u8; 64 << 20];
        let with = Heap::now();
        assert!(with.bytes >= before.bytes + block.len());
        assert!(with.requests > before.requests);
        drop(block);
        let after = Heap::now();
        assert!(after.bytes < with.bytes - (32 << 20));
        assert!(after.requests >= with.requests);
    }
}
