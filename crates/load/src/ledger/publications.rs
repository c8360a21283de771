//! When a message that several should get had reached the first and the last of them.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use crate::observe::Nanos;

/// Publications that may lie between the oldest that is not complete and the newest; beyond it the oldest is finished
/// as it is. About 100 bytes each.
pub const PUBLICATIONS_OPEN_MAX: usize = 1 << 20;

/// Publications on their way, by message number; fed with the sends and first receipts of a run in any order.
#[derive(Debug)]
pub struct Publications {
    limit: usize,
    /// Places in `open`, counted from the run's start.
    places: HashMap<u64, u64, BuildHasherDefault<MessageHasher>>,
    /// In the order in which they were first heard of; completed ones leave a gap until they are the oldest.
    open: VecDeque<Option<Open>>,
    /// Place of the first of `open`.
    first_place: u64,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    message: u64,
    intended: Nanos,
    /// How many should get it; `None` until its send is heard of.
    expected: Option<u32>,
    received: u32,
    first_at: Nanos,
    last_at: Nanos,
}

/// What became of a publication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FinishedPublication {
    /// Its message number, see [`crate::observe::Observation::message`].
    pub message: u64,
    /// When it ought to have been sent.
    pub intended: Nanos,
    /// How many should have got it; `None` where its send was never heard of, or no more remembered.
    pub expected: Option<u32>,
    /// How many got it.
    pub received: u32,
    /// When the first had it; 0 where nobody did.
    pub first_at: Nanos,
    /// When the last of those that got it had it.
    pub last_at: Nanos,
}

impl FinishedPublication {
    /// Whether everybody got it.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.expected.is_some_and(|expected| self.received >= expected)
    }
}

impl Default for Publications {
    fn default() -> Self {
        Self::with_limit(PUBLICATIONS_OPEN_MAX)
    }
}

impl Publications {
    /// At most `limit` (1 or more) from the oldest on its way to the newest.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self { limit: limit.max(1), places: HashMap::default(), open: VecDeque::new(), first_place: 0 }
    }

    /// `message` was sent to `expected` receivers.
    pub fn sent(
        &mut self,
        message: u64,
        intended: Nanos,
        expected: u32,
        finished: &mut impl FnMut(FinishedPublication),
    ) {
        self.update(message, finished, |open| {
            open.expected = Some(expected);
            open.intended = intended;
        });
    }

    /// One of the expected receivers got `message` for the first time.
    pub fn received(
        &mut self,
        message: u64,
        intended: Nanos,
        at: Nanos,
        finished: &mut impl FnMut(FinishedPublication),
    ) {
        self.update(message, finished, |open| {
            open.intended = intended;
            open.first_at = if open.received == 0 { at } else { open.first_at.min(at) };
            open.last_at = open.last_at.max(at);
            open.received += 1;
        });
    }

    /// Nothing more will be heard: finishes all that are on their way, oldest first.
    pub fn finish(&mut self, finished: &mut impl FnMut(FinishedPublication)) {
        self.places.clear();
        self.first_place += self.open.len() as u64;
        self.open.drain(..).flatten().for_each(|open| finished(open.finish()));
    }

    /// How many are on their way.
    #[must_use]
    pub fn open(&self) -> usize {
        self.places.len()
    }

    /// Changes a publication, which begins if it is new, and finishes it if that completes it.
    fn update(
        &mut self,
        message: u64,
        finished: &mut impl FnMut(FinishedPublication),
        change: impl FnOnce(&mut Open),
    ) {
        let place = match self.places.get(&message) {
            Some(&place) => place,
            None => self.begin(message, finished),
        };
        let entry = &mut self.open[(place - self.first_place) as usize];
        let open = entry.get_or_insert(Open::new(message));
        change(open);
        let state = open.finish();
        if state.is_complete() {
            *entry = None;
            self.places.remove(&message);
            finished(state);
            while self.open.front().is_some_and(Option::is_none) {
                self.drop_oldest(finished);
            }
        }
    }

    fn begin(&mut self, message: u64, finished: &mut impl FnMut(FinishedPublication)) -> u64 {
        if self.open.len() >= self.limit {
            self.drop_oldest(finished);
        }
        let place = self.first_place + self.open.len() as u64;
        self.open.push_back(Some(Open::new(message)));
        self.places.insert(message, place);
        place
    }

    fn drop_oldest(&mut self, finished: &mut impl FnMut(FinishedPublication)) {
        if let Some(oldest) = self.open.pop_front() {
            self.first_place += 1;
            if let Some(open) = oldest {
                self.places.remove(&open.message);
                finished(open.finish());
            }
        }
    }
}

