//! What the allocator says about itself.

use tikv_jemalloc_ctl::{Access as _, AsName as _, epoch, stats};

/// The bytes in the caches of its threads; 4096 (`MALLCTL_ARENAS_ALL`) stands for all arenas together. A C string.
const CACHED: &[u8] = b"stats.arenas.4096.tcache_bytes\0";

/// Returns the bytes that it holds and nobody uses: the free part of pages in use, what it keeps for a thread's next
/// requests, and its own records; `None` if it keeps no statistics.
pub(super) fn unused_bytes() -> Option<u64> {
    // Its figures are those of the last advance.
    epoch::advance().ok()?;
    let (held, handed_out) = (stats::resident::read().ok()?, stats::allocated::read().ok()?);
    // It counts what threads keep as handed out.
    let cached: usize = CACHED.name().read().ok()?;
    Some((held.saturating_sub(handed_out) + cached) as u64)
}

#[cfg(test)]
mod tests {
    use super::unused_bytes;

    #[test]
    fn what_is_freed_between_blocks_that_stay_is_unused() {
        const BLOCK: usize = 64;
        const BLOCKS: usize = 1 << 19;
        let unused = || unused_bytes().expect("jemalloc is built with its statistics");
        let mut blocks: Vec<Option<Box<[u8; BLOCK]>>> =
            (0..BLOCKS).map(|_| Some(Box::new([1; BLOCK]))).collect();
        let before = unused();
        for (nth, block) in blocks.iter_mut().enumerate() {
            if nth % 4 != 0 {
                *block = None;
            }
        }
        let freed = (BLOCK * BLOCKS * 3 / 4) as u64;
        let grown = unused().saturating_sub(before);
        // Other tests allocate meanwhile, from these pages, too.
        assert!(grown > freed / 2, "{grown} of {freed}");
        assert!(blocks.iter().flatten().all(|block| block[0] == 1));
    }
}
