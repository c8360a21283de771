//! Searches for the largest load that still holds: increases it until one fails, bisects between the two, and then
//! repeats the loads next to the answer to establish confidence. A run that says nothing about the server is repeated.
//!
//! Loads are integers: users, rooms or messages. Pure: it proposes the next load and records the outcome, but never
//! runs anything.

mod answer;
mod trials;

pub use answer::{Answer, Limit};
pub use trials::{Outcome, Trial};

use trials::Trials;

/// Maximum number of runs of one search, so that it ends whatever the server does.
pub const TRIALS_MAX: usize = 200;

/// Parameters of a search.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rules {
    /// The first load, at least 1.
    pub from: u64,
    /// The maximum load.
    pub to: u64,
    /// Ratio between consecutive loads until one fails, above 1.
    pub factor: f64,
    /// Required precision: the smallest failing load exceeds the largest holding one by at most this share, above 0.
    pub precision: f64,
    /// Required number of runs of the largest load that holds, and of the smallest that fails.
    pub repeats: u32,
}

impl Rules {
    /// Checks the parameters.
    ///
    /// # Errors
    /// A sentence that names the parameter and its valid values.
    pub fn check(&self) -> Result<(), String> {
        if self.from == 0 {
            return Err("the first load is 0; it must be at least 1".to_owned());
        }
        if self.to < self.from {
            return Err(format!("the maximum load {} is below the first load {}", self.to, self.from));
        }
        if !(self.factor.is_finite() && self.factor > 1.0) {
            return Err(format!("the factor is {}; it must be above 1", self.factor));
        }
        if !(self.precision.is_finite() && self.precision > 0.0) {
            return Err(format!("the precision is {}; it must be above 0", self.precision));
        }
        if self.repeats == 0 {
            return Err("the number of repeats is 0; it must be at least 1".to_owned());
        }
        Ok(())
    }
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search {
    rules: Rules,
    trials: Trials,
    cut_short: Option<CutShort>,
}

/// Why a search ended before the rules were satisfied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CutShort {
    /// It was stopped.
    Stopped,
    /// Its time ran out.
    Time,
}

impl Search {
    /// Starts a search. The rules must have passed [`Rules::check`].
    #[must_use]
    pub fn new(rules: Rules) -> Self {
        Self { rules, trials: Trials::default(), cut_short: None }
    }

    /// Returns the load to try next; `None` if the answer satisfies the rules.
    #[must_use]
    pub fn next_load(&self) -> Option<u64> {
        if self.cut_short.is_some() || self.trials.len() >= TRIALS_MAX {
            return None;
        }
        if let Some(spoilt) = self.trials.spoilt() {
            return Some(spoilt);
        }
        match (self.trials.largest_held(), self.trials.bound()) {
            (None, None) => Some(self.rules.from),
            (Some(held), None) => self.beyond(held),
            (None, Some(bound)) => self.below(bound),
            (Some(held), Some(bound)) => self.between(held, bound),
        }
    }

    /// Records the outcome of a run with this load.
    pub fn record(&mut self, load: u64, outcome: Outcome) {
        self.trials.push(Trial { load, outcome });
    }

    /// Stops the search: no further load is tried, and the answer is what is known so far.
    pub fn stop(&mut self) {
        self.cut_short = Some(CutShort::Stopped);
    }

    /// Ends the search because its time ran out: no further load is tried, and the answer is what is known so far.
    pub fn time_is_over(&mut self) {
        self.cut_short = Some(CutShort::Time);
    }

    /// Returns all runs so far, in order.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        self.trials.all()
    }

    /// Returns the answer so far.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer::of(&self.trials, &self.rules, self.cut_short)
    }

    /// Nothing has failed yet: returns a larger load, or the maximum again.
    fn beyond(&self, held: u64) -> Option<u64> {
        if held < self.rules.to {
            // A factor close to 1 must still make progress.
            let next = whole(held as f64 * self.rules.factor).max(held.saturating_add(1));
            return Some(next.min(self.rules.to));
        }
        (self.trials.count(held) < self.rules.repeats).then_some(held)
    }

    /// Nothing has held yet: returns a smaller load, but at least 1 and a thousandth of the first load.
    fn below(&self, bound: u64) -> Option<u64> {
        const SMALLEST_SHARE: f64 = 1e-3;
        let next = whole(bound as f64 / self.rules.factor).min(bound.checked_sub(1)?);
        (next >= 1 && next as f64 >= self.rules.from as f64 * SMALLEST_SHARE).then_some(next)
    }

    fn between(&self, held: u64, bound: u64) -> Option<u64> {
        let is_wide = bound as f64 > held as f64 * (1.0 + self.rules.precision);
        // The geometric mean, because loads are compared by ratio. Adjacent loads have nothing between them.
        let middle = whole((held as f64 * bound as f64).sqrt());
        if is_wide && bound - held > 1 {
            return Some(middle.clamp(held + 1, bound - 1));
        }
        // Repeating a load that the generator could not produce would say nothing about the server.
        let failed = self.trials.smallest_failed().filter(|failed| *failed == bound);
        [Some(held), failed].into_iter().flatten().find(|load| self.trials.count(*load) < self.rules.repeats)
    }
}