impl Open {
    fn new(message: u64) -> Self {
        Self { message, intended: 0, expected: None, received: 0, first_at: 0, last_at: 0 }
    }

    fn finish(&self) -> FinishedPublication {
        let Self { message, intended, expected, received, first_at, last_at } = *self;
        FinishedPublication { message, intended, expected, received, first_at, last_at }
    }
}

/// Message numbers are our own, so nobody can choose them to collide; one multiplication spreads them.
#[derive(Clone, Copy, Debug, Default)]
struct MessageHasher(u64);

impl Hasher for MessageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn write_u64(&mut self, number: u64) {
        // The table takes its bits from both ends, so the product's upper half goes into its lower.
        let product = u128::from(self.0 ^ number) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(
        message: u64,
        expected: Option<u32>,
        received: u32,
        first_at: Nanos,
        last_at: Nanos,
    ) -> FinishedPublication {
        FinishedPublication { message, intended: message * 100, expected, received, first_at, last_at }
    }

    /// Feeds `S message expected` and `R message at` and returns what was finished on the way, and at the end.
    fn play(limit: usize, events: &str) -> (Vec<FinishedPublication>, Vec<FinishedPublication>) {
        let mut publications = Publications::with_limit(limit);
        let (mut on_the_way, mut at_the_end) = (Vec::new(), Vec::new());
        let mut collect = |finished| on_the_way.push(finished);
        for event in events.split(", ") {
            let numbers: Vec<u64> =
                event[2..].split(' ').map(|number| number.parse().expect("a number")).collect();
            let (message, value) = (numbers[0], numbers[1]);
            match &event[..1] {
                "S" => publications.sent(message, message * 100, value as u32, &mut collect),
                _ => publications.received(message, message * 100, value, &mut collect),
            }
        }
        let open = publications.open();
        publications.finish(&mut |finished| at_the_end.push(finished));
        assert_eq!(open, at_the_end.len());
        (on_the_way, at_the_end)
    }

    #[test]
    fn a_publication_is_finished_when_the_last_receiver_has_it() {
        let (on_the_way, at_the_end) =
            play(9, "S 1 2, R 1 150, R 2 230, R 1 140, S 2 2, R 2 260, S 3 0, S 4 3, R 4 410");
        let expected = [
            finished(1, Some(2), 2, 140, 150),
            finished(2, Some(2), 2, 230, 260),
            finished(3, Some(0), 0, 0, 0),
        ];
        assert_eq!(on_the_way, expected);
        assert!(on_the_way.iter().all(FinishedPublication::is_complete));
        assert_eq!(at_the_end, [finished(4, Some(3), 1, 410, 410)]);
        assert!(!at_the_end[0].is_complete());
    }

    #[test]
    fn beyond_the_limit_the_oldest_is_finished_as_it_is() {
        let (on_the_way, at_the_end) =
            play(3, "S 1 2, S 2 1, S 3 1, R 2 250, R 3 350, S 4 1, R 1 999, R 4 450");
        // Message 1 goes when message 4 begins although only it is open: between them lie the places of 2 and 3.
        let expected = [
            finished(2, Some(1), 1, 250, 250),
            finished(3, Some(1), 1, 350, 350),
            finished(1, Some(2), 0, 0, 0),
            finished(4, Some(1), 1, 450, 450),
        ];
        assert_eq!(on_the_way, expected);
        // Its straggler belongs to a publication of which nothing else is known.
        assert_eq!(at_the_end, [finished(1, None, 1, 999, 999)]);
        assert!(!at_the_end[0].is_complete());
    }
}
