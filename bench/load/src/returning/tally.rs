//! Progress that the threads of a crowd report while they run.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Marks a value that has not been set.
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Tally {
    epoch: Instant,
    joined: AtomicUsize,
    failed: AtomicUsize,
    cut: AtomicUsize,
    back: AtomicUsize,
    recovered: AtomicUsize,
    complete: AtomicUsize,
    expected: AtomicU64,
    first_cut_ns: AtomicU64,
    last_back_ns: AtomicU64,
    stopped: AtomicBool,
    broken: AtomicBool,
}

impl Tally {
    pub(super) fn new(epoch: Instant) -> Self {
        let zero = || AtomicUsize::new(0);
        Self {
            epoch,
            joined: zero(),
            failed: zero(),
            cut: zero(),
            back: zero(),
            recovered: zero(),
            complete: zero(),
            expected: AtomicU64::new(NEVER),
            first_cut_ns: AtomicU64::new(NEVER),
            last_back_ns: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            broken: AtomicBool::new(false),
        }
    }

    pub(super) fn has_joined(&self) {
        self.joined.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn has_failed(&self) {
        self.failed.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn was_cut(&self) {
        self.first_cut_ns.fetch_min(self.now_ns(), Ordering::AcqRel);
        self.cut.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn is_back(&self, recovered: bool) {
        self.last_back_ns.fetch_max(self.now_ns(), Ordering::AcqRel);
        self.recovered.fetch_add(usize::from(recovered), Ordering::AcqRel);
        self.back.fetch_add(1, Ordering::AcqRel);
    }

    /// Adds the number of a thread's clients that have newly received the expected number.
    pub(super) fn are_complete(&self, more: usize) {
        self.complete.fetch_add(more, Ordering::AcqRel);
    }

    /// Records that a thread has ended.
    pub(super) fn ended(&self, broken: bool) {
        self.broken.fetch_or(broken, Ordering::AcqRel);
    }

    /// Sets the last number that will be published.
    pub(super) fn expect(&self, last: u64) {
        self.expected.store(last, Ordering::Release);
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
    }

    pub(super) fn joined(&self) -> usize {
        self.joined.load(Ordering::Acquire)
    }

    pub(super) fn failed(&self) -> usize {
        self.failed.load(Ordering::Acquire)
    }

    pub(super) fn cut(&self) -> usize {
        self.cut.load(Ordering::Acquire)
    }

    pub(super) fn back(&self) -> usize {
        self.back.load(Ordering::Acquire)
    }

    pub(super) fn recovered(&self) -> usize {
        self.recovered.load(Ordering::Acquire)
    }

    pub(super) fn complete(&self) -> usize {
        self.complete.load(Ordering::Acquire)
    }

    /// Returns the last number, once it is known.
    pub(super) fn expected(&self) -> Option<u64> {
        Some(self.expected.load(Ordering::Acquire)).filter(|last| *last != NEVER)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub(super) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Returns the seconds from the first cut to the last return.
    pub(super) fn away(&self) -> Option<f64> {
        let (cut, back) =
            (self.first_cut_ns.load(Ordering::Acquire), self.last_back_ns.load(Ordering::Acquire));
        (cut != NEVER && back != 0).then(|| back.saturating_sub(cut) as f64 / 1e9)
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }
}
