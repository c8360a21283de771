//! How many users there are at once: what a run is prepared for, and what the doctor looks at a machine for.
//!
//! Little's law, second by second: who is there at a moment came before it and stays beyond it. How long users stay is
//! drawn from their sessions ([`stay`]); with the phases' arrivals it gives the mean crowd at each moment
//! ([`attendance`]), and its greatest with a margin is the number. What a session does not bound (a `stay`, a loop that
//! may go on for ever) keeps everybody who comes.
//!
//! It is an estimate: of how long answers take, a scenario knows only how long it waits for them. Nothing here may be
//! needed for a run to be right; who needs everybody who comes asks [`Schedule::planned`].

mod attendance;
mod stay;

use crate::scenario::plan::Plan;
use crate::schedule::{Schedule, ScheduleError, Share};
use attendance::Attendance;
use stay::Stays;

/// A crowd may be so much greater than its mean, beside what chance does to it: stays are drawn from samples, and
/// answers take as long as they take.
const MARGIN_SHARE: f64 = 0.1;
/// So many standard deviations of a crowd whose users come and go independently of each other, which is a Poisson
/// number: one in three million is greater.
const MARGIN_DEVIATIONS: f64 = 5.0;

/// How many users of a share come, and how many of them are there at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crowd {
    /// The most at once, with its margin; `None` where neither an end of their coming nor of their staying is known.
    pub at_once: Option<u64>,
    /// Everybody who comes; `None` is without end.
    pub in_all: Option<u64>,
}

impl Crowd {
    /// The crowd of `share` under a plan.
    ///
    /// # Errors
    /// [`ScheduleError`]: the plan's phases cannot be played.
    pub fn of(plan: &Plan, share: &Share) -> Result<Self, ScheduleError> {
        let in_all = Schedule::new(&plan.load, plan.seed, share)?.planned();
        let own: Vec<f64> = plan.sessions.iter().map(|session| session.weight).collect();
        let of_phases = plan.load.phases.iter().map(|phase| phase.weights.as_deref().unwrap_or(&own));
        let stays: Vec<Stays> = of_phases.map(|weights| Stays::drawn(&plan.sessions, weights)).collect();
        let mean = Attendance::new(&plan.load, &stays).most().map(|most| most * share.fraction());
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
