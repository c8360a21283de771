//! The mean number of concurrent users at each moment of a run: users who have arrived and not yet left.

use crate::crowd::stay::StayDistribution;
use crate::scenario::plan::{Arrivals, Load, Phase};
use crate::schedule::{arrived, users_of};

/// Number of moments within a phase with arrivals at which the crowd is evaluated; between two it changes little.
const MOMENTS: u32 = 16;
/// Upper bound on evaluations (one phase's users of one length of stay, at one moment). If a plan has so many phases
/// within one length of stay that more would be needed, everybody who arrives is counted.
const LOOKS_MAX: u64 = 16_000_000;

/// Computes who is present when.
pub(super) struct Concurrency<'a> {
    load: &'a Load,
    /// One entry per phase.
    stays: &'a [StayDistribution],
    /// The longest finite stay of all phases, in seconds.
    longest_s: f64,
    /// Phases whose users may still be present.
    running: Vec<Running<'a>>,
    looks_left: u64,
}

/// A phase that has begun.
struct Running<'a> {
    phase: &'a Phase,
    stays: &'a StayDistribution,
    begin_s: f64,
    /// End of the phase: from then on nobody arrives or begins another session.
    end_s: f64,
}

impl<'a> Concurrency<'a> {
    pub(super) fn new(load: &'a Load, stays: &'a [StayDistribution]) -> Self {
        let longest_s = stays.iter().map(StayDistribution::longest_s).fold(0.0, f64::max);
        Self { load, stays, longest_s, running: Vec::new(), looks_left: LOOKS_MAX }
    }

    /// Returns the maximum of the mean crowd; `None` where computing it takes too long, or where it has no bound.
    pub(super) fn most(mut self) -> Option<f64> {
        let most = self.forever() + self.most_who_go()?;
        most.is_finite().then_some(most)
    }

    /// Users who stay for ever, counted as if they were present from the beginning.
    fn forever(&self) -> f64 {
        let of_phase = |(phase, stays): (&Phase, &StayDistribution)| {
            let users = users_of(phase).map_or(f64::INFINITY, |users| users as f64);
            if stays.forever > 0.0 { stays.forever * users } else { 0.0 }
        };
        let round: f64 = self.load.phases.iter().zip(self.stays).map(of_phase).sum();
        round * f64::from(self.load.rounds.max(1))
    }

    /// The maximum of the users who leave again. After the longest stay, all earlier users have left, so a round that
    /// begins later than that is like all rounds after it.
    fn most_who_go(&mut self) -> Option<f64> {
        if self.longest_s <= 0.0 {
            return Some(0.0);
        }
        // For a phase that waits for users only the latest possible begin is known: each such phase may be reached
        // before the run ends.
        let run_ends = self.load.duration.filter(|_| !self.load.phases.iter().any(waits));
        let run_ends_s = run_ends.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
        let (mut most, mut begin_s) = (0.0_f64, 0.0);
        for _ in 0..self.load.rounds.max(1) {
            let is_like_all_after = begin_s >= self.longest_s;
            for (phase, stays) in self.load.phases.iter().zip(self.stays) {
                if begin_s >= run_ends_s {
                    return Some(most);
                }
                let end_s = begin_s + length_s(phase);
                self.running.retain(|running| running.end_s + self.longest_s > begin_s);
                self.running.push(Running { phase, stays, begin_s, end_s });
                most = most.max(self.most_of_phase(run_ends_s)?);
                begin_s = if waits(phase) { end_s + self.longest_s } else { end_s };
            }
            if is_like_all_after {
                break;
            }
        }
        Some(most)
    }

    /// The maximum in the phase that has just begun.
    fn most_of_phase(&mut self, run_ends_s: f64) -> Option<f64> {
        let Some(&Running { phase, begin_s, end_s, .. }) = self.running.last() else { return Some(0.0) };
        // Where arrivals never end, the crowd is complete after the longest stay.
        let arrivals_s =
            Some(arrivals_s(phase)).filter(|seconds| seconds.is_finite()).unwrap_or(self.longest_s);
        let last_s = end_s.min(begin_s + arrivals_s).min(run_ends_s);
        let moments = match phase.arrivals {
            Arrivals::Constant(_) | Arrivals::Ramp(..) | Arrivals::Poisson(_) => MOMENTS,
            // After the first moment nobody arrives.
            Arrivals::Burst(_) | Arrivals::Closed { .. } | Arrivals::Pause => 0,
        };
        let between =
            (1..=moments).map(|nth| begin_s + (last_s - begin_s) * f64::from(nth) / f64::from(moments));
        let mut most = 0.0_f64;
        for moment_s in std::iter::once(begin_s).chain(between) {
            let looks: usize = self.running.iter().map(|running| running.stays.bounded.len()).sum();
            self.looks_left = self.looks_left.checked_sub(looks.max(1) as u64)?;
            most = most.max(self.running.iter().map(|running| running.there(moment_s)).sum());
        }
        Some(most)
    }
}

impl Running<'_> {
    /// Returns how many of the phase's users who leave again are present at a moment.
    fn there(&self, moment_s: f64) -> f64 {
        let since_s = moment_s - self.begin_s;
        let of_stay = |&(stay_s, share): &(f64, f64)| {
            let there = match self.phase.arrivals {
                // They start again until the phase is over.
                Arrivals::Closed { .. } if moment_s < self.end_s + stay_s => arrived(self.phase, since_s),
                Arrivals::Closed { .. } => 0.0,
                Arrivals::Constant(_)
                | Arrivals::Ramp(..)
                | Arrivals::Poisson(_)
                | Arrivals::Burst(_)
                | Arrivals::Pause => arrived(self.phase, since_s) - arrived(self.phase, since_s - stay_s),
            };
            share * there
        };
        self.stays.bounded.iter().map(of_stay).sum()
    }
}

/// Returns whether the next phase begins only when all users have finished.
fn waits(phase: &Phase) -> bool {
    phase.wait_for_users || matches!(phase.arrivals, Arrivals::Closed { .. }) && phase.duration.is_none()
}

fn length_s(phase: &Phase) -> f64 {
    phase.duration.map_or_else(|| arrivals_s(phase), |duration| duration.as_secs_f64())
}

/// How long it takes until the last user of a phase has arrived.
fn arrivals_s(phase: &Phase) -> f64 {
    let duration_s = phase.duration.map_or(f64::INFINITY, |duration| duration.as_secs_f64());
    let by_rate = |rate: f64| users_of(phase).map_or(f64::INFINITY, |users| users as f64 / rate);
    match phase.arrivals {
        Arrivals::Constant(rate) | Arrivals::Poisson(rate) if rate > 0.0 => by_rate(rate).min(duration_s),
        Arrivals::Ramp(..) => duration_s,
        Arrivals::Constant(_)
        | Arrivals::Poisson(_)
        | Arrivals::Burst(_)
        | Arrivals::Closed { .. }
        | Arrivals::Pause => 0.0,
    }
}
