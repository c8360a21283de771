//! The runs of a search.

/// The outcome of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The conditions were met.
    Held,
    /// The conditions were not met.
    Failed,
    /// The run says nothing about the server: the generator was the limit, or the machine was disturbed.
    Invalid,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// The load.
    pub load: u64,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Number of invalid runs in a row after which a load counts as one that the generator cannot produce. A single one may
/// be due to another process on the machine; and a valid one shows that the generator can produce it.
const INVALID_RUNS: usize = 2;

/// Runs in the order in which they were made. A load that failed once does not hold, regardless of its other runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Trials(Vec<Trial>);

impl Trials {
    pub(super) fn push(&mut self, trial: Trial) {
        self.0.push(trial);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn all(&self) -> &[Trial] {
        &self.0
    }

    /// Returns how many runs of exactly this load were valid.
    pub(super) fn count(&self, load: u64) -> u32 {
        self.0.iter().filter(|trial| trial.load == load && trial.outcome != Outcome::Invalid).count() as u32
    }

    /// Returns the load of the latest run if that run was invalid and is worth repeating.
    pub(super) fn spoilt(&self) -> Option<u64> {
        let newest = self.0.last().filter(|trial| trial.outcome == Outcome::Invalid)?;
        (self.invalid_runs(newest.load) < INVALID_RUNS).then_some(newest.load)
    }

    /// Returns the smallest load that failed.
    pub(super) fn smallest_failed(&self) -> Option<u64> {
        self.loads(Outcome::Failed).min()
    }

    /// Returns the smallest load that failed or that the generator could not produce: the upper bound of the answer.
    pub(super) fn bound(&self) -> Option<u64> {
        self.smallest_failed().into_iter().chain(self.generator_limit()).min()
    }

    /// Returns the largest load that held below that bound.
    pub(super) fn largest_held(&self) -> Option<u64> {
        let bound = self.bound().unwrap_or(u64::MAX);
        self.loads(Outcome::Held).filter(|load| *load < bound).max()
    }

    /// Returns the smallest load that the generator could not produce.
    pub(super) fn generator_limit(&self) -> Option<u64> {
        self.loads(Outcome::Invalid).filter(|load| self.invalid_runs(*load) >= INVALID_RUNS).min()
    }

    /// Returns how many of a load's runs were invalid since the last valid one.
    fn invalid_runs(&self, load: u64) -> usize {
        let newest_first = self.0.iter().rev().filter(|trial| trial.load == load);
        newest_first.take_while(|trial| trial.outcome == Outcome::Invalid).count()
    }

    fn loads(&self, outcome: Outcome) -> impl Iterator<Item = u64> {
        self.0.iter().filter(move |trial| trial.outcome == outcome).map(|trial| trial.load)
    }
}
