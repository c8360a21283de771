//! A shard's part of one topic: its members, dense, and the publications that are being delivered to them.
//!
//! A pass over the members is a cursor: members before it have been served, the others have not. Join and leave are
//! O(1) at any point of a pass. A new member is appended, and its join sequence keeps older publications from it. A
//! removal before the cursor moves the last served member into the hole, so no member is skipped or served twice.

use crate::backlog::{Backlog, Encoded, Pass, Queued, SpareBacklogs};
use crate::follow::Follow;
use crate::frames::{DIALECTS, Dialect};
use crate::ids::{InterestEpoch, JoinInstance, Micros, Sequence};
use crate::member::Member;
use crate::members::Members;
use crate::named::Named;
use crate::owners::OwnerId;
use crate::planted::PlantedBug;
use crate::publication::Publication;
use crate::sizes::{TopicBytes, block_bytes};
use std::sync::Arc;

/// Whether the topic's home sends publications here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interest {
    None,
    /// The home has not confirmed this request yet.
    Requested(InterestEpoch),
    Confirmed,
}

pub(crate) struct Topic {
    pub(crate) name: Arc<str>,
    /// Whose share of the fan-out its publications count against.
    pub(crate) owner: OwnerId,
    /// Joins in any state, including members; the topic exists while there is one.
    pub(crate) joins: u32,
    members: Members,
    newest: Sequence,
    /// Publications that are being delivered; `None` while there are none.
    backlog: Option<Box<Backlog>>,
    rare: Option<Box<Rare>>,
    /// The bytes that the shard's counters include for this topic.
    pub(crate) accounted: TopicBytes,
    /// Whether the home sends publications here.
    is_confirmed: bool,
    /// Whether the hub has this topic on its list of topics with work.
    pub(crate) active: bool,
}

/// State that most topics do not have most of the time.
#[derive(Default)]
struct Rare {
    /// The request to the home and the joins that wait for it, until the home has confirmed.
    waiting: Option<Waiting>,
    /// State that only a recoverable topic has.
    follow: Option<Box<Follow>>,
}

/// Returns the memory of the block through which a recoverable topic points to its state.
pub(crate) fn rare_bytes() -> usize {
    block_bytes(size_of::<Rare>())
}

/// Accepted joins that wait for the home's confirmation of a request; some may have ended meanwhile.
struct Waiting {
    epoch: InterestEpoch,
    joins: Vec<(u32, JoinInstance)>,
}

