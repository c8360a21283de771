//! Compiles phases.

use std::time::Duration;

use super::super::plan::{Arrivals, Load, Phase};
use super::super::source;
use super::super::source::Rate;
use super::Compiler;

const WAYS: &str = "exactly one of `rate`, `ramp`, `poisson`, `burst`, `users` and `pause`";

impl Compiler<'_> {
    pub(super) fn load(&mut self) -> Load {
        let scenario = self.scenario;
        if scenario.phases.is_empty() {
            let help = "say when users come: `phases: [{ rate: 100/s, duration: 60s }]`".to_owned();
            self.complain_with("there are no `phases`", Some(help));
        }
        if scenario.rounds == 0 {
            self.complain_at("rounds", "at least 1");
        }
        let duration = scenario.duration.map(|duration| duration.0);
        if duration == Some(Duration::ZERO) {
            self.complain_at("duration", "a run needs time: above 0");
        }
        let phases = self.within("phases", |compiler| {
            let phases = scenario.phases.iter().enumerate();
            phases
                .map(|(index, phase)| compiler.within_item(index, |compiler| compiler.phase(index, phase)))
                .collect()
        });
        Load { phases, rounds: scenario.rounds, duration }
    }

    fn phase(&mut self, index: usize, phase: &source::Phase) -> Phase {
        let arrivals = self.arrivals(phase);
        self.check_end(phase, &arrivals);
        if phase.users.is_none() {
            for (key, given) in [("iterations", phase.iterations.is_some()), ("over", phase.over.is_some())] {
                if given {
                    self.complain_at(key, "only with `users`");
                }
            }
        }
        if phase.iterations == Some(0) {
            self.complain_at("iterations", "at least 1");
        }
        if phase.max_users == Some(0) {
            self.complain_at("max_users", "at least 1; a phase without users is a `pause`");
        }
        Phase {
            name: phase.name.clone().unwrap_or_else(|| format!("phase {}", index + 1)),
            duration: phase.pause.or(phase.duration).map(|duration| duration.0),
            arrivals,
            users_max: phase.max_users,
            weights: self.phase_weights(phase),
            wait_for_users: phase.wait_for_users,
        }
    }

    fn arrivals(&mut self, phase: &source::Phase) -> Arrivals {
        let ways = [
            phase.rate.map(|rate| Arrivals::Constant(rate.per_second)),
            phase.ramp.map(|ramp| Arrivals::Ramp(ramp.from.per_second, ramp.to.per_second)),
            phase.poisson.map(|rate| Arrivals::Poisson(rate.per_second)),
            phase.burst.map(Arrivals::Burst),
            phase.users.map(|users| Arrivals::Closed {
                users,
                iterations: phase.iterations,
                ramp: phase.over.map(|over| over.0).unwrap_or_default(),
            }),
            phase.pause.map(|_| Arrivals::Pause),
        ];
        let mut ways = ways.into_iter().flatten();
        match (ways.next(), ways.next()) {
            (Some(way), None) => way,
            (None, _) => {
                self.complain_with("how do users come in this phase?", Some(WAYS.to_owned()));
                Arrivals::Pause
            }
            (Some(way), Some(_)) => {
                self.complain_with("users come in more than one way in this phase", Some(WAYS.to_owned()));
                way
            }
        }
    }

    /// Reports a phase that is impossible as written or that would never end.
    fn check_end(&mut self, phase: &source::Phase, arrivals: &Arrivals) {
        let bounded = phase.duration.is_some() || phase.max_users.is_some();
        let zero = |rate: Option<Rate>| rate.is_some_and(|rate| rate.per_second <= 0.0);
        match arrivals {
            Arrivals::Constant(_) | Arrivals::Poisson(_) => {
                let key = if phase.rate.is_some() { "rate" } else { "poisson" };
                if zero(phase.rate) || zero(phase.poisson) {
                    self.complain_at(key, "a rate is above 0; a phase without users is a `pause`");
                }
                if !bounded {
                    self.complain("a phase with a rate needs a `duration`, or `max_users`");
                }
            }
            Arrivals::Ramp(from, to) => {
                if phase.duration.is_none_or(|duration| duration.0.is_zero()) {
                    self.complain("a ramp needs a `duration`");
                }
                if from + to <= 0.0 {
                    self.complain_at("ramp", "a ramp has a rate above 0 at one end at least");
                }
            }
            Arrivals::Burst(users) if *users == 0 => self.complain_at("burst", "at least 1"),
            Arrivals::Closed { users, iterations, .. } => {
                if *users == 0 {
                    self.complain_at("users", "at least 1");
                }
                if phase.duration.is_none() && iterations.is_none() && self.scenario.duration.is_none() {
                    self.complain("a phase with `users` needs a `duration` or `iterations`, or the scenario a `duration`");
                }
            }
            Arrivals::Pause if phase.duration.is_some() && phase.pause.is_some() => {
                self.complain_at("duration", "a pause says itself how long it is");
            }
            Arrivals::Burst(_) | Arrivals::Pause => {}
        }
    }

    fn phase_weights(&mut self, phase: &source::Phase) -> Option<Vec<f64>> {
        if phase.weights.is_empty() {
            return None;
        }
        let sessions = &self.scenario.sessions;
        self.within("weights", |compiler| {
            for (name, weight) in &phase.weights {
                compiler.within(name, |compiler| {
                    if !(weight.is_finite() && *weight >= 0.0) {
                        compiler.complain("a weight is 0 or more");
                    }
                    if sessions.iter().all(|session| session.name != *name) {
                        let known = sessions.iter().map(|session| session.name.as_str());
                        compiler.complain_unknown("session", name, known);
                    }
                });
            }
            let weights: Vec<f64> = sessions
                .iter()
                .map(|session| phase.weights.get(&session.name).copied().unwrap_or(0.0))
                .collect();
            compiler.check_weights(phase.weights.values().copied());
            Some(weights)
        })
    }
}
