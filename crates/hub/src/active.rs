//! The topics that have publications to deliver. Owners take turns, and each owner's topics take turns; crowds are kept
//! apart from topics with few members, so that a driver can delay them.

use crate::ids::TopicId;
use crate::owners::OwnerId;
use crate::sizes::block_bytes;
use std::collections::VecDeque;

/// Which publications a pump delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only those of topics with fewer members on this shard than [`crate::Limits::crowd_members_min`].
    Few,
    /// All.
    All,
}

/// What is left after a pump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// Deliveries to topics with few members, or requests to send to the bus.
    pub to_few: bool,
    /// Deliveries to crowds.
    pub to_crowds: bool,
}

impl Pending {
    /// Returns whether anything is left.
    #[must_use]
    pub fn any(self) -> bool {
        self.to_few || self.to_crowds
    }
}

/// A topic is in one of the two lines, once.
#[derive(Default)]
pub(crate) struct Active {
    few: Line,
    crowds: Line,
    /// The lines take turns.
    crowd_is_next: bool,
}

/// Owners take turns, and so do the topics of each owner: an owner with many topics delays only itself.
#[derive(Default)]
struct Line {
    turns: VecDeque<OwnerId>,
    /// By owner.
    topics: Vec<VecDeque<TopicId>>,
}

impl Line {
    fn push(&mut self, owner: OwnerId, topic: TopicId) {
        if self.topics.len() <= owner.index() {
            self.topics.resize_with(owner.index() + 1, VecDeque::new);
        }
        let own = &mut self.topics[owner.index()];
        if own.is_empty() {
            self.turns.push_back(owner);
        }
        own.push_back(topic);
    }

    fn pop(&mut self) -> Option<TopicId> {
        let owner = self.turns.pop_front()?;
        let own = &mut self.topics[owner.index()];
        let topic = own.pop_front();
        if !own.is_empty() {
            self.turns.push_back(owner);
        }
        topic
    }

    fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }
}

impl Active {
    pub(crate) fn push(&mut self, owner: OwnerId, topic: TopicId, is_crowd: bool) {
        if is_crowd { self.crowds.push(owner, topic) } else { self.few.push(owner, topic) }
    }

    /// Returns the topic whose turn it is.
    pub(crate) fn pop(&mut self, reach: Reach) -> Option<TopicId> {
        if reach == Reach::Few {
            return self.few.pop();
        }
        self.crowd_is_next = !self.crowd_is_next;
        if self.crowd_is_next {
            self.few.pop().or_else(|| self.crowds.pop())
        } else {
            self.crowds.pop().or_else(|| self.few.pop())
        }
    }

    pub(crate) fn pending(&self) -> Pending {
        Pending { to_few: !self.few.is_empty(), to_crowds: !self.crowds.is_empty() }
    }

    /// Returns the memory of the lines, including the entries of owners with nothing to deliver, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lines = [&self.few, &self.crowds];
        lines.iter().map(|line| block_bytes(line.topics.capacity() * size_of::<VecDeque<TopicId>>())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hashing::SecretHash;
    use crate::owners::Owners;

    #[test]
    fn crowds_and_few_take_turns_and_crowds_wait_where_they_are_told_to() {
        let mut active = Active::default();
        let nobody = OwnerId::NOBODY;
        for (id, is_crowd) in [(1, true), (2, true), (3, false), (4, false), (5, false)] {
            active.push(nobody, TopicId(id), is_crowd);
        }
        assert_eq!(active.pop(Reach::Few), Some(TopicId(3)));
        let all = std::iter::from_fn(|| active.pop(Reach::All)).map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(all, [4, 1, 5, 2]);
        active.push(nobody, TopicId(6), true);
        assert_eq!(active.pop(Reach::Few), None);
        assert_eq!(active.pending(), Pending { to_few: false, to_crowds: true });
    }

    #[test]
    fn an_owner_of_one_topic_waits_for_one_topic_of_an_owner_of_many() {
        fn itself(topic: &str) -> Option<&str> {
            Some(topic)
        }
        let mut owners = Owners::new(SecretHash(7));
        owners.read_by(itself);
        let (many, one) = (owners.add("many"), owners.add("one"));
        let mut active = Active::default();
        (0..1_000).for_each(|id| active.push(many, TopicId(id), false));
        // Its turn is in progress.
        assert_eq!(active.pop(Reach::All), Some(TopicId(0)));
        active.push(one, TopicId(5_000), false);
        let next: Vec<_> = (0..3).filter_map(|_| active.pop(Reach::All)).collect();
        assert_eq!(next, [TopicId(1), TopicId(5_000), TopicId(2)]);
        let rest = std::iter::from_fn(|| active.pop(Reach::All)).map(|id| id.0);
        assert!(rest.eq(3..1_000), "each once, in turn");
    }
}