impl Named for Topic {
    fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl Topic {
    pub(crate) fn new(name: Arc<str>, owner: OwnerId, is_recoverable: bool) -> Topic {
        let follow = is_recoverable.then(Box::default);
        Topic {
            name,
            owner,
            joins: 0,
            members: Members::default(),
            newest: Sequence::default(),
            backlog: None,
            rare: follow.map(|follow| Box::new(Rare { waiting: None, follow: Some(follow) })),
            accounted: TopicBytes::default(),
            is_confirmed: false,
            active: false,
        }
    }

    /// Returns the memory it takes now.
    pub(crate) fn bytes(&self) -> TopicBytes {
        TopicBytes::of(
            self.members.bytes(self.accounted.members as usize),
            self.backlog.as_deref().map_or(0, Backlog::memory),
        )
    }

    /// Returns the state that only a recoverable topic has.
    pub(crate) fn follow(&self) -> Option<&Follow> {
        self.rare.as_deref()?.follow.as_deref()
    }

    /// Returns the state that only a recoverable topic has.
    pub(crate) fn follow_mut(&mut self) -> Option<&mut Follow> {
        self.rare.as_deref_mut()?.follow.as_deref_mut()
    }

    pub(crate) fn interest(&self) -> Interest {
        match self.rare.as_deref().and_then(|rare| rare.waiting.as_ref()) {
            _ if self.is_confirmed => Interest::Confirmed,
            Some(waiting) => Interest::Requested(waiting.epoch),
            None => Interest::None,
        }
    }

    /// Notes a request to the home, and the accepted join that waits for its confirmation.
    pub(crate) fn request(&mut self, epoch: InterestEpoch, slot: u32, instance: JoinInstance) {
        let waiting = Waiting { epoch, joins: vec![(slot, instance)] };
        self.rare.get_or_insert_default().waiting = Some(waiting);
    }

    /// Adds another accepted join that waits for the home's confirmation.
    pub(crate) fn wait(&mut self, slot: u32, instance: JoinInstance) {
        if let Some(waiting) = self.rare.as_deref_mut().and_then(|rare| rare.waiting.as_mut()) {
            waiting.joins.push((slot, instance));
        }
    }

    /// Handles the home's confirmation. Returns the joins that waited, or `None` if it confirms another request.
    pub(crate) fn confirm(&mut self, epoch: InterestEpoch) -> Option<Vec<(u32, JoinInstance)>> {
        let rare = self.rare.as_deref_mut()?;
        let waiting = rare.waiting.take_if(|waiting| waiting.epoch == epoch)?;
        self.rare.take_if(|rare| rare.follow.is_none());
        self.is_confirmed = true;
        Some(waiting.joins)
    }

    pub(crate) fn members(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn queued(&self) -> usize {
        self.backlog.as_deref().map_or(0, Backlog::len)
    }

    /// Adds a member, which gets only later publications, and returns its place.
    pub(crate) fn add_member(&mut self, slot: u32, dialect: Dialect, intercepts: bool) -> u32 {
        self.members.push(Member::new(slot, dialect, intercepts, self.newest));
        (self.members.len() - 1) as u32
    }

    /// Removes the member at `place`. Calls `moved(slot, place)` for each member that moves to another place.
    pub(crate) fn remove_member(&mut self, place: u32, mut moved: impl FnMut(u32, u32)) {
        let mut hole = place as usize;
        if let Some(backlog) = self.backlog.as_deref_mut().filter(|backlog| hole < backlog.cursor)
            && !PlantedBug::CursorSkipsAfterRemoval.is_planted()
        {
            backlog.cursor -= 1;
            if hole != backlog.cursor {
                self.members[hole] = self.members[backlog.cursor];
                moved(self.members[hole].slot, hole as u32);
            }
            hole = backlog.cursor;
        }
        self.members.swap_remove(hole);
        if let Some(member) = self.members.get(hole) {
            moved(member.slot, hole as u32);
        }
    }

    /// Queues a publication with the encodings that exist already. Returns `false` if the queue is full; the
    /// publication is then dropped.
    pub(crate) fn enqueue(
        &mut self,
        spare: &mut SpareBacklogs,
        publication: Arc<Publication>,
        skip: Option<u32>,
        encoded: Option<(Dialect, Encoded)>,
    ) -> bool {
        let sequence = Sequence(self.newest.0 + 1);
        let backlog = self.backlog.get_or_insert_with(|| spare.take());
        let has_room = backlog.push(publication, sequence, skip, encoded);
        if has_room {
            self.newest = sequence;
        }
        has_room
    }

    /// Takes the next sequence for a publication that is meant for the current members but queued later.
    pub(crate) fn take_sequence(&mut self) -> Sequence {
        self.newest = Sequence(self.newest.0 + 1);
        self.newest
    }

    /// Returns whether there is a member that gets publications with this sequence.
    pub(crate) fn has_members_before(&self, sequence: Sequence) -> bool {
        self.members.iter().any(|member| member.joined < sequence)
    }

    /// Like [`Topic::enqueue`], with a sequence that was taken before.
    pub(crate) fn enqueue_as(
        &mut self,
        spare: &mut SpareBacklogs,
        publication: Arc<Publication>,
        sequence: Sequence,
    ) -> bool {
        self.backlog.get_or_insert_with(|| spare.take()).push(publication, sequence, None, None)
    }

    /// Starts a pass with the oldest publications, unless one is in progress. Returns `None` if nothing is queued.
    pub(crate) fn begin_pass(&mut self) -> Option<Pass> {
        self.backlog.as_deref_mut().map(Backlog::begin_pass)
    }

    /// Returns the publications of the current pass, and their frames joined into one write per dialect.
    pub(crate) fn batch(&mut self) -> Option<(&mut [Queued], &mut [Encoded; DIALECTS])> {
        self.backlog.as_deref_mut().map(Backlog::batch)
    }

    /// Passes the members from the cursor on, at most `max`, to `serve`, which returns how many of the first it has
    /// served, and advances the cursor past those. Returns their number.
    pub(crate) fn serve(&mut self, max: usize, serve: impl FnOnce(&[Member]) -> usize) -> usize {
        let Some(backlog) = self.backlog.as_deref_mut() else { return 0 };
        let members = self.members.get(backlog.cursor..).unwrap_or_default();
        let served = serve(&members[..members.len().min(max)]);
        backlog.cursor += served;
        served
    }

    /// Returns the member at the cursor and advances the cursor.
    pub(crate) fn next_member(&mut self) -> Option<Member> {
        let backlog = self.backlog.as_deref_mut()?;
        let member = *self.members.get(backlog.cursor)?;
        backlog.cursor += 1;
        Some(member)
    }

    pub(crate) fn is_pass_complete(&self) -> bool {
        self.backlog.as_deref().is_some_and(|backlog| backlog.cursor >= self.members.len())
    }

    /// Ends the pass, calls `walked` with the time at which each of its publications was received, and returns an empty
    /// backlog to `spare`.
    pub(crate) fn end_pass(&mut self, spare: &mut SpareBacklogs, walked: impl FnMut(Micros)) {
        if let Some(mut backlog) = self.backlog.take() {
            backlog.end_pass().for_each(walked);
            if backlog.len() > 0 {
                self.backlog = Some(backlog);
            } else {
                spare.put(backlog);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Transport;
    use crate::limits::TOPIC_QUEUE_BYTES_MAX;
    use crate::outgoing::Outgoing;
    use bytes::Bytes;
    use proptest::prelude::*;
    use proto::phoenix::Version;

    const DIALECT: Dialect = Dialect { version: Version::V2, transport: Transport::WebSocket };

    #[test]
    fn a_topic_stays_within_its_bytes() {
        assert!(size_of::<Option<Topic>>() <= 80, "{} bytes", size_of::<Option<Topic>>());
    }

    fn topic_with(members: u32) -> Topic {
        let mut topic = Topic::new("t".into(), OwnerId::NOBODY, false);
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

    fn enqueue(
        topic: &mut Topic,
        publication: Arc<Publication>,
        encoded: Option<(Dialect, Encoded)>,
    ) -> bool {
        topic.enqueue(&mut SpareBacklogs::default(), publication, None, encoded)
    }

    fn publish(topic: &mut Topic) {
        assert!(enqueue(topic, publication(2), None));
        topic.begin_pass();
    }

    /// Completes the current pass, or the next one.
    fn complete_pass(topic: &mut Topic) -> usize {
        topic.begin_pass();
        while topic.next_member().is_some() {}
        let mut walked = 0;
        topic.end_pass(&mut SpareBacklogs::default(), |_| walked += 1);
        walked
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
                    assert_eq!(
                        places[member.slot as usize] as usize,
                        topic.backlog.as_deref().expect("a pass").cursor - 1
                    );
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
        let (batch, _) = topic.batch().expect("a pass");
        assert!(batch[0].is_for(first));
        assert!(!batch[0].is_for(second));
    }

    #[test]
    fn a_queue_is_bounded_in_bytes_and_has_room_again_after_a_pass() {
        let mut topic = topic_with(1);
        let large = publication(TOPIC_QUEUE_BYTES_MAX / 2);
        assert!(enqueue(&mut topic, large.clone(), None));
        assert!(!enqueue(&mut topic, large.clone(), None), "two and their events are more than the bound");
        assert!(enqueue(&mut topic, publication(2), None), "a small one still fits");
        assert_eq!(complete_pass(&mut topic), 1);
        assert!(enqueue(&mut topic, large, None));
    }

    #[test]
    fn one_publication_larger_than_the_bound_is_taken_alone() {
        let mut topic = topic_with(1);
        assert!(enqueue(&mut topic, publication(TOPIC_QUEUE_BYTES_MAX + 1), None));
        assert!(!enqueue(&mut topic, publication(0), None));
    }

    #[test]
    fn the_frame_that_a_publication_comes_with_counts_against_the_bound() {
        let mut topic = topic_with(1);
        let frame = || Some((DIALECT, Encoded::Frame(Bytes::from(vec![0; TOPIC_QUEUE_BYTES_MAX / 2]))));
        assert!(enqueue(&mut topic, publication(0), frame()));
        assert!(!enqueue(&mut topic, publication(0), frame()));
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
                    Some(bytes) => assert!(enqueue(&mut topic, publication(bytes), None)),
                    None if topic.queued() > 0 => drop(complete_pass(&mut topic)),
                    None => {}
                }
                topic.backlog.as_deref().inspect(|backlog| backlog.assert_sum());
            }
            while topic.queued() > 0 {
                complete_pass(&mut topic);
            }
            assert!(topic.backlog.is_none(), "it was given back");
        }
    }
}
