//! Who is where: each node tells the others of its own people, and forgets those of nodes that are gone.
//!
//! A node tells what changed once a second. Who comes, or has missed something, asks; then everybody tells of all their people,
//! and says when that is all, and since which of its numbers: of whom a node has not told by then is not there any more, for
//! those who heard all of it. What began while somebody could not hear it is not all to them. Whoever hears that people are
//! gone only marks them; a thread of its own loses them, a few at a time.

use super::Nodes;
use crate::audience::{Audience, Due, LEASE, Told};
use crate::messenger::Inner;
use chat::{CommunityId, PersonId};
use gateway::NodeId;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What is to be said, and of whom this node knows.
#[derive(Default)]
pub(super) struct Roster {
    /// Another node asked who is here.
    pub(super) is_asked: AtomicBool,
    /// This node has missed something, and asks who is there.
    pub(super) asks: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: HashSet<NodeId>,
    /// Since when nobody is heard.
    away_since: Option<Instant>,
    /// Somebody asked, and it has not been said that all are told: the number since which they are.
    telling_since: Option<u64>,
}

impl Roster {
    /// The bus is there. Who asked before is still told.
    pub(super) fn up(&self, audience: &Audience) {
        let mut state = self.state();
        state.live = HashSet::new();
        state.away_since = None;
        drop(state);
        audience.doubt_abroad(None);
    }

    /// The bus is away: who is elsewhere is there for a lease yet.
    pub(super) fn down(&self, now: Instant) {
        self.state().away_since.get_or_insert(now);
    }

    /// Who lives. Says who of those that told of people does not.
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
    /// Something of this node is missing: what it told of its people is in doubt, and it is asked.
    pub(super) fn doubt_people_of(&self, audience: &Audience, node: NodeId) {
        audience.doubt_abroad(Some(node));
        self.roster.asks.store(true, Relaxed);
    }
}

impl Inner {
    /// Before a round: who was asked for is told.
    pub(crate) fn prepare_roster(&self) {
        let roster = &self.nodes.roster;
        if roster.is_asked.swap(false, Relaxed) {
            // First: whoever is told of from now on is told with this number or a later one.
            roster.state().telling_since = Some(self.nodes.voice.next_number());
            self.audience.tell_everybody();
        }
    }

    /// Behind a round: the other nodes are told what is due, and asked what is missing.
    pub(crate) fn tell_roster(&self, due: &Due, now: Instant) {
        self.forget_when_away(now);
        if !due.has_nodes {
            return;
        }
        let roster = &self.nodes.roster;
        for of_one in due.told.chunk_by(|(one, _), (other, _)| one == other) {
            let people: Vec<String> = of_one.iter().map(|(_, told)| json!(told).to_string()).collect();
            if let Some((community, _)) = of_one.first() {
                self.nodes.voice.tell_people(&self.out, community, &people);
            }
        }
        let all_told_since = if due.has_more_to_tell { None } else { roster.state().telling_since.take() };
        if let Some(since) = all_told_since {
            self.nodes.voice.say_all_told(&self.out, since);
        }
        if roster.asks.swap(false, Relaxed) {
            self.nodes.voice.say_hello(&self.out);
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

    /// What a node told of its people.
    pub(super) fn hear_people(&self, community: &CommunityId, node: NodeId, people: Vec<Told>) {
        for told in people {
            let announcement = self.audience.hear(community, node, told, &self.mover());
            self.here().announce(&announcement);
        }
    }

    /// Loses some of those who leave because their node is gone, or has not told of them again. Says whether there were any:
    /// then there may be more.
    pub(crate) fn lose_some_people(&self) -> bool {
        let Some(announcements) = self.audience.lose_some(&self.mover()) else { return false };
        let mut here = self.here();
        announcements.iter().for_each(|announcement| here.announce(announcement));
        true
    }

    /// Who has a device elsewhere has a place in their community.
    fn mover(&self) -> impl Fn(&CommunityId, &PersonId, bool) {
        |community, person, has_device| self.entrance.elsewhere(community, person, has_device)
    }
}
