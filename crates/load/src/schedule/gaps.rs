//! Arrivals that are independent of each other.

use crate::draw::Rng;

/// The moments of a Poisson process, one after the other, in seconds from its begin. Everybody who draws them with the
/// same generator gets the same.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    rng: Rng,
    now_s: f64,
    process: Process,
}

#[derive(Clone, Copy, Debug)]
enum Process {
    /// Without an end: exponential gaps of this mean.
    Open { mean_s: f64 },
    /// So many arrivals, and no other number, within the time left. Given their number, the moments of a Poisson process
    /// are spread evenly, so the next is the least of so many even draws.
    Counted { left: f64, left_s: f64 },
}

impl Gaps {
    /// For ever, at this mean rate per second, above 0.
    pub(super) fn open(rng: Rng, rate: f64) -> Self {
        Self { rng, now_s: 0.0, process: Process::Open { mean_s: 1.0 / rate } }
    }

    /// `count` arrivals within `seconds`.
    pub(super) fn counted(rng: Rng, count: u64, seconds: f64) -> Self {
        Self { rng, now_s: 0.0, process: Process::Counted { left: count as f64, left_s: seconds } }
    }

    /// When the next comes.
    pub(super) fn next_s(&mut self) -> f64 {
        let drawn = self.rng.exponential();
        self.now_s += match &mut self.process {
            Process::Open { mean_s } => *mean_s * drawn,
            Process::Counted { left, left_s } => {
                let gap = *left_s * least_of_even(drawn / left.max(1.0));
                *left -= 1.0;
                *left_s -= gap;
                gap
            }
        };
        self.now_s
    }
}

/// 1 - e^-x, without the costly function where three terms of its series are as exact.
fn least_of_even(x: f64) -> f64 {
    if x < 1e-4 { x * (1.0 - x * (0.5 - x / 6.0)) } else { -(-x).exp_m1() }
}
