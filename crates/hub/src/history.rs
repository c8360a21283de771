//! The publications that a topic's home keeps: the newest, without gaps, within bounds.

use crate::histories::Retention;
use crate::ids::Micros;
use crate::place::{Epoch, Place, Position};
use crate::publication::Publication;
use crate::sizes::block_bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// All publications with an offset above `floor` and up to `newest` are here.
pub(crate) struct History {
    pub(crate) epoch: Epoch,
    pub(crate) retention: Retention,
    pub(crate) newest: u64,
    pub(crate) floor: u64,
    kept: VecDeque<Kept>,
    /// Total bytes of what is kept.
    kept_bytes: usize,
    /// When a publication was last added.
    pub(crate) touched: Micros,
}

struct Kept {
    publication: Arc<Publication>,
    offset: u64,
    at: Micros,
    bytes: usize,
}

/// Part of a history: everything above `from` and up to `to`.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// The epoch of the topic's order.
    pub(crate) epoch: Epoch,
    /// The history has nothing at or below this offset.
    pub(crate) floor: u64,
    /// Whether there may be older publications that cannot be read now.
    pub(crate) unavailable: bool,
    /// The newest offset of the topic.
    pub(crate) newest: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Oldest first.
    pub(crate) publications: Vec<Arc<Publication>>,
}

impl History {
    /// Creates an empty history that begins after `start`.
    pub(crate) fn new(start: Position, retention: Retention, now: Micros) -> History {
        let Position { epoch, offset } = start;
        let kept = VecDeque::new();
        History { epoch, retention, newest: offset, floor: offset, kept, kept_bytes: 0, touched: now }
    }

    pub(crate) fn position(&self) -> Position {
        Position { epoch: self.epoch.clone(), offset: self.newest }
    }

    /// Appends a publication whose offset is above all others.
    pub(crate) fn append(&mut self, publication: Arc<Publication>, now: Micros) {
        let Some(Place { offset, .. }) = publication.place.as_deref() else { return };
        let (offset, bytes) = (*offset, publication_bytes(&publication));
        debug_assert!(offset > self.newest, "offsets grow");
        self.newest = offset;
        self.kept_bytes += bytes;
        self.kept.push_back(Kept { publication, offset, at: now, bytes });
        self.touched = now;
        self.trim(now);
    }

