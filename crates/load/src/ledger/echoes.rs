//! The messages that a user has sent and expects back.

use std::collections::VecDeque;

use crate::ledger::Account;
use crate::observe::Nanos;

/// Maximum number of pending echoes per user; beyond it the oldest is given up.
pub const ECHOES_PENDING_MAX: usize = 65_536;

/// The echoes that one user waits for: 16 bytes, and more only while any are pending.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Echoes {
    /// The highest key sent so far; keys start at 1.
    newest: u64,
    pending: Option<Box<Pending>>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Pending {
    /// Sorted by key, ascending.
    queue: VecDeque<Echo>,
    /// The highest key received back while anything was pending.
    answered: u64,
}

/// A message that should come back to its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// Its key: its stamp's sequence number, or the time in a C10K ping. The keys of one user increase and are above 0.
    pub key: u64,
    /// When it should have been sent.
    pub intended: Nanos,
    /// When it was sent.
    pub sent: Nanos,
}

/// Classification of a received message with a key of the user's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EchoReceipt {
    /// The first echo of this message.
    Ok(Echo),
    /// The first echo of this message, after the echo of a later one.
    Reordered(Echo),
    /// An echo of a message that had already been echoed or given up. (A key between two of the user's keys that was
    /// never sent cannot be told apart from this.)
    Duplicate,
    /// Nothing with this key has been sent yet.
    Unexpected,
}

impl Echoes {
    /// Records a message that should come back. If [`ECHOES_PENDING_MAX`] are pending, the oldest is given up and
    /// returned: it counts as lost.
    #[must_use]
    pub fn sent(&mut self, echo: Echo) -> Option<Echo> {
        self.newest = self.newest.max(echo.key);
        let queue = &mut self.pending.get_or_insert_default().queue;
        let given_up = if queue.len() >= ECHOES_PENDING_MAX { queue.pop_front() } else { None };
        let place = queue.partition_point(|earlier| earlier.key <= echo.key);
        queue.insert(place, echo);
        given_up
    }

    /// Classifies a received message with this key.
    pub fn received(&mut self, key: u64) -> EchoReceipt {
        let known = if key <= self.newest { EchoReceipt::Duplicate } else { EchoReceipt::Unexpected };
        let Some(pending) = &mut self.pending else { return known };
        let place = pending.queue.partition_point(|earlier| earlier.key < key);
        let Some(echo) = pending.queue.get(place).copied().filter(|echo| echo.key == key) else {
            return known;
        };
        pending.queue.remove(place);
        let overtaken = pending.answered > key;
        pending.answered = pending.answered.max(key);
        if pending.queue.is_empty() {
            self.pending = None;
        }
        if overtaken { EchoReceipt::Reordered(echo) } else { EchoReceipt::Ok(echo) }
    }

    /// Returns the number of pending echoes.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.as_ref().map_or(0, |pending| pending.queue.len())
    }

    /// Settles all pending echoes because the connection or the run has ended. Messages sent at least `settle_after`
    /// before are lost, the others in flight.
    #[must_use]
    pub fn close(&mut self, now: Nanos, settle_after: Nanos) -> Account {
        let Some(pending) = self.pending.take() else { return Account::default() };
        let is_recent = |echo: &&Echo| now.saturating_sub(echo.sent) < settle_after;
        let missing = pending.queue.len() as u64;
        Account::new(missing, missing, pending.queue.iter().filter(is_recent).count() as u64)
    }
}

const _: () = assert!(size_of::<Echoes>() <= 16);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn echo(key: u64) -> Echo {
        Echo { key, intended: key * 10, sent: key * 10 + 1 }
    }

    #[test]
    fn each_echo_is_told_once_and_out_of_order_where_it_is() {
        let mut echoes = Echoes::default();
        assert_eq!(echoes.received(1), EchoReceipt::Unexpected);
        for key in [1, 2, 3, 7] {
            assert_eq!(echoes.sent(echo(key)), None);
        }
        let table = [
            (1, EchoReceipt::Ok(echo(1))),
            (1, EchoReceipt::Duplicate),
            (7, EchoReceipt::Ok(echo(7))),
            (2, EchoReceipt::Reordered(echo(2))),
            (8, EchoReceipt::Unexpected),
            (3, EchoReceipt::Reordered(echo(3))),
            (3, EchoReceipt::Duplicate),
        ];
        for (key, expected) in table {
            assert_eq!(echoes.received(key), expected, "{key}");
        }
        assert_eq!((echoes.pending(), &echoes.pending), (0, &None));
        // All others had been received when this one was sent, so nothing overtook it.
        assert_eq!(echoes.sent(echo(9)), None);
        assert_eq!(echoes.received(9), EchoReceipt::Ok(echo(9)));
    }

    #[test]
    fn what_did_not_come_is_lost_if_it_had_time() {
        let mut echoes = Echoes::default();
        for key in 1..=5 {
            assert_eq!(echoes.sent(echo(key)), None);
        }
        echoes.received(2);
        // Sent at 11, 31, 41 and 51.
        assert_eq!(echoes.close(61, 20), Account { expected: 4, delivered: 0, lost: 3, in_flight: 1 });
        assert_eq!(echoes.close(61, 20), Account::default());
        assert_eq!(echoes.received(5), EchoReceipt::Duplicate);
    }

    #[test]
    fn of_too_many_the_oldest_is_given_up() {
        let mut echoes = Echoes::default();
        let limit = ECHOES_PENDING_MAX as u64;
        assert!((1..=limit).all(|key| echoes.sent(echo(key)).is_none()));
        assert_eq!(echoes.sent(echo(limit + 1)), Some(echo(1)));
        assert_eq!(echoes.received(1), EchoReceipt::Duplicate);
        assert_eq!(echoes.pending(), ECHOES_PENDING_MAX);
    }

    proptest! {
        #[test]
        fn it_behaves_as_a_map(steps in prop::collection::vec((any::<bool>(), 1..6_u64), 1..200)) {
            let (mut echoes, mut model, mut newest) = (Echoes::default(), BTreeMap::new(), 0);
            let mut overtakers: Vec<u64> = Vec::new();
            for (sends, step) in steps {
                if sends {
                    newest += step;
                    prop_assert_eq!(echoes.sent(echo(newest)), None);
                    model.insert(newest, echo(newest));
                    continue;
                }
                let key = newest.saturating_sub(2 * step) + 3;
                let expected = match model.remove(&key) {
                    Some(echo) if overtakers.iter().any(|&overtaker| overtaker > key) => EchoReceipt::Reordered(echo),
                    Some(echo) => EchoReceipt::Ok(echo),
                    None if key <= newest => EchoReceipt::Duplicate,
                    None => EchoReceipt::Unexpected,
                };
                if matches!(expected, EchoReceipt::Ok(_) | EchoReceipt::Reordered(_)) {
                    overtakers.push(key);
                }
                prop_assert_eq!(echoes.received(key), expected);
                prop_assert_eq!(echoes.pending(), model.len());
            }
        }
    }
}
