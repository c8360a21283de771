//! The runs of a search.

/// What came of one run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The conditions held.
    Held,
    /// They did not.
    Failed,
    /// The run says nothing about the server: the generator was the limit, or somebody disturbed it.
    Invalid,
}

/// One run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// The load.
    pub load: u64,
    /// What came of it.
    pub outcome: Outcome,
}

/// So many invalid runs of one load make it one that the generator cannot make. A neighbour on the machine may spoil a
/// single one.
const INVALID_RUNS: usize = 2;

/// Runs in the order they were made. A load that failed once does not hold, whatever else it did.
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

    /// How many runs of this very load said something about the server.
    pub(super) fn count(&self, load: u64) -> u32 {
        self.0.iter().filter(|trial| trial.load == load && trial.outcome != Outcome::Invalid).count() as u32
    }

    /// The load of the newest run, if that run was invalid and may have been spoilt.
    pub(super) fn spoilt(&self) -> Option<u64> {
        let newest = self.0.last().filter(|trial| trial.outcome == Outcome::Invalid)?;
        (self.invalid_runs(newest.load) < INVALID_RUNS).then_some(newest.load)
    }

    /// The smallest load that failed.
    pub(super) fn smallest_failed(&self) -> Option<u64> {
        self.loads(Outcome::Failed).min()
    }

    /// The smallest load that failed or that the generator could not make: the answer lies below it.
    pub(super) fn bound(&self) -> Option<u64> {
        self.smallest_failed().into_iter().chain(self.generator_limit()).min()
    }

    /// The largest load that held below that bound.
    pub(super) fn largest_held(&self) -> Option<u64> {
        let bound = self.bound().unwrap_or(u64::MAX);
        self.loads(Outcome::Held).filter(|load| *load < bound).max()
    }

    /// The smallest load at which the generator was the limit.
    pub(super) fn generator_limit(&self) -> Option<u64> {
        self.loads(Outcome::Invalid).filter(|load| self.invalid_runs(*load) >= INVALID_RUNS).min()
    }

    fn invalid_runs(&self, load: u64) -> usize {
        self.loads(Outcome::Invalid).filter(|invalid| *invalid == load).count()
    }

    fn loads(&self, outcome: Outcome) -> impl Iterator<Item = u64> {
        self.0.iter().filter(move |trial| trial.outcome == outcome).map(|trial| trial.load)
    }
}
