//! The result of a search, and its confidence.

use std::fmt;

use serde::Serialize;

use super::trials::Trials;
use super::{CutShort, Rules, TRIALS_MAX};

/// The result of a search.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Answer {
    /// The largest load that held, below all loads that failed or that the generator could not produce.
    pub held: Option<u64>,
    /// The smallest load that failed.
    pub failed: Option<u64>,
    /// The smallest load that the generator could not produce; its runs say nothing about the server.
    pub invalid: Option<u64>,
    /// How often the largest load was run; it held every time.
    pub held_runs: u32,
    /// How often the smallest failed load was run.
    pub failed_runs: u32,
    /// What limits the answer.
    pub limit: Limit,
}

/// What limits an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The server: a larger load failed.
    Server,
    /// The range: the largest allowed load held.
    Range,
    /// The generator: it could not produce a larger load, so the server may hold more.
    Generator,
    /// Not even the smallest load held.
    NothingHeld,
    /// The search took too many runs: the server's limit is unstable.
    Trials,
    /// The search was stopped.
    Stopped,
    /// The time for the search ran out.
    Time,
}

impl Answer {
    pub(super) fn of(trials: &Trials, rules: &Rules, cut_short: Option<CutShort>) -> Self {
        let (held, failed, invalid) =
            (trials.largest_held(), trials.smallest_failed(), trials.generator_limit());
        let limit = if let Some(cut_short) = cut_short {
            match cut_short {
                CutShort::Stopped => Limit::Stopped,
                CutShort::Time => Limit::Time,
            }
        } else if trials.len() >= TRIALS_MAX {
            Limit::Trials
        } else if invalid.is_some() && invalid == trials.bound() {
            Limit::Generator
        } else if held.is_none() {
            Limit::NothingHeld
        } else if held.is_some_and(|held| held >= rules.to) {
            Limit::Range
        } else {
            Limit::Server
        };
        let runs = |load: Option<u64>| load.map_or(0, |load| trials.count(load));
        Self { held, failed, invalid, held_runs: runs(held), failed_runs: runs(failed), limit }
    }

    /// Returns the probability that a further run of the largest load holds, as a lower bound at this confidence: the
    /// lower end of the Clopper-Pearson interval for `n` successes out of `n`, `(1 − confidence)^(1/n)`.
    #[must_use]
    pub fn holds_with_probability(&self, confidence: f64) -> f64 {
        if self.held_runs == 0 { 0.0 } else { (1.0 - confidence).powf(1.0 / f64::from(self.held_runs)) }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(held) = self.held else {
            return match self.limit {
                Limit::Generator => {
                    f.write_str("unknown: the generator was the limit before anything was learned")
                }
                Limit::Stopped => f.write_str("unknown: the search was stopped before anything held"),
                Limit::Time => f.write_str("unknown: the time for the search was over before anything held"),
                Limit::Server | Limit::Range | Limit::NothingHeld | Limit::Trials => {
                    f.write_str("nothing held, not even the smallest load that was tried")
                }
            };
        };
        write!(f, "{held} holds ({} of {} runs", self.held_runs, self.held_runs)?;
        write!(f, "; a further run holds with a probability of at least ")?;
        write!(f, "{:.0} %, at 95 % confidence)", self.holds_with_probability(0.95) * 100.0)?;
        match (self.limit, self.failed) {
            (Limit::Server, Some(failed)) => {
                write!(
                    f,
                    ", {failed} does not: known to {:.1} %",
                    (failed as f64 / held as f64 - 1.0) * 100.0
                )
            }
            (Limit::Generator, _) => {
                f.write_str(", and the server may hold more: the generator was the limit")
            }
            (Limit::Stopped, failed) => cut_short(f, failed, "the search was stopped"),
            (Limit::Time, failed) => cut_short(f, failed, "the time for the search was over"),
            (Limit::Range, _) => f.write_str(", the largest that was allowed"),
            (Limit::Trials, _) => {
                f.write_str("; the limit wanders, and the search ended after its last allowed run")
            }
            (Limit::Server | Limit::NothingHeld, _) => Ok(()),
        }
    }
}

/// Writes how far an interrupted search got, and what interrupted it.
fn cut_short(f: &mut fmt::Formatter<'_>, failed: Option<u64>, by: &str) -> fmt::Result {
    match failed {
        Some(failed) => write!(f, ", {failed} does not; {by}"),
        None => write!(f, ", nothing failed yet; {by}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_how_sure_it_is() {
        let answer = Answer {
            held: Some(1000),
            failed: Some(1040),
            invalid: None,
            held_runs: 3,
            failed_runs: 3,
            limit: Limit::Server,
        };
        assert!((answer.holds_with_probability(0.95) - 0.368).abs() < 0.001);
        let text = answer.to_string();
        assert!(text.starts_with("1000 holds (3 of 3 runs"), "{text}");
        assert!(text.ends_with("1040 does not: known to 4.0 %"), "{text}");
    }
}
