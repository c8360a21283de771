//! People of one community who are on other nodes, as those nodes reported them.
//!
//! A node reports only its own people: their chosen status, whether they are active, what they follow. Its last report
//! counts; when the node is gone, so are its people. A person may be on this node and on others at the same time: their
//! devices are merged as if they were on one node.

use super::status::{Activity, Choice, Presence, Status, merged};
use chat::{ConversationId, Moment, PersonId};
use gateway::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What a node reports about one of its people.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct PersonReport {
    pub(crate) person: PersonId,
    /// `None`: they have no device there any more, and are gone.
    pub(crate) here: Option<There>,
    /// When they were last seen, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seen: Option<Moment>,
}

/// A person's state on a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct There {
    /// Whether one of their devices is in use; `None` during the lease between two connections.
    pub(crate) activity: Option<Activity>,
    /// How many devices they have there. Nodes of an older version do not send it.
    #[serde(default)]
    pub(crate) devices: usize,
    pub(crate) choice: Choice,
    /// When they chose it; the newest choice counts, on whichever node it was made.
    pub(crate) chosen: Moment,
    /// The conversations they are in.
    pub(crate) conversations: Vec<ConversationId>,
}

/// See the module.
#[derive(Default)]
pub(super) struct RemotePeople {
    people: HashMap<PersonId, RemotePerson>,
    /// Which of them are in a conversation.
    conversations: HashMap<ConversationId, HashSet<PersonId>>,
}

/// A person who is on other nodes.
#[derive(Debug, Default)]
struct RemotePerson {
    nodes: BTreeMap<NodeId, Stay>,
    /// When they were last seen on any of them.
    seen: Option<Moment>,
    /// The status that was last announced here, while the person is not on this node.
    told: Status,
}

#[derive(Debug)]
struct Stay {
    there: There,
    belief: Belief,
}

/// How far a node's report of a person can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Belief {
    Reported,
    /// This node has missed something since.
    Doubted,
    /// They are to be removed, unless the node reports them again before that.
    Leaving,
}

/// The effect of a report.
pub(super) struct ReportEffect {
    /// The conversations that the person is in, or was until now.
    pub(super) places: Vec<ConversationId>,
    /// The conversations that they are in since this report.
    pub(super) new: Vec<ConversationId>,
    /// Whether they have a device on another node, if that changed.
    pub(super) moved: Option<bool>,
}

impl RemotePeople {
    pub(super) fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// Applies a node's report of a person.
    pub(super) fn hear(&mut self, node: NodeId, told: PersonReport) -> ReportEffect {
        let PersonReport { person, here, seen } = told;
        let had_device = self.has_device(&person);
        let before: HashSet<ConversationId> = self.conversations_of(&person).into_iter().collect();
        let mut new = Vec::new();
        if let Some(there) = here {
            new.extend(there.conversations.iter().filter(|place| !before.contains(place)));
            let traveller = self.people.entry(person.clone()).or_default();
            traveller.seen = traveller.seen.max(seen);
            traveller.nodes.insert(node, Stay { there, belief: Belief::Reported });
        } else if let Some(traveller) = self.people.get_mut(&person) {
            traveller.seen = traveller.seen.max(seen);
            traveller.nodes.remove(&node);
        }
        let places: Vec<ConversationId> = before.into_iter().chain(new.iter().copied()).collect();
        self.reindex(&person, &places);
        let has_device = self.has_device(&person);
        ReportEffect { places, new, moved: (has_device != had_device).then_some(has_device) }
    }

    /// Marks a node's reports as doubtful until it sends them again; with `None`, those of all nodes.
    pub(super) fn doubt(&mut self, node: Option<NodeId>) {
        for traveller in self.people.values_mut() {
            for (of, stay) in &mut traveller.nodes {
                if stay.belief == Belief::Reported && node.is_none_or(|node| node == *of) {
                    stay.belief = Belief::Doubted;
                }
            }
        }
    }

    /// Marks as leaving, and returns, all people of a node that is gone (`all`), or those whose report is doubtful and
    /// was not repeated. Those who are leaving already are not returned again.
    pub(super) fn begin_to_lose(&mut self, node: NodeId, all: bool) -> Vec<PersonId> {
        let mut leaving = Vec::new();
        for (person, traveller) in &mut self.people {
            let begins = |belief| match belief {
                Belief::Reported => all,
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

    /// Returns whether a person is leaving and the node has not reported them since that was marked.
    pub(super) fn is_leaving(&self, node: NodeId, person: &PersonId) -> bool {
        let stay = self.people.get(person).and_then(|traveller| traveller.nodes.get(&node));
        stay.is_some_and(|stay| stay.belief == Belief::Leaving)
    }

    /// Returns the nodes that have reported people who are still known.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.people.values().flat_map(|traveller| traveller.nodes.keys().copied())
    }

    /// Forgets a person who is on no other node any more, after people here have been notified.
    pub(super) fn forget_if_gone(&mut self, person: &PersonId) {
        if self.people.get(person).is_some_and(|traveller| traveller.nodes.is_empty()) {
            self.people.remove(person);
        }
    }

    /// Returns the status that was last announced here of a person who was not on this node then.
    pub(super) fn told(&self, person: &PersonId) -> Status {
        self.people.get(person).map(|traveller| traveller.told).unwrap_or_default()
    }

    /// Returns the status that was last announced here of a person who is not on this node.
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

    /// Returns whether a person is on another node, connected or within a lease.
    pub(super) fn has(&self, person: &PersonId) -> bool {
        self.people.get(person).is_some_and(|traveller| !traveller.nodes.is_empty())
    }

    /// Returns whether a person has a device on another node now.
    fn has_device(&self, person: &PersonId) -> bool {
        self.activities(person).next().is_some()
    }

    /// Returns how many devices a person has on other nodes.
    pub(super) fn devices(&self, person: &PersonId) -> usize {
        let stays = self.people.get(person).into_iter().flat_map(|traveller| traveller.nodes.values());
        stays.fold(0, |sum, stay| sum.saturating_add(stay.there.devices))
    }

    /// Returns the newest status choice that was made on another node.
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

    /// Returns the presence of a person who is not on this node.
    pub(super) fn presence(&self, person: &PersonId) -> Option<Presence> {
        let traveller = self.people.get(person)?;
        let choice = self.choice(person).map(|(_, choice)| choice).unwrap_or_default();
        let status = merged(self.has(person), traveller.told, choice, self.activities(person)).for_others();
        let seen = if status == Status::Offline { self.seen(person) } else { None };
        Some(Presence { person: person.clone(), status, seen })
    }

    /// Updates the index of which of these conversations a person is in.
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