    /// Drops what exceeds the bounds.
    pub(crate) fn trim(&mut self, now: Micros) {
        let Retention { messages_max, age_us_max, bytes_max } = self.retention;
        while let Some(oldest) = self.kept.front()
            && (self.kept.len() > messages_max || self.kept_bytes > bytes_max || now - oldest.at > age_us_max)
        {
            self.forget_oldest();
        }
        if self.kept.capacity() > 64 && self.kept.len() < self.kept.capacity() / 4 {
            self.kept.shrink_to(self.kept.len() * 2);
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(kept) = self.kept.pop_front() {
            self.kept_bytes -= kept.bytes;
            self.floor = kept.offset;
        }
    }

    /// Drops all publications; the position stays.
    pub(crate) fn clear(&mut self) {
        self.kept = VecDeque::new();
        self.kept_bytes = 0;
        self.floor = self.newest;
    }

    /// Starts over, empty, at another position.
    pub(crate) fn reset(&mut self, position: Position) {
        self.newest = position.offset;
        self.epoch = position.epoch;
        self.clear();
    }

    /// Moves the position to `offset`; all publications up to it are lost.
    pub(crate) fn skip_to(&mut self, offset: u64) {
        self.newest = offset;
        self.clear();
    }

    /// Inserts the publications above `from` and up to the floor, oldest first, in front of what is kept.
    pub(crate) fn prepend(
        &mut self,
        from: u64,
        older: impl DoubleEndedIterator<Item = Arc<Publication>>,
        now: Micros,
    ) {
        for publication in older.rev() {
            let bytes = publication_bytes(&publication);
            let Some(offset) = publication.place.as_ref().map(|place| place.offset) else { continue };
            self.kept_bytes += bytes;
            self.kept.push_front(Kept { publication, offset, at: now, bytes });
        }
        self.floor = from;
        self.trim(now);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the memory it takes now, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        block_bytes(self.kept.capacity() * size_of::<Kept>()) + self.kept_bytes
    }

    /// Returns the oldest publications above `since`, within the given messages and bytes, but at least one.
    pub(crate) fn oldest_since(&self, since: u64, messages_max: usize, bytes_max: usize) -> Excerpt {
        let from = since.max(self.floor).min(self.newest);
        let start = self.kept.partition_point(|kept| kept.offset <= from);
        let mut bytes = 0;
        let fits = self.kept.range(start..).take(messages_max).take_while(|kept| {
            let first = bytes == 0;
            bytes += kept.bytes;
            first || bytes <= bytes_max
        });
        let count = fits.count();
        let to =
            if start + count == self.kept.len() { self.newest } else { self.kept[start + count - 1].offset };
        self.excerpt(from, to, start..start + count)
    }

    /// Returns the newest publications above `since`, within the given messages and bytes.
    pub(crate) fn newest_since(&self, since: u64, messages_max: usize, bytes_max: usize) -> Excerpt {
        let wanted = since.max(self.floor).min(self.newest);
        let start = self.kept.partition_point(|kept| kept.offset <= wanted);
        let mut bytes = 0;
        let fits = self.kept.range(start..).rev().take(messages_max).take_while(|kept| {
            bytes += kept.bytes;
            bytes <= bytes_max
        });
        let first = self.kept.len() - fits.count();
        let from = match first.checked_sub(1).filter(|_| first > start) {
            Some(left_out) => self.kept[left_out].offset,
            None => wanted,
        };
        self.excerpt(from, self.newest, first..self.kept.len())
    }

    fn excerpt(&self, from: u64, to: u64, range: std::ops::Range<usize>) -> Excerpt {
        let publications = self.kept.range(range).map(|kept| kept.publication.clone()).collect();
        let (epoch, floor, newest) = (self.epoch.clone(), self.floor, self.newest);
        Excerpt { epoch, floor, unavailable: false, newest, from, to, publications }
    }
}

/// Returns the memory that a stored publication takes, in bytes.
fn publication_bytes(publication: &Publication) -> usize {
    let counts = 2 * size_of::<usize>();
    let epoch = publication.place.as_ref().map_or(0, |_| block_bytes(size_of::<Place>()));
    block_bytes(counts + size_of::<Publication>())
        + block_bytes(publication.event.len())
        + block_bytes(publication.payload.len())
        + epoch
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::Outgoing;

    const PLENTY: usize = 1 << 30;

    fn history(retention: Retention) -> History {
        let epoch = Epoch::new("e").expect("an epoch");
        History::new(Position { epoch, offset: 0 }, retention, Micros(0))
    }

    fn put(history: &mut History, offset: u64, bytes: usize, now: Micros) {
        let epoch = history.epoch.clone();
        let place = Place { epoch, offset, previous: history.newest, except: None };
        let publication = Publication {
            topic: "t".into(),
            event: "e".into(),
            payload: Outgoing::from(vec![0; bytes]),
            received: now,
            place: Some(Box::new(place)),
        };
        history.append(Arc::new(publication), now);
    }

    fn filled(offsets: &[u64]) -> History {
        let mut history = history(Retention::default());
        offsets.iter().for_each(|&offset| put(&mut history, offset, 10, Micros(0)));
        history
    }

    fn offsets(excerpt: &Excerpt) -> Vec<u64> {
        let places = excerpt.publications.iter().filter_map(|publication| publication.place.as_deref());
        places.map(|place| place.offset).collect()
    }

    #[test]
    fn the_oldest_are_forgotten_past_each_bound() {
        let plenty = Retention { messages_max: PLENTY, age_us_max: u64::MAX, bytes_max: PLENTY };
        let cases = [
            (Retention { messages_max: 2, ..plenty }, 10, 0, 3),
            (Retention { bytes_max: 2500, ..plenty }, 1000, 0, 3),
            (Retention { bytes_max: 500, ..plenty }, 1000, 0, 5),
            (Retention { age_us_max: 10, ..plenty }, 10, 5, 2),
        ];
        for (retention, bytes, step, floor) in cases {
            let mut history = history(retention);
            for offset in 1..=5 {
                put(&mut history, offset, bytes, Micros(offset * step));
            }
            assert_eq!((history.floor, history.newest), (floor, 5), "{retention:?}");
            let kept: usize = history.kept.iter().map(|kept| kept.bytes).sum();
            assert_eq!(kept, history.kept_bytes);
        }
    }

    #[test]
    fn an_excerpt_says_what_it_covers() {
        let history = filled(&[2, 5, 9, 10]);
        for (since, most, from, to, expected) in [
            (0, 10, 0, 10, &[2, 5, 9, 10][..]),
            (2, 10, 2, 10, &[5, 9, 10]),
            (3, 2, 3, 9, &[5, 9]),
            (10, 10, 10, 10, &[]),
            (99, 10, 10, 10, &[]),
        ] {
            let excerpt = history.oldest_since(since, most, PLENTY);
            assert_eq!(
                (excerpt.from, excerpt.to, &*offsets(&excerpt)),
                (from, to, expected),
                "{since} {most}"
            );
        }
        for (since, most, from, expected) in [
            (0, 10, 0, &[2, 5, 9, 10][..]),
            (0, 2, 5, &[9, 10]),
            (5, 2, 5, &[9, 10]),
            (9, 2, 9, &[10]),
            (10, 2, 10, &[]),
            (0, 0, 10, &[]),
        ] {
            let excerpt = history.newest_since(since, most, PLENTY);
            assert_eq!((excerpt.from, &*offsets(&excerpt)), (from, expected), "{since} {most}");
            assert_eq!(excerpt.to, 10);
        }
    }

    #[test]
    fn catching_up_goes_on_however_large_the_next_one_is_and_a_recovery_does_not() {
        let mut history = history(Retention::default());
        put(&mut history, 1, 5000, Micros(0));
        put(&mut history, 2, 10, Micros(0));
        assert_eq!(offsets(&history.oldest_since(0, 10, 100)), [1]);
        assert_eq!(offsets(&history.newest_since(0, 10, 1000)), [2]);
    }
}
