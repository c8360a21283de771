//! Publications that are being delivered to a topic's members, and the progress of their delivery. Most topics have
//! none: a backlog exists only while there are some, and is then returned to the shard for the next topic that needs
//! one.

use crate::frames::{DIALECTS, Dialect};
use crate::ids::{Micros, Sequence};
use crate::limits::{TOPIC_QUEUE_BYTES_MAX, TOPIC_QUEUE_MAX, WALK_BATCH_BYTES_MAX, WALK_BATCH_MAX};
use crate::member::Member;
use crate::planted::PlantedBug;
use crate::publication::Publication;
use crate::sizes::block_bytes;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// A publication that is being delivered, with its encodings so far.
pub(crate) struct Queued {
    pub(crate) publication: Arc<Publication>,
    sequence: Sequence,
    /// A member that does not get it from the pass: it is the sender, or was served at once.
    skip: Option<u32>,
    /// Its share of the queue's bytes.
    bytes: usize,
    pub(crate) frames: [Encoded; DIALECTS],
}

#[derive(Clone, Debug, Default)]
pub(crate) enum Encoded {
    #[default]
    NotYet,
    Frame(Bytes),
    /// The dialect cannot carry it.
    Impossible,
}

impl Encoded {
    fn len(&self) -> usize {
        match self {
            Encoded::Frame(frame) => frame.len(),
            Encoded::NotYet | Encoded::Impossible => 0,
        }
    }
}

/// A summary of a pass by which nearly every member is known at once to get all of it.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    /// The number of publications in the pass.
    pub(crate) publications: u32,
    /// The sequence of the oldest of them; zero if several members are left out, so that no member takes the shortcut.
    oldest: Sequence,
    /// The slot of the one member that is left out, or [`NOBODY`].
    skip: u64,
}

/// No slot.
const NOBODY: u64 = u64::MAX;

impl Pass {
    /// Returns whether all of the pass is for this member; if not, each publication is checked.
    pub(crate) fn is_all_for(self, member: Member) -> bool {
        self.oldest > member.joined && self.skip != u64::from(member.slot)
    }
}

impl Queued {
    /// Creates one that is in no queue, to be encoded for several members.
    pub(crate) fn alone(publication: Arc<Publication>) -> Queued {
        let (sequence, frames) = (Sequence::default(), std::array::from_fn(|_| Encoded::NotYet));
        Queued { publication, sequence, skip: None, bytes: 0, frames }
    }

    pub(crate) fn is_for(&self, member: Member) -> bool {
        let later = self.sequence > member.joined || PlantedBug::JoinSeesEarlierPublication.is_planted();
        later && self.skip != Some(member.slot)
    }
}

/// The publications that are being delivered to one topic's members; a pass takes the oldest of them to each member.
#[derive(Default)]
pub(crate) struct Backlog {
    queue: VecDeque<Queued>,
    /// Total bytes of the queue.
    bytes: usize,
    /// Members before the cursor have been served by the pass.
    pub(crate) cursor: usize,
    /// How many of the queue are in the pass; 0 when none is in progress.
    batch: usize,
    together: [Encoded; DIALECTS],
}

impl Backlog {
    pub(crate) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns the memory it takes, including publications and frames.
    pub(crate) fn memory(&self) -> usize {
        let list = block_bytes(self.queue.capacity() * size_of::<Queued>());
        block_bytes(size_of::<Backlog>()) + list + self.bytes
    }

    #[cfg(test)]
    pub(crate) fn assert_sum(&self) {
        assert_eq!(self.bytes, self.queue.iter().map(|queued| queued.bytes).sum::<usize>());
    }

    /// Appends a publication with the encodings that exist already. Returns `false` if there is no room; an empty queue
    /// always has room.
    pub(crate) fn push(
        &mut self,
        publication: Arc<Publication>,
        sequence: Sequence,
        skip: Option<u32>,
        encoded: Option<(Dialect, Encoded)>,
    ) -> bool {
        let mut frames = std::array::from_fn(|_| Encoded::NotYet);
        let mut bytes = publication.event.len() + publication.payload.len();
        if let Some((dialect, encoded)) = encoded {
            bytes += encoded.len();
            frames[dialect.index()] = encoded;
        }
        let too_many = self.queue.len() >= TOPIC_QUEUE_MAX;
        let too_large = !self.queue.is_empty() && self.bytes + bytes > TOPIC_QUEUE_BYTES_MAX;
        if too_many || too_large {
            return false;
        }
        self.bytes += bytes;
        self.queue.push_back(Queued { publication, sequence, skip, bytes, frames });
        true
    }

    /// Starts a pass with the oldest publications, unless one is in progress.
    pub(crate) fn begin_pass(&mut self) -> Pass {
        if self.batch == 0 {
            let mut bytes = 0;
            let fits = self.queue.iter().take(WALK_BATCH_MAX).take_while(|queued| {
                bytes += queued.publication.payload.len();
                bytes <= WALK_BATCH_BYTES_MAX
            });
            self.batch = fits.count().max(1).min(self.queue.len());
        }
        self.pass()
    }

