//! The text of the first failure of each kind.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Kind, Nanos, Outcome, UserId};

/// A registry of one example per kind, outcome and code, shared by all shards and bounded by [`Examples::LEN_MAX`].
/// Failures beyond the bound are still counted, but their text is not kept.
#[derive(Debug, Default)]
pub struct Examples {
    noted: Mutex<Noted>,
}

/// The key by which failures are considered the same.
type Failure = (Kind, Outcome, u16);

/// Examples in order of arrival, and the index of each key's example.
#[derive(Debug, Default)]
struct Noted {
    examples: Vec<(Failure, Example)>,
    places: HashMap<Failure, usize>,
}

/// The first failure of its kind, outcome and code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Example {
    /// When it happened.
    pub at: Nanos,
    /// The user to whom it happened.
    pub user: UserId,
    /// What the kernel, the peer or the protocol reported; at most [`Examples::TEXT_BYTES_MAX`] bytes.
    pub text: String,
}

impl Examples {
    /// The most examples kept.
    pub const LEN_MAX: usize = 256;
    /// The longest text kept for one example, in bytes.
    pub const TEXT_BYTES_MAX: usize = 500;

    /// Stores the text if it is the first for its key; otherwise `text` is not even called.
    pub fn note(
        &self,
        kind: Kind,
        outcome: Outcome,
        code: u16,
        at: Nanos,
        user: UserId,
        text: impl FnOnce() -> String,
    ) {
        let mut noted = self.lock();
        let Noted { examples, places } = &mut *noted;
        if let Entry::Vacant(vacant) = places.entry((kind, outcome, code))
            && examples.len() < Self::LEN_MAX
        {
            let mut text = text();
            text.truncate(text.floor_char_boundary(Self::TEXT_BYTES_MAX));
            vacant.insert(examples.len());
            examples.push(((kind, outcome, code), Example { at, user, text }));
        }
    }

    /// Returns the example for a key, if there is one.
    #[must_use]
    pub fn of(&self, kind: Kind, outcome: Outcome, code: u16) -> Option<Example> {
        let noted = self.lock();
        let place = noted.places.get(&(kind, outcome, code))?;
        noted.examples.get(*place).map(|(_, example)| example.clone())
    }

    /// Returns all examples, sorted by kind, outcome and code.
    #[must_use]
    pub fn all(&self) -> Vec<(Kind, Outcome, u16, Example)> {
        let mut all = self.since(0);
        all.sort_by_key(|&(kind, outcome, code, _)| (kind, outcome, code));
        all
    }

    /// Returns all but the first `known` examples, in order of arrival.
    #[must_use]
    pub fn since(&self, known: usize) -> Vec<(Kind, Outcome, u16, Example)> {
        let noted = self.lock();
        let new = noted.examples.iter().skip(known);
        new.map(|&((kind, outcome, code), ref example)| (kind, outcome, code, example.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Noted> {
        // The list and the index are consistent between any two operations, so a poisoned lock is safe to use.
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn who_knows_the_first_is_given_those_that_came_later_in_their_order() {
        let examples = Examples::default();
        for (nth, code) in [9, 7, 9, 8].into_iter().enumerate() {
            examples.note(Kind::Http, Outcome::Rejected, code, nth as Nanos, 0, || code.to_string());
        }
        let codes = |known| examples.since(known).into_iter().map(|(_, _, code, _)| code).collect::<Vec<_>>();
        assert_eq!((codes(0), codes(1), codes(3)), (vec![9, 7, 8], vec![7, 8], vec![]));
        assert_eq!(examples.all().into_iter().map(|(_, _, code, _)| code).collect::<Vec<_>>(), [7, 8, 9]);
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
