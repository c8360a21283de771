//! What the first failure of each kind said, in words.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Kind, Nanos, Outcome, UserId};

/// A registry of one example per kind, outcome and code, shared by all shards and bounded by
/// [`Examples::LEN_MAX`]: what comes beyond it is counted all the same, only without words.
#[derive(Debug, Default)]
pub struct Examples {
    first: Mutex<HashMap<(Kind, Outcome, u16), Example>>,
}

/// The first of its kind, outcome and code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// When.
    pub at: Nanos,
    /// To whom it happened.
    pub user: UserId,
    /// What was seen: what the kernel, the peer or the protocol said; at most [`Examples::TEXT_BYTES_MAX`] bytes.
    pub text: String,
}

impl Examples {
    /// The most examples kept.
    pub const LEN_MAX: usize = 256;
    /// The longest text kept of one.
    pub const TEXT_BYTES_MAX: usize = 500;

    /// Keeps the text if it is the first of its kind; else it is not even made.
    pub fn note(
        &self,
        kind: Kind,
        outcome: Outcome,
        code: u16,
        at: Nanos,
        user: UserId,
        text: impl FnOnce() -> String,
    ) {
        let mut first = self.lock();
        let is_full = first.len() >= Self::LEN_MAX;
        if let Entry::Vacant(vacant) = first.entry((kind, outcome, code))
            && !is_full
        {
            let mut text = text();
            text.truncate(text.floor_char_boundary(Self::TEXT_BYTES_MAX));
            vacant.insert(Example { at, user, text });
        }
    }

    /// The example of a kind, if there is one.
    #[must_use]
    pub fn of(&self, kind: Kind, outcome: Outcome, code: u16) -> Option<Example> {
        self.lock().get(&(kind, outcome, code)).cloned()
    }

    /// All of them, by kind, outcome and code.
    #[must_use]
    pub fn all(&self) -> Vec<(Kind, Outcome, u16, Example)> {
        let first = self.lock();
        let mut all: Vec<_> = first
            .iter()
            .map(|(&(kind, outcome, code), example)| (kind, outcome, code, example.clone()))
            .collect();
        drop(first);
        all.sort_by_key(|&(kind, outcome, code, _)| (kind, outcome, code));
        all
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(Kind, Outcome, u16), Example>> {
        // The map is whole between any two of its operations.
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_a_kind_is_kept() {
        let examples = Examples::default();
        examples.note(Kind::Connect, Outcome::Refused, 0, 5, 1, || "first".to_owned());
        examples.note(Kind::Connect, Outcome::Refused, 0, 6, 2, || unreachable!("the text is not made"));
        let expected = Example { at: 5, user: 1, text: "first".to_owned() };
        assert_eq!(examples.of(Kind::Connect, Outcome::Refused, 0), Some(expected));
        assert_eq!(examples.of(Kind::Connect, Outcome::Status, 404), None);
    }

    #[test]
    fn examples_are_bounded_in_number_and_length() {
        let examples = Examples::default();
        for code in 0..2 * Examples::LEN_MAX as u16 {
            examples.note(Kind::Http, Outcome::Rejected, code, 0, 0, || "é".repeat(1000));
        }
        let all = examples.all();
        assert_eq!(all.len(), Examples::LEN_MAX);
        assert!(all.iter().all(|(.., example)| example.text.len() <= Examples::TEXT_BYTES_MAX));
    }
}
