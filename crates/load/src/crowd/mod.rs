//! Estimates how many users there are at once: what a run prepares for, and what the doctor checks a machine for.
//!
//! Applies Little's law second by second: users present at a moment arrived before it and stay beyond it. The length of
//! stay is sampled from the sessions ([`stay`]); together with the phases' arrivals it gives the mean crowd at each
//! moment ([`attendance`]), whose maximum plus a margin is the estimate. Users whose session is not bounded (a `stay`,
//! a loop that may never end) count as present for ever.
//!
//! This is an estimate: a scenario knows only how long it waits for answers, not how long they take. The correctness of
//! a run must not depend on it; a caller that needs the total number of users asks [`Schedule::planned`].

mod attendance;
mod stay;

use crate::scenario::plan::Plan;
use crate::schedule::{Schedule, ScheduleError, Share};
use attendance::Concurrency;
use stay::StayDistribution;

/// Margin above the mean crowd, in addition to random variation, since stays are sampled and answer times are unknown.
const MARGIN_SHARE: f64 = 0.1;
/// Margin in standard deviations. Users come and go independently of each other, so the crowd is Poisson distributed:
/// one in three million exceeds this.
const MARGIN_DEVIATIONS: f64 = 5.0;

/// How many users of a share there are in total, and how many of them at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crowd {
    /// The maximum number at once, with its margin; `None` where neither the arrivals nor the stays are bounded.
    pub at_once: Option<u64>,
    /// The total number of arrivals; `None` if unbounded.
    pub in_all: Option<u64>,
}

impl Crowd {
    /// Estimates the crowd of `share` under a plan.
    ///
    /// # Errors
    /// [`ScheduleError`] if the plan's phases cannot be played.
    pub fn of(plan: &Plan, share: &Share) -> Result<Self, ScheduleError> {
        let in_all = Schedule::new(&plan.load, plan.seed, share)?.planned();
        let own: Vec<f64> = plan.sessions.iter().map(|session| session.weight).collect();
        let of_phases = plan.load.phases.iter().map(|phase| phase.weights.as_deref().unwrap_or(&own));
        let stays: Vec<StayDistribution> =
            of_phases.map(|weights| StayDistribution::drawn(&plan.sessions, weights)).collect();
        let mean = Concurrency::new(&plan.load, &stays).most().map(|most| most * share.fraction());
        let at_once = match (mean.map(with_margin), in_all) {
            (Some(at_once), Some(in_all)) => Some(at_once.min(in_all)),
            (at_once, in_all) => at_once.or(in_all),
        };
        Ok(Self { at_once, in_all })
    }
}

fn with_margin(mean: f64) -> u64 {
    (mean * (1.0 + MARGIN_SHARE) + MARGIN_DEVIATIONS * mean.sqrt()).ceil() as u64
}

#[cfg(test)]
mod tests;
