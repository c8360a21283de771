//! Histograms that one shard writes and anyone reads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A histogram in atomics.
pub(crate) struct AtomicHistogram<const BUCKETS: usize> {
    bounds: [f64; BUCKETS],
    buckets: [AtomicU64; BUCKETS],
    beyond: AtomicU64,
    /// In millionths of the unit.
    sum_micro: AtomicU64,
}

impl<const BUCKETS: usize> AtomicHistogram<BUCKETS> {
    pub(super) fn new(bounds: [f64; BUCKETS]) -> Self {
        let buckets = std::array::from_fn(|_| AtomicU64::new(0));
        AtomicHistogram { bounds, buckets, beyond: AtomicU64::new(0), sum_micro: AtomicU64::new(0) }
    }

    pub(crate) fn observe(&self, value: f64, times: u64) {
        let bucket = self.bounds.iter().position(|&bound| value <= bound).map(|at| &self.buckets[at]);
        bucket.unwrap_or(&self.beyond).fetch_add(times, Relaxed);
        self.sum_micro.fetch_add((value * 1e6) as u64 * times, Relaxed);
    }

    pub(super) fn snapshot(&self) -> Histogram {
        let counts: Vec<u64> = self.buckets.iter().map(|bucket| bucket.load(Relaxed)).collect();
        let beyond = self.beyond.load(Relaxed);
        let count = counts.iter().sum::<u64>() + beyond;
        let sum = self.sum_micro.load(Relaxed) as f64 / 1e6;
        Histogram { bounds: self.bounds.to_vec(), counts, count, sum }
    }
}

/// A snapshot of a histogram.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Upper bounds of the buckets, ascending.
    pub bounds: Vec<f64>,
    /// Number of observations in each bucket, not cumulative.
    pub counts: Vec<u64>,
    /// Number of all observations, including those beyond the last bound.
    pub count: u64,
    /// Sum of all observations.
    pub sum: f64,
}

impl Histogram {
    pub(super) fn add(&mut self, other: &Histogram) {
        if self.bounds.is_empty() {
            *self = other.clone();
            return;
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
    }
}
