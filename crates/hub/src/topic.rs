//! A shard's part of one topic: its members, dense, and the publications on their way to them.
//!
//! A pass over the members is a cursor: those before it have been served, those from it on have not. Join and leave
//! are O(1) at any moment of a pass: who joins is put at the end, where the join sequence keeps older publications
//! from it, and a removal before the cursor moves the last served member into the hole, so that nobody is passed
//! over and nobody is served twice.

use crate::follow::Follow;
use crate::frames::{DIALECTS, Dialect};
use crate::ids::{InterestEpoch, JoinInstance, Micros};
use crate::limits::{TOPIC_QUEUE_BYTES_MAX, TOPIC_QUEUE_MAX, WALK_BATCH_BYTES_MAX, WALK_BATCH_MAX};
use crate::memory::{TopicBytes, block_bytes, list_bytes};
use crate::owners::OwnerId;
use crate::planted::PlantedBug;
use crate::publication::Publication;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;

/// Counts the publications of one topic on one shard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Sequence(pub(crate) u64);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) slot: u32,
    dialect: u8,
    /// Whether this member's channel looks at some events itself.
    pub(crate) intercepts: bool,
    /// The newest publication at the time of the join; only later ones are for this member.
    joined: Sequence,
}

impl Member {
    pub(crate) fn dialect(self) -> Dialect {
        Dialect::from_index(self.dialect_index())
    }

    /// [`Dialect::index`] of its dialect.
    pub(crate) fn dialect_index(self) -> usize {
        usize::from(self.dialect)
    }
}

/// Whether the topic's home sends publications here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    None,
    /// The home's answer to this request has not come yet.
    Requested(InterestEpoch),
    Confirmed,
}

pub(crate) struct Topic {
    pub(crate) name: Arc<str>,
    /// On whose share of the fan-out its publications go.
    pub(crate) owner: OwnerId,
    pub(crate) interest: Interest,
    /// Joins in any state, members included: the topic lives while there is one.
    pub(crate) joins: u32,
    /// Accepted joins that wait for the home's answer; some may have ended meanwhile.
    pub(crate) waiting: Vec<(u32, JoinInstance)>,
    members: Vec<Member>,
    newest: Sequence,
    queue: VecDeque<Queued>,
    /// The sum over the queue.
    queue_bytes: usize,
    /// How far the pass over the members has come; its publications are the first `batch` of the queue.
    cursor: usize,
    batch: usize,
    together: [Encoded; DIALECTS],
    /// What only a recoverable topic has.
    pub(crate) follow: Option<Box<Follow>>,
    /// Whether the hub has this topic on its list of topics with work.
    pub(crate) active: bool,
    /// What the shard's counters hold of it.
    pub(crate) accounted: TopicBytes,
}

/// A publication on its way, with what was encoded of it so far.
pub(crate) struct Queued {
    pub(crate) publication: Arc<Publication>,
    sequence: Sequence,
    /// A member that is not to get it from the pass: it was the sender, or was served at once.
    skip: Option<u32>,
    /// What it adds to the queue's bytes.
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

/// What tells at a glance, of nearly every member, that it gets all of a pass.
#[derive(Clone, Copy)]
pub(crate) struct Pass {
    /// How many publications it has.
    pub(crate) publications: u32,
    /// The oldest of them; nothing that anybody could be later than, if several members are left out.
    oldest: Sequence,
    /// The one member that is left out.
    skip: Option<u32>,
}

impl Pass {
    /// Whether a member gets all of it, as it is shared; if not, its publications are asked one by one.
    pub(crate) fn is_all_for(self, member: Member) -> bool {
        self.oldest > member.joined && !member.intercepts && self.skip != Some(member.slot)
    }
}

impl Queued {
    /// One that waits in no queue, to be encoded for several members.
    pub(crate) fn alone(publication: Arc<Publication>) -> Queued {
        let (sequence, frames) = (Sequence::default(), std::array::from_fn(|_| Encoded::NotYet));
        Queued { publication, sequence, skip: None, bytes: 0, frames }
    }

