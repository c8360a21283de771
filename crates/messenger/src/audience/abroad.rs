//! People of one community who are on other nodes, as those told of them.
//!
//! A node tells of its own people alone: what they chose, whether they are active, what they follow. What it told last
//! counts; when it is gone, so are its people. Somebody may be here and on other nodes at the same time: their devices
//! everywhere merge as those of one node do.

use super::status::{Activity, Choice, Presence, Status, merged};
use chat::{ConversationId, Moment, PersonId};
use gateway::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a node tells of one of its people.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Told {
    pub(crate) person: PersonId,
    /// `None`: they have no device there any more, and are gone.
    pub(crate) here: Option<There>,
    /// When they were seen last, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<Moment>,
}

/// How somebody is there on a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct There {
    /// Whether one of their devices is in use; `None` between two connections.
    pub(crate) activity: Option<Activity>,
    /// How many devices they have there. An older version does not tell it.
    #[serde(default)]
    pub(crate) devices: usize,
    pub(crate) choice: Choice,
    /// When they chose that; the newest choice counts, wherever it was made.
    pub(crate) chosen: Moment,
    /// What they are in.
    pub(crate) conversations: Vec<ConversationId>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Abroad {
    people: HashMap<PersonId, Traveller>,
    /// Who of them is in a conversation.
    conversations: HashMap<ConversationId, HashSet<PersonId>>,
}

/// Somebody who is on other nodes.
#[derive(Debug, Default)]
struct Traveller {
    nodes: BTreeMap<NodeId, Stay>,
    /// When they were seen last on any of them.
    seen: Option<Moment>,
    /// What people here were told last, while the person is not here.
    told: Status,
}

#[derive(Debug)]
struct Stay {
    there: There,
    belief: Belief,
}

/// Whether what a node told of somebody is believed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Belief {
    Told,
    /// This node has missed something since.
    Doubted,
    /// They are about to be lost, unless the node tells of them before that.
    Leaving,
}

/// What came of what a node told.
pub(super) struct Heard {
    /// What the person is in, or was until now.
    pub(super) places: Vec<ConversationId>,
    /// What they are in since then.
    pub(super) new: Vec<ConversationId>,
    /// Whether they have a device on another node, if they had one before and have none now, or the other way round.
    pub(super) moved: Option<bool>,
}

impl Abroad {
    pub(super) fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// A node told of somebody.
    pub(super) fn hear(&mut self, node: NodeId, told: Told) -> Heard {
        let Told { person, here, seen } = told;
        let had_device = self.has_device(&person);
        let before: HashSet<ConversationId> = self.conversations_of(&person).into_iter().collect();
        let mut new = Vec::new();
        if let Some(there) = here {
            new.extend(there.conversations.iter().filter(|place| !before.contains(place)));
            let traveller = self.people.entry(person.clone()).or_default();
            traveller.seen = traveller.seen.max(seen);
            traveller.nodes.insert(node, Stay { there, belief: Belief::Told });
        } else if let Some(traveller) = self.people.get_mut(&person) {
            traveller.seen = traveller.seen.max(seen);
            traveller.nodes.remove(&node);
        }
        let places: Vec<ConversationId> = before.into_iter().chain(new.iter().copied()).collect();
        self.reindex(&person, &places);
        let has_device = self.has_device(&person);
        Heard { places, new, moved: (has_device != had_device).then_some(has_device) }
    }

    /// What a node told of its people is in doubt until it has told of them again; without one, of all nodes.
    pub(super) fn doubt(&mut self, node: Option<NodeId>) {
        for traveller in self.people.values_mut() {
            for (of, stay) in &mut traveller.nodes {
                if stay.belief == Belief::Told && node.is_none_or(|node| node == *of) {
                    stay.belief = Belief::Doubted;
                }
            }
        }
    }

    /// Whom a node is to lose because it is gone (`all`), or of whom it has not told again: they leave from now on. Who leaves
    /// already is not among them.
    pub(super) fn begin_to_lose(&mut self, node: NodeId, all: bool) -> Vec<PersonId> {
        let mut leaving = Vec::new();
        for (person, traveller) in &mut self.people {
            let begins = |belief| match belief {
                Belief::Told => all,
                Belief::Doubted => true,
                Belief::Leaving => false,
            };
            if let Some(stay) = traveller.nodes.get_mut(&node).filter(|stay| begins(stay.belief)) {
                stay.belief = Belief::Leaving;
                leaving.push(person.clone());
            }
        }
        leaving
    }