    /// Summarizes the current pass.
    fn pass(&self) -> Pass {
        let queued = self.queue.iter().take(self.batch);
        let mut skips = queued.clone().filter_map(|queued| queued.skip);
        let skip = skips.next();
        // Usually the first one, except when an owed gap was queued.
        let oldest = match queued.map(|queued| queued.sequence).min() {
            Some(oldest) if skips.all(|other| Some(other) == skip) => oldest,
            _ => Sequence::default(),
        };
        Pass { publications: self.batch as u32, oldest, skip: skip.map_or(NOBODY, u64::from) }
    }

    /// Returns the publications of the pass, and their frames joined into one write per dialect.
    pub(crate) fn batch(&mut self) -> (&mut [Queued], &mut [Encoded; DIALECTS]) {
        let batch = self.batch;
        (&mut self.queue.make_contiguous()[..batch], &mut self.together)
    }

    /// Ends the pass and iterates over the times at which its publications were received.
    pub(crate) fn end_pass(&mut self) -> impl Iterator<Item = Micros> + '_ {
        self.cursor = 0;
        self.together = std::array::from_fn(|_| Encoded::NotYet);
        let batch = std::mem::take(&mut self.batch);
        self.bytes -= self.queue.iter().take(batch).map(|queued| queued.bytes).sum::<usize>();
        self.queue.drain(..batch).map(|queued| queued.publication.received)
    }
}

/// A pool of empty backlogs, so that a topic that takes and returns one does not use the allocator.
#[derive(Default)]
pub(crate) struct SpareBacklogs {
    #[expect(clippy::vec_box, reason = "a topic takes and gives the box, not what is in it")]
    kept: Vec<Box<Backlog>>,
    bytes: usize,
}

/// Above this number, backlogs are freed: a shard rarely has more topics with publications at once.
const SPARE_MAX: usize = 256;
/// A queue with a larger capacity than this is freed.
const SPARE_QUEUE_MAX: usize = 8;

impl SpareBacklogs {
    /// Returns an empty backlog.
    pub(crate) fn take(&mut self) -> Box<Backlog> {
        let backlog = self.kept.pop().unwrap_or_default();
        self.bytes = self.bytes.saturating_sub(backlog.memory());
        backlog
    }

    /// Returns an empty backlog to the pool.
    pub(crate) fn put(&mut self, mut backlog: Box<Backlog>) {
        debug_assert!(backlog.queue.is_empty() && backlog.batch == 0, "a backlog is given back empty");
        if self.kept.len() >= SPARE_MAX {
            return;
        }
        if backlog.queue.capacity() > SPARE_QUEUE_MAX {
            backlog.queue = VecDeque::new();
        }
        self.bytes += backlog.memory();
        self.kept.push(backlog);
    }

    /// Returns the memory of the pool, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        block_bytes(self.kept.capacity() * size_of::<Box<Backlog>>()) + self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outgoing::Outgoing;

    fn publication() -> Arc<Publication> {
        let payload = Outgoing::from(vec![0; 10]);
        let received = Micros(0);
        Arc::new(Publication { topic: "t".into(), event: "e".into(), payload, received, place: None })
    }

    fn used(spare: &mut SpareBacklogs, publications: u64) -> Box<Backlog> {
        let mut backlog = spare.take();
        for at in 1..=publications {
            assert!(backlog.push(publication(), Sequence(at), None, None));
        }
        while backlog.len() > 0 {
            backlog.begin_pass();
            backlog.end_pass().for_each(drop);
        }
        backlog
    }

    #[test]
    fn what_was_given_back_is_given_out_again_with_its_room() {
        let mut spare = SpareBacklogs::default();
        let first = used(&mut spare, 1);
        let (address, memory) = (std::ptr::from_ref(&*first), first.memory());
        spare.put(first);
        assert_eq!(spare.bytes, memory);
        let again = used(&mut spare, 1);
        assert_eq!((std::ptr::from_ref(&*again), again.memory()), (address, memory));
        assert_eq!(spare.bytes, 0);
    }

    #[test]
    fn a_pass_is_as_old_as_the_oldest_in_it_wherever_that_stands() {
        let mut backlog = Backlog::default();
        for sequence in [4, 3, 5] {
            assert!(backlog.push(publication(), Sequence(sequence), None, None));
        }
        assert_eq!(backlog.begin_pass().oldest, Sequence(3));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut spare = SpareBacklogs::default();
        let used: Vec<_> = (0..SPARE_MAX + 10).map(|_| used(&mut spare, 100)).collect();
        used.into_iter().for_each(|backlog| spare.put(backlog));
        assert_eq!(spare.kept.len(), SPARE_MAX);
        assert!(spare.bytes() < SPARE_MAX * 1024, "{}", spare.bytes());
    }
}
