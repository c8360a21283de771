//! The topics that have publications on their way, in turn; crowds apart from the few, so that a driver can let crowds
//! wait.

use crate::ids::TopicId;
use std::collections::VecDeque;

/// Which publications a pump delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Those of topics with fewer members on this shard than [`crate::Limits::crowd_members_min`].
    Few,
    /// All.
    All,
}

/// What a pump has left to deliver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// To topics with few members, or something to ask of the bus.
    pub to_few: bool,
    /// To crowds.
    pub to_crowds: bool,
}

impl Pending {
    /// Whether there is anything.
    #[must_use]
    pub fn any(self) -> bool {
        self.to_few || self.to_crowds
    }
}

/// A topic stands in one of the two lines, once.
#[derive(Default)]
pub(crate) struct Active {
    few: VecDeque<TopicId>,
    crowds: VecDeque<TopicId>,
    /// The lines take turns.
    crowd_is_next: bool,
}

impl Active {
    pub(crate) fn push(&mut self, id: TopicId, is_crowd: bool) {
        if is_crowd { self.crowds.push_back(id) } else { self.few.push_back(id) }
    }

    /// The topic whose turn it is.
    pub(crate) fn pop(&mut self, reach: Reach) -> Option<TopicId> {
        if reach == Reach::Few {
            return self.few.pop_front();
        }
        self.crowd_is_next = !self.crowd_is_next;
        if self.crowd_is_next {
            self.few.pop_front().or_else(|| self.crowds.pop_front())
        } else {
            self.crowds.pop_front().or_else(|| self.few.pop_front())
        }
    }

    pub(crate) fn pending(&self) -> Pending {
        Pending { to_few: !self.few.is_empty(), to_crowds: !self.crowds.is_empty() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crowds_and_few_take_turns_and_crowds_wait_where_they_are_told_to() {
        let mut active = Active::default();
        for (id, is_crowd) in [(1, true), (2, true), (3, false), (4, false), (5, false)] {
            active.push(TopicId(id), is_crowd);
        }
        assert_eq!(active.pop(Reach::Few), Some(TopicId(3)));
        let all = std::iter::from_fn(|| active.pop(Reach::All)).map(|id| id.0).collect::<Vec<_>>();
        assert_eq!(all, [4, 1, 5, 2]);
        active.push(TopicId(6), true);
        assert_eq!(active.pop(Reach::Few), None);
        assert_eq!(active.pending(), Pending { to_few: false, to_crowds: true });
    }
}
