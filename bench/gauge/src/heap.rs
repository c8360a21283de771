//! What the allocator was asked for: this program's own is a counting one.

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What is reported: figures by the names of their budgets.
pub(crate) type Figures = BTreeMap<&'static str, f64>;

/// How long other threads may take to finish what they were told to.
const SETTLING_MAX: Duration = Duration::from_secs(20);
/// The heap is at rest when it has not changed for so long.
const REST: Duration = Duration::from_millis(100);

/// The heap at one moment: of all threads, and as requested, without what the allocator adds to a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Heap {
    pub(crate) bytes: usize,
    pub(crate) blocks: usize,
    /// Blocks that were ever asked for, and those that were asked to grow or shrink.
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

    /// The heap once no thread changes it any more; as it then is, if they do not come to rest.
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

/// How much more for each of so many.
pub(crate) fn each(more: usize, less: usize, count: u32) -> f64 {
    rounded((more as f64 - less as f64) / f64::from(count))
}

/// To thousandths: what is left of growing lists, spread over everybody, is no figure.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_lives_counts_and_one_that_is_gone_was_asked_for() {
        // Tests of other threads allocate as well, but not so much.
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
