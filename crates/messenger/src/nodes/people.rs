//! Who is on which node: each node reports its own people to the others, and forgets those of nodes that are gone.
//!
//! Once a second a node reports what changed. A node that starts, or has missed something, asks; then every node
//! reports all of its people, and says when it is done, and since which of its message numbers. People it has not
//! reported by then are gone, for those nodes that received all of these messages; a node that missed the beginning
//! does not count it as complete. People who are gone are only marked by the thread that learns it; a separate thread
//! removes them, a few at a time.

use super::Nodes;
use crate::audience::{Audience, Due, LEASE, PersonReport};
use crate::messenger::Inner;
use chat::{CommunityId, PersonId};
use gateway::NodeId;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What is to be sent, and which nodes are known.
#[derive(Default)]
pub(super) struct Roster {
    /// Another node asked who is online here.
    pub(super) is_asked: AtomicBool,
    /// This node has missed something, and asks who is online elsewhere.
    pub(super) asks: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: HashSet<NodeId>,
    /// When the bus went down.
    away_since: Option<Instant>,
    /// The message number since which people are being reported in answer to a request, until the report is complete.
    telling_since: Option<u64>,
}

impl Roster {
    /// The bus is up. Nodes that asked before are still answered.
    pub(super) fn up(&self, audience: &Audience) {
        let mut state = self.state();
        state.live = HashSet::new();
        state.away_since = None;
        drop(state);
        audience.doubt_abroad(None);
    }

    /// The bus is down: people on other nodes are kept for one lease.
    pub(super) fn down(&self, now: Instant) {
        self.state().away_since.get_or_insert(now);
    }

    /// Sets the live nodes. Returns those that have reported people but are gone.
    pub(super) fn live(&self, audience: &Audience, nodes: &[NodeId]) -> Vec<NodeId> {
        let live: HashSet<NodeId> = nodes.iter().copied().collect();
        let mut state = self.state();
        if !live.is_subset(&state.live) {
            self.asks.store(true, Relaxed);
        }
        state.live = live;
        audience.abroad().into_iter().filter(|node| !state.live.contains(node)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Nodes {
    /// A message of this node is missing: what it reported is doubtful, and it is asked again.
    pub(super) fn doubt_people_of(&self, audience: &Audience, node: NodeId) {
        audience.doubt_abroad(Some(node));
        self.roster.asks.store(true, Relaxed);
    }
}

impl Inner {
    /// Before a round: marks everybody to be reported if another node asked.
    pub(crate) fn prepare_roster(&self) {
        let roster = &self.nodes.roster;
        if roster.is_asked.swap(false, Relaxed) {
            // This comes first: whatever is reported from now on has this number or a later one.
            roster.state().telling_since = Some(self.nodes.sender.next_number());
            self.audience.tell_everybody();
        }
    }

    /// After a round: reports what is due to the other nodes, and asks them if something is missing.
    pub(crate) fn tell_roster(&self, due: &Due, now: Instant) {
        self.forget_when_away(now);
        if !due.has_nodes {
            return;
        }
        let roster = &self.nodes.roster;
        for of_one in due.told.chunk_by(|(one, _), (other, _)| one == other) {
            let people: Vec<String> = of_one.iter().map(|(_, told)| json!(told).to_string()).collect();
            if let Some((community, _)) = of_one.first() {
                self.nodes.sender.tell_people(&self.out, community, &people);
            }
        }
        let all_told_since = if due.has_more_to_tell { None } else { roster.state().telling_since.take() };
        if let Some(since) = all_told_since {
            self.nodes.sender.say_all_told(&self.out, since);
        }
        if roster.asks.swap(false, Relaxed) {
            self.nodes.sender.say_hello(&self.out);
        }
    }

    fn forget_when_away(&self, now: Instant) {
        let mut state = self.nodes.roster.state();
        let is_over = state.away_since.is_some_and(|since| now.saturating_duration_since(since) >= LEASE);
        if !is_over {
            return;
        }
        state.away_since = None;
        drop(state);
        for node in self.audience.abroad() {
            self.audience.begin_to_lose(node, true);
        }
    }

    /// Applies a node's report of its people.
    pub(super) fn hear_people(&self, community: &CommunityId, node: NodeId, people: Vec<PersonReport>) {
        for told in people {
            let announcement = self.audience.hear(community, node, told, &self.mover());
            self.here().announce(&announcement);
        }
    }

    /// Removes some of the people whose node is gone, or has not reported them again. Returns whether there were any;
    /// then there may be more.
    pub(crate) fn lose_some_people(&self) -> bool {
        let Some(announcements) = self.audience.lose_some(&self.mover()) else { return false };
        let mut here = self.here();
        announcements.iter().for_each(|announcement| here.announce(announcement));
        true
    }

    /// A person with a device on another node counts towards their community's limit here.
    fn mover(&self) -> impl Fn(&CommunityId, &PersonId, bool) {
        |community, person, has_device| self.entrance.elsewhere(community, person, has_device)
    }
}
