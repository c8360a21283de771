//! The arithmetic of one phase.

use crate::draw::Rng;
use crate::observe::Nanos;
use crate::scenario::plan::{Arrivals, Phase};
use crate::schedule::gaps::Gaps;

const NS_PER_S: f64 = 1e9;

/// Returns how many users a phase has; `u64::MAX` is unlimited. Tsung's rule: the rate times the duration, rounded, or
/// the maximum if that is less.
pub(super) fn count(phase: &Phase) -> u64 {
    let seconds = phase.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
    let by_rate = |rate: f64| if rate > 0.0 { (rate * seconds).round() as u64 } else { 0 };
    let wanted = match phase.arrivals {
        Arrivals::Constant(rate) | Arrivals::Poisson(rate) => by_rate(rate),
        Arrivals::Ramp(from, to) => by_rate(f64::midpoint(from, to)),
        Arrivals::Burst(users) | Arrivals::Closed { users, .. } => users,
        Arrivals::Pause => 0,
    };
    wanted.min(phase.users_max.unwrap_or(u64::MAX))
}

/// Like [`count`]; `None` is unlimited.
#[must_use]
pub fn users_of(phase: &Phase) -> Option<u64> {
    Some(count(phase)).filter(|&count| count < u64::MAX)
}

/// Returns the mean number of users that have arrived `elapsed_s` seconds after the phase began. Users of a closed
/// phase count from its begin, however long they take to start.
#[must_use]
pub fn arrived(phase: &Phase, elapsed_s: f64) -> f64 {
    if elapsed_s < 0.0 {
        return 0.0;
    }
    let all = count(phase) as f64;
    let come = match phase.arrivals {
        Arrivals::Constant(rate) | Arrivals::Poisson(rate) => rate * elapsed_s,
        Arrivals::Ramp(from, to) => {
            let seconds = phase.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
            let elapsed_s = elapsed_s.min(seconds);
            from * elapsed_s + (to - from) / seconds.max(f64::MIN_POSITIVE) * elapsed_s * elapsed_s / 2.0
        }
        Arrivals::Burst(_) | Arrivals::Closed { .. } | Arrivals::Pause => all,
    };
    come.min(all)
}

/// The arrival times of one phase's users, by index within the phase.
#[derive(Clone, Debug)]
pub(super) enum Times {
    /// Evenly spaced, with this many seconds between two.
    Even { gap_s: f64 },
    /// Initial rate, and its growth per second.
    Ramp { from: f64, growth: f64 },
    /// Drawn in order; the next to be drawn has index `next`.
    Drawn { gaps: Gaps, next: u64, last_s: f64 },
    /// All when the phase begins.
    AtOnce,
}

impl Times {
    /// `rng` is the phase's own.
    pub(super) fn new(phase: &Phase, rng: Rng) -> Self {
        match (phase.arrivals, phase.duration) {
            (Arrivals::Constant(rate), _) if rate > 0.0 => Self::Even { gap_s: 1.0 / rate },
            (Arrivals::Ramp(from, to), Some(duration)) if !duration.is_zero() => {
                Self::Ramp { from, growth: (to - from) / duration.as_secs_f64() }
            }
            (Arrivals::Poisson(rate), Some(duration)) if rate > 0.0 => {
                let seconds = duration.as_secs_f64();
                // The rate's own count, not the phase's, which its maximum may limit: the maximum ends arrivals early,
                // it does not spread them.
                let count = (rate * seconds).round() as u64;
                Self::Drawn { gaps: Gaps::counted(rng, count, seconds), next: 0, last_s: 0.0 }
            }
            (Arrivals::Poisson(rate), None) if rate > 0.0 => {
                Self::Drawn { gaps: Gaps::open(rng, rate), next: 0, last_s: 0.0 }
            }
            (Arrivals::Closed { ramp, .. }, _) => {
                let users = count(phase).max(1) as f64;
                Self::Even { gap_s: ramp.as_secs_f64() / users }
            }
            (
                Arrivals::Constant(_)
                | Arrivals::Ramp(..)
                | Arrivals::Poisson(_)
                | Arrivals::Burst(_)
                | Arrivals::Pause,
                _,
            ) => Self::AtOnce,
        }
    }

    /// Returns when user `nth` arrives, in nanoseconds from the phase's begin. Drawn times must be asked for in
    /// ascending order.
    pub(super) fn at(&mut self, nth: u64) -> Nanos {
        let seconds = match self {
            Self::Even { gap_s } => nth as f64 * *gap_s,
            // Solves from * t + growth * t² / 2 = nth for t; this form loses no precision and needs no special case for
            // growth 0.
            Self::Ramp { from, growth } if nth > 0 => {
                let n = nth as f64;
                2.0 * n / (*from + (*from * *from + 2.0 * *growth * n).max(0.0).sqrt())
            }
            Self::Ramp { .. } | Self::AtOnce => 0.0,
            Self::Drawn { gaps, next, last_s } => {
                while *next <= nth {
                    *last_s = gaps.next_s();
                    *next += 1;
                }
                *last_s
            }
        };
        (seconds * NS_PER_S) as Nanos
    }
}
