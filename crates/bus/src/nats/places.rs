//! The mapping from a publication's sequence in its stream to its offset.
//!
//! A stream counts from one, and a stream that lost its newest messages assigns their numbers again. So each run of a
//! server continues from the time, in microseconds, at which it was first seen: no offset is assigned twice, whatever a
//! restart lost.

use std::fmt;
use std::str::FromStr;

/// Number of runs that are remembered. Messages of older ones are not passed on any more.
const RUNS_MAX: usize = 64;

/// Contains at least one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Places(Vec<Run>);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    /// The sequence of the first message that it writes.
    first: u64,
    /// The offset of that message.
    base: u64,
}

impl Places {
    /// Creates the mapping of a new stream: messages after `newest` have offsets from `base` on.
    pub(crate) fn begin(newest: u64, base: u64) -> Places {
        Places(vec![Run { first: newest + 1, base }])
    }

    /// Begins another run of the server in the same way.
    pub(crate) fn begin_run(&mut self, newest: u64, base: u64) {
        self.0.retain(|run| run.first <= newest);
        self.0.push(Run { first: newest + 1, base });
        let surplus = self.0.len().saturating_sub(RUNS_MAX);
        self.0.drain(..surplus);
    }

    /// Returns the offset of a sequence; for one older than all runs, the offset before them.
    pub(crate) fn offset(&self, sequence: u64) -> u64 {
        match self.0.iter().rev().find(|run| run.first <= sequence) {
            Some(run) => run.base + (sequence - run.first),
            None => self.0[0].base - 1,
        }
    }

    /// Returns the last sequence whose offset is not above the given one.
    pub(crate) fn sequence(&self, offset: u64) -> u64 {
        let Some(at) = self.0.iter().rposition(|run| run.base <= offset) else {
            return self.oldest();
        };
        let Run { first, base } = self.0[at];
        let last = self.0.get(at + 1).map_or(u64::MAX, |next| next.first - 1);
        first.saturating_add(offset - base).min(last)
    }

    /// Returns the sequence above which offsets are known.
    pub(crate) fn oldest(&self) -> u64 {
        self.0[0].first - 1
    }

    /// Returns the sequence above which the newest run writes.
    pub(crate) fn newest_run(&self) -> u64 {
        self.0[self.0.len() - 1].first - 1
    }
}

/// Formats it as `first:base` of each run, separated by commas.
impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Run { first, base }) in self.0.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{first}:{base}")?;
        }
        Ok(())
    }
}

impl FromStr for Places {
    type Err = ();

    fn from_str(text: &str) -> Result<Places, ()> {
        let run = |text: &str| {
            let (first, base) = text.split_once(':')?;
            let (first, base) = (first.parse().ok()?, base.parse().ok()?);
            (first > 0 && base > 0).then_some(Run { first, base })
        };
        let runs: Vec<Run> = text.split(',').map(run).collect::<Option<_>>().ok_or(())?;
        let grows = |pair: &[Run]| pair[0].first < pair[1].first && pair[0].base < pair[1].base;
        if runs.windows(2).all(grows) { Ok(Places(runs)) } else { Err(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_lost_its_newest_gives_no_offset_again() {
        let mut places = Places::begin(0, 1000);
        assert_eq!((places.offset(0), places.offset(1), places.offset(5)), (999, 1000, 1004));
        // 4 and 5 were lost.
        places.begin_run(3, 2000);
        assert_eq!((places.offset(3), places.offset(4), places.offset(5)), (1002, 2000, 2001));
        for sequence in 1..9 {
            assert_eq!(places.sequence(places.offset(sequence)), sequence);
        }
        assert_eq!(places.sequence(1004), 3, "what was lost stood behind 3");
        assert_eq!((places.sequence(0), places.sequence(999)), (0, 0));
        assert_eq!(places.to_string().parse(), Ok(places));
    }

    #[test]
    fn a_run_that_wrote_nothing_is_forgotten_and_so_are_too_many() {
        let mut places = Places::begin(0, 1000);
        places.begin_run(7, 2000);
        places.begin_run(7, 3000);
        assert_eq!((places.offset(7), places.offset(8), places.newest_run()), (1006, 3000, 7));
        for run in 0..2 * RUNS_MAX as u64 {
            places.begin_run(100 + run, 10_000 + run * 1000);
        }
        assert_eq!(places.0.len(), RUNS_MAX);
        assert_eq!(places.offset(8), places.offset(places.oldest()));
    }

    #[test]
    fn what_are_no_places_is_refused() {
        for text in ["", "1", "1:2,", "0:1", "1:0", "2:5,1:9", "1:9,2:5", "a:b"] {
            assert_eq!(text.parse::<Places>(), Err(()), "{text}");
        }
    }
}
