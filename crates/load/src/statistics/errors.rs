//! Errors by operation, outcome and source address.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ErrorCount;
use super::facts::RunFacts;
use super::limits::ERRORS_MAX;
use crate::observe::{Kind, Nanos, Observation, Outcome, UserId};

/// Returns whether an observation counts as an error. The end of a user or of a transaction only repeats what one of
/// its steps has already reported; being stopped at the end of the run and the fate of a message are not errors.
#[must_use]
pub fn is_error(kind: Kind, outcome: Outcome) -> bool {
    match kind {
        // Whatever ended a session has been reported before, unless its agent was lost.
        Kind::Finish => outcome == Outcome::AgentLost,
        Kind::Transaction | Kind::Missing | Kind::Burst => false,
        Kind::Arrival
        | Kind::Connect
        | Kind::Disconnect
        | Kind::Join
        | Kind::Leave
        | Kind::Send
        | Kind::Receive
        | Kind::Reply
        | Kind::Wait
        | Kind::Http
        | Kind::Step => outcome.is_failure(),
    }
}

/// Errors and their counts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Errors {
    #[serde(with = "as_list")]
    kinds: BTreeMap<ErrorKind, Seen>,
}

/// The key by which errors are grouped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct ErrorKind {
    kind: Kind,
    outcome: Outcome,
    code: u16,
}

/// The counts of one kind of error by source address, and its first occurrence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Seen {
    first: (Nanos, UserId),
    sources: BTreeMap<u16, u64>,
}

impl Errors {
    pub(super) fn record(&mut self, error: &Observation, count: u64) {
        let kind = ErrorKind { kind: error.kind, outcome: error.outcome, code: error.code };
        let seen = self.seen(kind, (error.at, error.user));
        let of_source = seen.sources.entry(error.source).or_default();
        *of_source = of_source.saturating_add(count);
    }

    /// Adds the errors of a later part of the run, or of another machine.
    pub(super) fn merge(&mut self, other: &Self) {
        for (&kind, others) in &other.kinds {
            let seen = self.seen(kind, others.first);
            for (&source, &count) in &others.sources {
                let of_source = seen.sources.entry(source).or_default();
                *of_source = of_source.saturating_add(count);
            }
        }
    }

    /// Shifts the indexes of source addresses.
    pub(super) fn shift_sources(&mut self, by: u16) {
        for seen in self.kinds.values_mut() {
            let sources = std::mem::take(&mut seen.sources);
            for (source, count) in sources {
                *seen.sources.entry(source.saturating_add(by)).or_default() += count;
            }
        }
    }

    /// Returns how often this kind of operation had this outcome, with any code.
    pub(super) fn count_of(&self, kind: Kind, outcome: Outcome) -> u64 {
        let same = self.kinds.iter().filter(|(error, _)| error.kind == kind && error.outcome == outcome);
        same.flat_map(|(_, seen)| seen.sources.values()).fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// Returns all kinds, most frequent first.
    pub(super) fn counts(&self, facts: &RunFacts) -> Vec<ErrorCount> {
        let mut counts: Vec<ErrorCount> =
            self.kinds.iter().map(|(kind, seen)| kind.count(seen, facts)).collect();
        counts.sort_by_key(|error| std::cmp::Reverse(error.count));
        counts
    }

    fn seen(&mut self, mut kind: ErrorKind, first: (Nanos, UserId)) -> &mut Seen {
        // The peer chooses the codes, so beyond the limit they are no longer distinguished.
        if self.kinds.len() >= ERRORS_MAX && !self.kinds.contains_key(&kind) {
            kind.code = 0;
        }
        let seen = self.kinds.entry(kind).or_insert_with(|| Seen { first, sources: BTreeMap::new() });
        seen.first = seen.first.min(first);
        seen
    }
}

impl ErrorKind {
    fn count(&self, seen: &Seen, facts: &RunFacts) -> ErrorCount {
        let (first_at, first_user) = seen.first;
        let example = facts.example(self.kind, self.outcome, self.code);
        ErrorCount {
            kind: self.kind.name().to_owned(),
            outcome: self.outcome.name().to_owned(),
            code: self.code,
            count: seen.sources.values().fold(0, |sum: u64, count| sum.saturating_add(*count)),
            sources: seen.sources.iter().map(|(&source, &count)| (facts.source(source), count)).collect(),
            first_second: first_at as f64 / 1e9,
            example: example.map_or_else(|| format!("user {first_user}"), str::to_owned),
        }
    }
}

/// Serializes the map as a list, because JSON object keys must be strings.
mod as_list {
    use super::*;

    pub(super) fn serialize<S: serde::Serializer>(
        kinds: &BTreeMap<ErrorKind, Seen>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(kinds)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<ErrorKind, Seen>, D::Error> {
        Ok(Vec::<(ErrorKind, Seen)>::deserialize(deserializer)?.into_iter().collect())
    }
}