    pub(crate) fn is_for(&self, member: Member) -> bool {
        let later = self.sequence > member.joined || PlantedBug::JoinSeesEarlierPublication.is_planted();
        later && self.skip != Some(member.slot)
    }
}

impl Topic {
    pub(crate) fn new(name: Arc<str>, owner: OwnerId) -> Topic {
        Topic {
            name,
            owner,
            interest: Interest::None,
            joins: 0,
            waiting: Vec::new(),
            members: Vec::new(),
            newest: Sequence::default(),
            queue: VecDeque::new(),
            queue_bytes: 0,
            cursor: 0,
            batch: 0,
            together: std::array::from_fn(|_| Encoded::NotYet),
            follow: None,
            active: false,
            accounted: TopicBytes::default(),
        }
    }

    /// What it takes now.
    pub(crate) fn bytes(&self) -> TopicBytes {
        let list = block_bytes(self.queue.capacity() * size_of::<Queued>());
        TopicBytes {
            members: list_bytes(
                self.members.capacity() * size_of::<Member>(),
                self.members.len() * size_of::<Member>(),
                self.accounted.members,
            ),
            publications: list + self.queue_bytes,
        }
    }

    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Adds a member for which only later publications are, and says its place.
    pub(crate) fn add_member(&mut self, slot: u32, dialect: Dialect, intercepts: bool) -> u32 {
        let member = Member { slot, dialect: dialect.index() as u8, intercepts, joined: self.newest };
        self.members.push(member);
        (self.members.len() - 1) as u32
    }

    /// Removes the member at `place`. `moved(slot, place)` is told of each member that got another place.
    pub(crate) fn remove_member(&mut self, place: u32, mut moved: impl FnMut(u32, u32)) {
        let mut hole = place as usize;
        if hole < self.cursor && !PlantedBug::CursorSkipsAfterRemoval.is_planted() {
            self.cursor -= 1;
            if hole != self.cursor {
                self.members[hole] = self.members[self.cursor];
                moved(self.members[hole].slot, hole as u32);
            }
            hole = self.cursor;
        }
        self.members.swap_remove(hole);
        if let Some(member) = self.members.get(hole) {
            moved(member.slot, hole as u32);
        }
        self.shrink();
    }

    /// A crowd that left gives its memory back.
    fn shrink(&mut self) {
        if self.members.capacity() > 1024 && self.members.len() < self.members.capacity() / 4 {
            self.members.shrink_to(self.members.len() * 2);
        }
    }

    /// Puts a publication at the end of the queue, with what was encoded of it already. `false` if the queue is full,
    /// and the publication is dropped.
    pub(crate) fn enqueue(
        &mut self,
        publication: Arc<Publication>,
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
        let too_large = !self.queue.is_empty() && self.queue_bytes + bytes > TOPIC_QUEUE_BYTES_MAX;
        if too_many || too_large {
            return false;
        }
        self.queue_bytes += bytes;
        self.newest = Sequence(self.newest.0 + 1);
        self.queue.push_back(Queued { publication, sequence: self.newest, skip, bytes, frames });
        true
    }

    /// Starts a pass with the oldest publications, if none is under way.
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

    /// The pass that is under way.
    fn pass(&self) -> Pass {
        let queued = self.queue.iter().take(self.batch);
        let mut skips = queued.clone().filter_map(|queued| queued.skip);
        let skip = skips.next();
        let oldest = match queued.clone().next() {
            Some(oldest) if skips.all(|other| Some(other) == skip) => oldest.sequence,
            _ => Sequence::default(),
        };
        Pass { publications: self.batch as u32, oldest, skip }
    }

    /// The publications of this pass, and their frames joined into one write per dialect.
    pub(crate) fn batch(&mut self) -> (&mut [Queued], &mut [Encoded; DIALECTS]) {
        let batch = self.batch;
        (&mut self.queue.make_contiguous()[..batch], &mut self.together)
    }

    /// The member at the cursor, which moves on.
    pub(crate) fn next_member(&mut self) -> Option<Member> {
        let member = *self.members.get(self.cursor)?;
        self.cursor += 1;
        Some(member)
    }

    pub(crate) fn is_pass_complete(&self) -> bool {
        self.cursor >= self.members.len()
    }

    /// Ends the pass and hands out when each of its publications was received.
    pub(crate) fn end_pass(&mut self) -> impl Iterator<Item = Micros> + '_ {
        self.cursor = 0;
        self.together = std::array::from_fn(|_| Encoded::NotYet);
        let batch = std::mem::take(&mut self.batch);
        self.queue_bytes -= self.queue.iter().take(batch).map(|queued| queued.bytes).sum::<usize>();
        self.queue.drain(..batch).map(|queued| queued.publication.received)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Transport;
    use crate::outgoing::Outgoing;
    use proptest::prelude::*;
    use proto::phoenix::Version;