/// Rounds to the nearest integer, saturating at the maximum.
fn whole(load: f64) -> u64 {
    load.round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: Rules = Rules { from: 100, to: 1_000_000, factor: 2.0, precision: 0.05, repeats: 3 };

    fn run(rules: Rules, mut server: impl FnMut(u64) -> Outcome) -> Search {
        let mut search = Search::new(rules);
        while let Some(load) = search.next_load() {
            search.record(load, server(load));
        }
        search
    }

    #[test]
    fn a_sharp_limit_is_found_to_the_precision_and_repeated() {
        let search = run(RULES, |load| if load <= 7_300 { Outcome::Held } else { Outcome::Failed });
        let answer = search.answer();
        let (held, failed) = (answer.held.expect("something held"), answer.failed.expect("something failed"));
        assert!(held <= 7_300 && failed > 7_300);
        assert!(failed as f64 <= held as f64 * 1.05);
        assert_eq!(answer.limit, Limit::Server);
        assert_eq!(search.trials().iter().filter(|trial| trial.load == held).count(), 3);
    }

    #[test]
    fn a_server_without_a_limit_holds_the_most_that_was_allowed() {
        let answer = run(RULES, |_| Outcome::Held).answer();
        assert_eq!((answer.held, answer.failed, answer.limit), (Some(1_000_000), None, Limit::Range));
    }

    #[test]
    fn a_server_that_holds_nothing_is_told_so() {
        let answer = run(RULES, |_| Outcome::Failed).answer();
        assert_eq!((answer.held, answer.limit), (None, Limit::NothingHeld));
    }

    #[test]
    fn a_generator_at_its_limit_bounds_the_answer_and_is_asked_once_more() {
        let search = run(RULES, |load| if load < 1_000 { Outcome::Held } else { Outcome::Invalid });
        let answer = search.answer();
        let (held, invalid) = (answer.held.expect("something held"), answer.invalid.expect("a bound"));
        assert!(held < 1_000 && invalid >= 1_000 && invalid as f64 <= held as f64 * 1.05, "{answer:?}");
        assert_eq!((answer.failed, answer.limit), (None, Limit::Generator));
        assert_eq!(search.trials().iter().filter(|trial| trial.load == invalid).count(), 2);
    }

    #[test]
    fn a_run_that_a_neighbour_spoilt_changes_no_answer() {
        let mut runs = 0;
        let search = run(RULES, |load| {
            runs += 1;
            match load {
                _ if runs % 3 == 0 && runs < 12 => Outcome::Invalid,
                0..=7_300 => Outcome::Held,
                _ => Outcome::Failed,
            }
        });
        let answer = search.answer();
        let (held, failed) = (answer.held.expect("something held"), answer.failed.expect("something failed"));
        assert!(held <= 7_300 && failed > 7_300 && failed as f64 <= held as f64 * 1.05, "{answer:?}");
        assert_eq!((answer.invalid, answer.limit, answer.held_runs), (None, Limit::Server, 3));
    }

    #[test]
    fn a_load_of_which_some_runs_were_spoilt_and_the_others_failed_is_one_that_the_server_does_not_hold() {
        let mut runs_above = 0;
        let search = run(RULES, |load| {
            if load <= 7_300 {
                return Outcome::Held;
            }
            runs_above += 1;
            if runs_above % 2 == 0 { Outcome::Failed } else { Outcome::Invalid }
        });
        let answer = search.answer();
        let invalid = |load| {
            search
                .trials()
                .iter()
                .filter(|trial| trial.load == load && trial.outcome == Outcome::Invalid)
                .count()
        };
        let failed = answer.failed.expect("something failed");
        assert!(invalid(failed) >= 2, "{:?}", search.trials());
        assert_eq!((answer.invalid, answer.limit), (None, Limit::Server));
    }

    #[test]
    fn a_server_that_fails_below_what_the_generator_cannot_make_is_the_limit() {
        let answer = run(RULES, |load| match load {
            0..=1_000 => Outcome::Held,
            1_001..=1_400 => Outcome::Failed,
            1_401.. => Outcome::Invalid,
        })
        .answer();
        assert_eq!(answer.limit, Limit::Server, "{answer:?}");
        assert!(answer.failed < answer.invalid);
    }

    #[test]
    fn a_generator_that_cannot_even_make_the_first_load_is_asked_for_less() {
        let answer = run(RULES, |load| if load < 60 { Outcome::Held } else { Outcome::Invalid }).answer();
        assert_eq!(answer.limit, Limit::Generator);
        assert!(answer.held.is_some_and(|held| (50..60).contains(&held)), "{answer:?}");
    }

    #[test]
    fn a_load_that_fails_when_repeated_is_no_answer() {
        let mut runs_of_100 = 0;
        let search = run(Rules { to: 100, ..RULES }, |load| {
            runs_of_100 += u32::from(load == 100);
            if load == 100 && runs_of_100 == 2 { Outcome::Failed } else { Outcome::Held }
        });
        assert!(search.answer().held.expect("something held") < 100);
    }

    #[test]
    fn a_small_limit_is_found_between_neighbours_and_no_load_is_tried_as_a_new_one() {
        let rules = Rules { from: 1, precision: 0.001, ..RULES };
        let search = run(rules, |load| if load <= 9 { Outcome::Held } else { Outcome::Failed });
        let answer = search.answer();
        assert_eq!((answer.held, answer.failed, answer.limit), (Some(9), Some(10), Limit::Server));
        let mut times = std::collections::BTreeMap::<u64, u32>::new();
        search.trials().iter().for_each(|trial| *times.entry(trial.load).or_default() += 1);
        let expected = [(1, 1), (2, 1), (4, 1), (8, 1), (9, 3), (10, 3), (11, 1), (16, 1)];
        assert_eq!(times, expected.into_iter().collect());
    }

    #[test]
    fn a_factor_near_1_goes_on_all_the_same_and_nothing_is_below_1() {
        let slowly = Rules { from: 1, factor: 1.01, ..RULES };
        let answer = run(slowly, |load| if load <= 5 { Outcome::Held } else { Outcome::Failed }).answer();
        assert_eq!((answer.held, answer.failed), (Some(5), Some(6)));
        let nothing = run(slowly, |_| Outcome::Failed);
        assert_eq!((nothing.answer().limit, nothing.trials().len()), (Limit::NothingHeld, 1));
    }

    #[test]
    fn a_search_that_is_stopped_says_what_it_knows() {
        let mut search = Search::new(RULES);
        search.record(100, Outcome::Held);
        search.stop();
        assert_eq!(search.next_load(), None);
        let answer = search.answer();
        assert_eq!((answer.held, answer.limit), (Some(100), Limit::Stopped));
        assert!(answer.to_string().ends_with("the search was stopped"), "{answer}");
    }

    #[test]
    fn a_search_whose_time_is_over_says_what_it_knows() {
        let mut search = Search::new(RULES);
        search.record(100, Outcome::Held);
        search.record(200, Outcome::Failed);
        search.time_is_over();
        assert_eq!(search.next_load(), None);
        let answer = search.answer();
        assert_eq!((answer.held, answer.failed, answer.limit), (Some(100), Some(200), Limit::Time));
        assert!(answer.to_string().ends_with("200 does not; the time limit was reached"), "{answer}");
    }

    #[test]
    fn wrong_rules_are_named() {
        let wrong = [
            Rules { from: 0, ..RULES },
            Rules { to: 1, ..RULES },
            Rules { factor: 1.0, ..RULES },
            Rules { factor: f64::NAN, ..RULES },
            Rules { precision: 0.0, ..RULES },
            Rules { repeats: 0, ..RULES },
        ];
        assert!(RULES.check().is_ok());
        assert!(wrong.iter().all(|rules| rules.check().is_err()));
    }

    proptest! {
        #[test]
        fn a_search_ends_and_its_answer_lies_between(limit in 1.0f64..2e6, noise in prop::collection::vec(any::<bool>(), TRIALS_MAX)) {
            let mut tries = 0;
            let search = run(RULES, |load| {
                tries += 1;
                let load = load as f64;
                let flips = load > limit * 0.97 && load < limit * 1.03 && noise[tries % TRIALS_MAX];
                if (load <= limit) != flips { Outcome::Held } else { Outcome::Failed }
            });
            prop_assert!(search.trials().len() <= TRIALS_MAX);
            let answer = search.answer();
            if let (Some(held), Some(failed)) = (answer.held, answer.failed) {
                prop_assert!(held < failed);
                prop_assert!(held as f64 <= limit * 1.03);
            }
        }
    }
}
