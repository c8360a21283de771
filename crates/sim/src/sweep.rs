//! Runs many seeds, on all cores.

use crate::cluster::run as run_cluster;
use crate::run::{Failure, run};
use crate::stored::run as run_stored;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

/// The totals of a sweep's runs.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Total {
    /// Seeds whose runs violated no invariant.
    pub seeds: u64,
    /// Lines of their traces.
    pub lines: u64,
    /// Publications delivered to clients.
    pub deliveries: u64,
    /// Messages that full mailboxes, or a bus, dropped.
    pub drops: u64,
    /// Joins that recovered what they had missed.
    pub recoveries: u64,
    /// Joins that waited in the queue.
    pub queued: u64,
}

/// Runs every seed of a range, as a node, as a cluster and with stored rooms. After the first failure, only finishes
/// those that began before it. `progress` receives how many are done.
///
/// # Errors
/// The failure with the lowest seed.
pub fn sweep(seeds: Range<u64>, progress: impl Fn(u64) + Sync) -> Result<Total, Failure> {
    let next = AtomicU64::new(seeds.start);
    let results = Mutex::new((Total::default(), None::<Failure>));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= seeds.end {
                return;
            }
            let outcome = run(seed, None)
                .and_then(|node| Ok([node, run_cluster(seed, None)?, run_stored(seed, None)?]));
            let mut results = results.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let (total, failed) = &mut *results;
            match outcome {
                Ok(reports) => {
                    total.seeds += 1;
                    for report in reports {
                        total.lines += report.lines;
                        total.deliveries += report.deliveries;
                        total.drops += report.drops;
                        total.recoveries += report.recoveries;
                        total.queued += report.queued;
                    }
                    progress(total.seeds);
                }
                Err(failure) => {
                    next.store(seeds.end, Relaxed);
                    if failed.as_ref().is_none_or(|earlier| failure.seed < earlier.seed) {
                        *failed = Some(failure);
                    }
                }
            }
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    let (total, failed) = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    failed.map_or(Ok(total), Err)
}
