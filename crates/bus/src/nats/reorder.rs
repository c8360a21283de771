//! How far a recoverable topic was passed to the hub, and publications that arrived out of order.
//!
//! A server assigns sequences to the publications of several clients concurrently, and republishes what it has stored a
//! moment later: a publication may arrive after many that follow it. So those wait briefly for their predecessors. What
//! does not arrive in that time was lost, and the hub reads it from the history.

use crate::limits::{HELD_BYTES_MAX, HELD_LEN_MAX};
use hub::Ordered;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long a publication waits for its predecessor.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) struct ReorderBuffer {
    /// The last offset that was passed to the hub.
    offset: u64,
    /// The mark with which the order began again, after everything had expired.
    mark: Option<u64>,
    /// Publications that arrived out of order, by offset.
    held: BTreeMap<u64, Ordered>,
    held_bytes: usize,
    /// When waiting ends.
    until: Option<Instant>,
}

impl ReorderBuffer {
    pub(crate) fn new(offset: u64) -> ReorderBuffer {
        ReorderBuffer { offset, mark: None, held: BTreeMap::new(), held_bytes: 0, until: None }
    }

    /// Handles a mark with which the order begins again. Returns the publications to pass on now.
    pub(crate) fn mark(&mut self, offset: u64, now: Instant) -> Vec<Ordered> {
        self.mark = (offset > self.offset).then_some(offset);
        self.due(now)
    }

    /// Handles a publication; without `previous` it follows what is known. Returns the publications to pass on now.
    pub(crate) fn take(&mut self, mut ordered: Ordered, previous: Option<u64>, now: Instant) -> Vec<Ordered> {
        ordered.previous = previous.unwrap_or(self.offset);
        self.held_bytes += ordered.bytes();
        let replaced = self.held.insert(ordered.position.offset, ordered);
        self.held_bytes -= replaced.map_or(0, |replaced| replaced.bytes());
        match self.held.len() > HELD_LEN_MAX || self.held_bytes > HELD_BYTES_MAX {
            true => self.give_up(),
            false => self.due(now),
        }
    }

    /// Returns when waiting for missing publications ends.
    pub(crate) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// Gives up on missing publications: returns all that wait.
    pub(crate) fn give_up(&mut self) -> Vec<Ordered> {
        let mut told = Vec::with_capacity(self.held.len());
        while let Some((_, next)) = self.held.pop_first() {
            told.push(self.tell(next));
        }
        self.until = None;
        told
    }

    fn due(&mut self, now: Instant) -> Vec<Ordered> {
        let mut told = Vec::new();
        while let Some(next) = self.held.first_entry() {
            let previous = next.get().previous;
            if previous > self.offset && self.mark != Some(previous) {
                break;
            }
            let next = next.remove();
            told.push(self.tell(next));
        }
        if self.held.is_empty() {
            self.until = None;
        } else if !told.is_empty() || self.until.is_none() {
            self.until = Some(now + PATIENCE);
        }
        told
    }

    fn tell(&mut self, mut next: Ordered) -> Ordered {
        self.held_bytes -= next.bytes();
        if self.mark == Some(next.previous) {
            next.previous = self.offset;
        }
        self.offset = self.offset.max(next.position.offset);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub::{Draft, Epoch, Micros, Outgoing, Position};

    fn ordered(offset: u64) -> Ordered {
        let position = Position { epoch: Epoch::new("e").expect("an epoch"), offset };
        let (topic, event) = ("a".into(), "said".into());
        let payload = Outgoing::Json("1".into());
        Ordered {
            position,
            previous: 0,
            draft: Draft { topic, event, payload, received: Micros(0), except: None },
        }
    }

    fn places(told: &[Ordered]) -> Vec<(u64, u64)> {
        told.iter().map(|ordered| (ordered.previous, ordered.position.offset)).collect()
    }

    #[test]
    fn what_comes_before_its_turn_waits_for_what_it_follows() {
        let (mut reached, now) = (ReorderBuffer::new(7), Instant::now());
        assert_eq!(places(&reached.take(ordered(8), None, now)), [(7, 8)]);
        assert_eq!(places(&reached.take(ordered(12), Some(11), now)), []);
        assert_eq!(places(&reached.take(ordered(11), Some(9), now)), []);
        assert_eq!(reached.until(), Some(now + PATIENCE));
        assert_eq!(places(&reached.take(ordered(9), Some(8), now)), [(8, 9), (9, 11), (11, 12)]);
        assert_eq!(reached.until(), None);
    }

    #[test]
    fn what_does_not_come_is_waited_for_a_moment() {
        let (mut reached, now) = (ReorderBuffer::new(7), Instant::now());
        assert_eq!(places(&reached.take(ordered(10), Some(9), now)), []);
        assert_eq!(places(&reached.take(ordered(11), Some(10), now + PATIENCE / 2)), []);
        assert_eq!(reached.until(), Some(now + PATIENCE));
        assert_eq!(places(&reached.give_up()), [(9, 10), (10, 11)]);
        assert_eq!((reached.until(), reached.held_bytes), (None, 0));
        assert_eq!(places(&reached.take(ordered(9), Some(8), now)), [(8, 9)], "late, and known by now");
        assert_eq!(places(&reached.take(ordered(12), Some(11), now)), [(11, 12)]);
    }

    #[test]
    fn no_more_waits_than_has_room() {
        let (mut reached, now) = (ReorderBuffer::new(0), Instant::now());
        let told: Vec<Ordered> =
            (0..=HELD_LEN_MAX as u64).flat_map(|n| reached.take(ordered(n + 2), Some(n + 1), now)).collect();
        assert_eq!(told.len(), HELD_LEN_MAX + 1);
    }

    #[test]
    fn behind_a_mark_nothing_is_missing() {
        let (mut reached, now) = (ReorderBuffer::new(7), Instant::now());
        assert_eq!(places(&reached.mark(20, now)), []);
        assert_eq!(places(&reached.take(ordered(21), Some(20), now)), [(7, 21)]);
        let mut reached = ReorderBuffer::new(7);
        assert_eq!(places(&reached.take(ordered(21), Some(20), now)), []);
        assert_eq!(places(&reached.mark(20, now)), [(7, 21)], "the mark came late");
    }
}