    /// Whether somebody leaves, and their node has not told of them since that began.
    pub(super) fn is_leaving(&self, node: NodeId, person: &PersonId) -> bool {
        let stay = self.people.get(person).and_then(|traveller| traveller.nodes.get(&node));
        stay.is_some_and(|stay| stay.belief == Belief::Leaving)
    }

    /// The nodes that told of somebody.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.people.values().flat_map(|traveller| traveller.nodes.keys().copied())
    }

    /// Somebody is on no other node any more, and people here know that.
    pub(super) fn forget_if_gone(&mut self, person: &PersonId) {
        if self.people.get(person).is_some_and(|traveller| traveller.nodes.is_empty()) {
            self.people.remove(person);
        }
    }

    /// What people here were told last of somebody who was not here then.
    pub(super) fn told(&self, person: &PersonId) -> Status {
        self.people.get(person).map(|traveller| traveller.told).unwrap_or_default()
    }

    /// What people here were told last of somebody who is not here.
    pub(super) fn told_mut(&mut self, person: &PersonId) -> Option<&mut Status> {
        self.people.get_mut(person).map(|traveller| &mut traveller.told)
    }

    pub(super) fn count_in(&self, conversation: ConversationId) -> usize {
        self.conversations.get(&conversation).map_or(0, HashSet::len)
    }

    pub(super) fn people_in(&self, conversation: ConversationId) -> impl Iterator<Item = &PersonId> {
        self.conversations.get(&conversation).into_iter().flatten()
    }

    pub(super) fn conversations_of(&self, person: &PersonId) -> Vec<ConversationId> {
        let stays = self.people.get(person).into_iter().flat_map(|traveller| traveller.nodes.values());
        let all: HashSet<_> = stays.flat_map(|stay| &stay.there.conversations).copied().collect();
        all.into_iter().collect()
    }

    /// Whether somebody is on another node, between two connections at least.
    pub(super) fn has(&self, person: &PersonId) -> bool {
        self.people.get(person).is_some_and(|traveller| !traveller.nodes.is_empty())
    }

    /// Whether somebody has a device on another node now.
    fn has_device(&self, person: &PersonId) -> bool {
        self.activities(person).next().is_some()
    }

    /// How many devices somebody has on other nodes.
    pub(super) fn devices(&self, person: &PersonId) -> usize {
        let stays = self.people.get(person).into_iter().flat_map(|traveller| traveller.nodes.values());
        stays.fold(0, |sum, stay| sum.saturating_add(stay.there.devices))
    }

    /// The newest choice that was made elsewhere.
    pub(super) fn choice(&self, person: &PersonId) -> Option<(Moment, Choice)> {
        let stays = self.people.get(person)?.nodes.values();
        stays.map(|stay| (stay.there.chosen, stay.there.choice)).max_by_key(|(chosen, _)| *chosen)
    }

    pub(super) fn activities(&self, person: &PersonId) -> impl Iterator<Item = Activity> {
        let stays = self.people.get(person).into_iter().flat_map(|traveller| traveller.nodes.values());
        stays.filter_map(|stay| stay.there.activity)
    }

    pub(super) fn seen(&self, person: &PersonId) -> Option<Moment> {
        self.people.get(person)?.seen
    }

    /// Of somebody who is not here.
    pub(super) fn presence(&self, person: &PersonId) -> Option<Presence> {
        self.people.get(person)?;
        let choice = self.choice(person).map(|(_, choice)| choice).unwrap_or_default();
        let status = merged(self.has(person), choice, self.activities(person)).for_others();
        let seen = if status == Status::Offline { self.seen(person) } else { None };
        Some(Presence { person: person.clone(), status, seen })
    }

    /// Notes in which of these conversations somebody is.
    fn reindex(&mut self, person: &PersonId, places: &[ConversationId]) {
        let current: HashSet<_> = self.conversations_of(person).into_iter().collect();
        for place in places {
            if current.contains(place) {
                self.conversations.entry(*place).or_default().insert(person.clone());
            } else if let Some(people) = self.conversations.get_mut(place) {
                people.remove(person);
                if people.is_empty() {
                    self.conversations.remove(place);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
