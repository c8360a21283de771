//! The places that people take in a community: one per person, however many connections they have, on however many
//! nodes.

use chat::PersonId;
use std::collections::HashSet;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// People with a connection to this node.
    here: usize,
    /// People with a device on another node, as that node reports.
    elsewhere: HashSet<PersonId>,
    /// Those of them who also have a connection to this node.
    both: usize,
}

impl Places {
    /// Returns the number of people on all nodes.
    pub(super) fn taken(&self) -> usize {
        self.here + self.elsewhere.len() - self.both
    }

    pub(super) fn is_anybody_here(&self) -> bool {
        self.here > 0
    }

    pub(super) fn is_elsewhere(&self, person: &PersonId) -> bool {
        self.elsewhere.contains(person)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.here == 0 && self.elsewhere.is_empty()
    }

    /// A person's first connection to this node has begun.
    pub(super) fn come(&mut self, person: &PersonId) {
        self.here += 1;
        self.both += usize::from(self.is_elsewhere(person));
    }

    /// A person's last connection to this node has ended.
    pub(super) fn go(&mut self, person: &PersonId) {
        self.here -= 1;
        self.both -= usize::from(self.is_elsewhere(person));
    }

    /// A person's first device on another node has appeared; `is_here` says whether they have a connection to this one.
    pub(super) fn come_elsewhere(&mut self, person: &PersonId, is_here: bool) {
        let is_new = self.elsewhere.insert(person.clone());
        self.both += usize::from(is_new && is_here);
    }

    /// A person's last device on another node has disappeared; `is_here` says whether they have a connection to this
    /// one.
    pub(super) fn go_elsewhere(&mut self, person: &PersonId, is_here: bool) {
        let was_there = self.elsewhere.remove(person);
        self.both -= usize::from(was_there && is_here);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::somebody;

    #[test]
    fn each_person_counts_once_in_whatever_order_they_come_and_go() {
        let (ann, bob) = (somebody("ann"), somebody("bob"));
        let mut places = Places::default();
        places.come(&ann);
        places.come_elsewhere(&ann, true);
        places.come_elsewhere(&ann, true);
        assert_eq!(places.taken(), 1);
        places.come_elsewhere(&bob, false);
        places.come(&bob);
        assert_eq!(places.taken(), 2);
        places.go(&ann);
        places.go_elsewhere(&bob, true);
        places.go_elsewhere(&bob, true);
        assert_eq!((places.taken(), places.is_elsewhere(&ann), places.is_elsewhere(&bob)), (2, true, false));
        places.go(&bob);
        assert!(!places.is_anybody_here() && !places.is_empty());
        places.go_elsewhere(&ann, false);
        assert!(places.is_empty() && places.taken() == 0);
    }
}