    const DIALECT: Dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };

    fn topic_with(members: u32) -> Topic {
        let mut topic = Topic::new("t".into(), OwnerId::NOBODY);
        for slot in 0..members {
            topic.add_member(slot, DIALECT, false);
        }
        topic
    }

    fn publication(bytes: usize) -> Arc<Publication> {
        Arc::new(Publication {
            topic: "t".into(),
            event: "e".into(),
            payload: Outgoing::from(vec![0; bytes]),
            received: Micros(0),
            place: None,
        })
    }

    fn publish(topic: &mut Topic) {
        assert!(topic.enqueue(publication(2), None, None));
        topic.begin_pass();
    }

    /// Takes the pass that is under way, or the next one, to its end.
    fn complete_pass(topic: &mut Topic) -> usize {
        topic.begin_pass();
        while topic.next_member().is_some() {}
        topic.end_pass().count()
    }

    #[test]
    fn a_member_is_sixteen_bytes() {
        assert_eq!(size_of::<Member>(), 16);
    }

    #[test]
    fn a_removal_behind_the_cursor_skips_nobody_and_repeats_nobody() {
        for served in 0..=6 {
            for removed in 0..6 {
                let mut topic = topic_with(6);
                let mut places: Vec<u32> = (0..6).collect();
                publish(&mut topic);
                let mut seen: Vec<u32> =
                    (0..served).filter_map(|_| topic.next_member()).map(|m| m.slot).collect();
                topic.remove_member(places[removed as usize], |slot, place| places[slot as usize] = place);
                while let Some(member) = topic.next_member() {
                    assert_eq!(places[member.slot as usize] as usize, topic.cursor - 1);
                    seen.push(member.slot);
                }
                seen.sort_unstable();
                let expected: Vec<u32> = (0..6).filter(|&slot| slot != removed || slot < served).collect();
                assert_eq!(seen, expected, "served {served}, removed {removed}");
            }
        }
    }

    #[test]
    fn who_joins_after_a_publication_is_not_given_it() {
        let mut topic = topic_with(1);
        publish(&mut topic);
        topic.add_member(7, DIALECT, false);
        let (first, second) = (topic.members[0], topic.members[1]);
        let (batch, _) = topic.batch();
        assert!(batch[0].is_for(first));
        assert!(!batch[0].is_for(second));
    }

    #[test]
    fn a_queue_is_bounded_in_bytes_and_has_room_again_after_a_pass() {
        let mut topic = topic_with(1);
        let large = publication(TOPIC_QUEUE_BYTES_MAX / 2);
        assert!(topic.enqueue(large.clone(), None, None));
        assert!(!topic.enqueue(large.clone(), None, None), "two and their events are more than the bound");
        assert!(topic.enqueue(publication(2), None, None), "a small one still fits");
        assert_eq!(complete_pass(&mut topic), 1);
        assert!(topic.enqueue(large, None, None));
    }

    #[test]
    fn one_publication_larger_than_the_bound_is_taken_alone() {
        let mut topic = topic_with(1);
        assert!(topic.enqueue(publication(TOPIC_QUEUE_BYTES_MAX + 1), None, None));
        assert!(!topic.enqueue(publication(0), None, None));
    }

    #[test]
    fn the_frame_that_a_publication_comes_with_counts_against_the_bound() {
        let mut topic = topic_with(1);
        let frame = || Some((DIALECT, Encoded::Frame(Bytes::from(vec![0; TOPIC_QUEUE_BYTES_MAX / 2]))));
        assert!(topic.enqueue(publication(0), None, frame()));
        assert!(!topic.enqueue(publication(0), None, frame()));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_sum_of_the_bytes_is_that_of_the_queue(
            sizes in prop::collection::vec(prop::option::of(0usize..100_000), 0..100)
        ) {
            let mut topic = topic_with(1);
            for size in sizes {
                match size {
                    Some(bytes) => assert!(topic.enqueue(publication(bytes), None, None)),
                    None if topic.queued() > 0 => drop(complete_pass(&mut topic)),
                    None => {}
                }
                assert_eq!(topic.queue_bytes, topic.queue.iter().map(|queued| queued.bytes).sum::<usize>());
            }
            while topic.queued() > 0 {
                complete_pass(&mut topic);
            }
            assert_eq!(topic.queue_bytes, 0);
        }
    }
}
