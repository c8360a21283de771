//! Independent (Poisson) arrivals.

use crate::draw::Rng;

/// The arrival times of a Poisson process in order, in seconds from its begin. The same generator always gives the same
/// times.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    rng: Rng,
    now_s: f64,
    process: Process,
}

#[derive(Clone, Copy, Debug)]
enum Process {
    /// Unlimited: exponential gaps with this mean.
    Open { mean_s: f64 },
    /// Exactly this many arrivals within the time left. Given their number, the arrivals of a Poisson process are
    /// uniformly distributed, so the next one is the minimum of that many uniform draws.
    Counted { left: f64, left_s: f64 },
}

impl Gaps {
    /// An unlimited process with this mean rate per second, which must be above 0.
    pub(super) fn open(rng: Rng, rate: f64) -> Self {
        Self { rng, now_s: 0.0, process: Process::Open { mean_s: 1.0 / rate } }
    }

    /// A process of exactly `count` arrivals within `seconds`.
    pub(super) fn counted(rng: Rng, count: u64, seconds: f64) -> Self {
        Self { rng, now_s: 0.0, process: Process::Counted { left: count as f64, left_s: seconds } }
    }

    /// Returns the time of the next arrival.
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

/// Computes 1 - e^-x, avoiding the expensive function where three terms of its series are just as exact.
fn least_of_even(x: f64) -> f64 {
    if x < 1e-4 { x * (1.0 - x * (0.5 - x / 6.0)) } else { -(-x).exp_m1() }
}
