//! What is done for all communities at once. Each part is locked for itself, one after the other: what is returned is no
//! snapshot of one moment.

use super::due::{Due, Overdue};
use super::{Audience, lock};
use chat::{CommunityId, ConversationId, Moment, PersonId, Seq};
use gateway::NodeId;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

impl Audience {
    /// Ends what has expired and takes what is due: announcements, updates for conversations tabs, and what the other
    /// nodes are to be sent, if there are any.
    pub(crate) fn sweep(&self, now: Instant, moment: Moment, has_nodes: bool) -> Due {
        let mut due = Due { has_nodes, ..Due::default() };
        for part in &self.parts {
            let mut part = lock(part);
            part.retain(|community, state| {
                state.sweep(community, now, moment, &mut due);
                !state.is_empty()
            });
        }
        due
    }

    /// Returns when everybody here was last seen; for those who are not invisible, that is now.
    pub(crate) fn everybody_seen(&self, now: Moment) -> Vec<(CommunityId, PersonId, Moment)> {
        let mut everybody = Vec::new();
        for part in &self.parts {
            for (community, state) in lock(part).iter_mut() {
                let seen = state.everybody_seen(now);
                everybody.extend(seen.into_iter().map(|(person, seen)| (community.clone(), person, seen)));
            }
        }
        everybody
    }

    /// Takes what has to be read again from the store.
    pub(crate) fn overdue(&self) -> Overdue {
        let mut overdue = Overdue::default();
        for part in &self.parts {
            for (community, state) in lock(part).iter_mut() {
                state.overdue(community, &mut overdue);
            }
        }
        overdue.in_order()
    }

    /// Marks the reports of a node, or with `None` of all nodes, as doubtful until they are repeated.
    pub(crate) fn doubt_abroad(&self, node: Option<NodeId>) {
        for part in &self.parts {
            lock(part).values_mut().for_each(|state| state.abroad.doubt(node));
        }
    }

    /// Returns the nodes that have reported people who are still known.
    pub(crate) fn abroad(&self) -> HashSet<NodeId> {
        let mut nodes = HashSet::new();
        for part in &self.parts {
            lock(part).values().for_each(|state| nodes.extend(state.abroad.nodes()));
        }
        nodes
    }

    /// Marks everybody here to be reported to the other nodes in the next rounds.
    pub(crate) fn tell_everybody(&self) {
        for part in &self.parts {
            let mut part = lock(part);
            let people = part.values_mut().flat_map(|state| state.people.values_mut());
            people.for_each(|present| present.is_news = true);
        }
    }

    /// Counts communities, people, devices and open rooms.
    pub(crate) fn counts(&self) -> [u64; 4] {
        let mut counts = [0; 4];
        for part in &self.parts {
            for state in lock(part).values() {
                let [people, devices, rooms] = state.counts();
                counts[0] += u64::from(state.is_active());
                counts[1] += people;
                counts[2] += devices;
                counts[3] += rooms;
            }
        }
        counts
    }

    /// Returns the heads of all open rooms, for clients that may have missed something.
    pub(crate) fn heads(&self) -> Vec<(Arc<str>, ConversationId, Seq)> {
        let mut heads = Vec::new();
        for part in &self.parts {
            for state in lock(part).values() {
                state.heads(&mut heads);
            }
        }
        heads.sort_unstable();
        heads
    }
}
