//! Presence across nodes: the people of other nodes on the topics whose home is this shard.
//!
//! A node keeps its own people on the bus under its lease and sends each change with a version, so that a receiver
//! detects a lost change and reads the whole state again. What the bus says about a node is trusted only while that
//! node's lease is valid: when a lease expires, the node's people are removed, and a change from a node without a valid
//! lease triggers a read from the bus instead of being applied.

use crate::bus::{BusEffect, NodeId, NodePeople, PresenceChange, PresenceMeta};
use crate::effect::{Effect, Effects};
use crate::hub::Hub;
use crate::ids::Micros;
use crate::limits::{ANNOUNCED_KEPT_US, RESUBSCRIBED_MAX};
use crate::planted::PlantedBug;
use crate::presence::{Diff, PhxRef, Presence, PresenceOwner};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What a topic's home knows about people on other nodes, and the version of its own node's people.
#[derive(Default)]
pub(crate) struct RemotePeople {
    nodes: BTreeMap<NodeId, Remote>,
    /// The version of the last change of this node's own people; 0 before the first.
    own_version: u64,
    /// Whether the people of all nodes have been read.
    known: bool,
    /// Whether a read is in progress; `seen` holds the newest version of each node that arrived meanwhile.
    reading: bool,
    seen: BTreeMap<NodeId, u64>,
    /// Whether the last read left out a node because its lease is not known to be valid yet.
    incomplete: bool,
    /// Joins that wait for the presence state.
    waiting: Vec<PresenceOwner>,
}

#[derive(Default)]
struct Remote {
    version: u64,
    metas: BTreeMap<PhxRef, Box<str>>,
}

/// How to handle a change from another node.
#[derive(PartialEq, Eq, Debug)]
enum Step {
    Apply,
    Ignore,
    Read,
}

/// The topics on which the bus may have people of this node. They are sent again after the bus was away.
#[derive(Default)]
pub(crate) struct Announced {
    /// With the time since which a topic has no people, if it has none: the bus may not have received that change.
    topics: BTreeMap<Arc<str>, Option<Micros>>,
    emptied: VecDeque<(Micros, Arc<str>)>,
}

impl Announced {
    fn note(&mut self, topic: &Arc<str>, has_people: bool, now: Micros) {
        self.topics.insert(topic.clone(), (!has_people).then_some(now));
        if !has_people {
            self.emptied.push_back((now, topic.clone()));
        }
        while let Some((at, _)) = self.emptied.front()
            && now - *at > ANNOUNCED_KEPT_US
        {
            let Some((at, topic)) = self.emptied.pop_front() else { return };
            if self.topics.get(&topic) == Some(&Some(at)) {
                self.topics.remove(&topic);
            }
        }
    }

    fn contains(&self, topic: &str) -> bool {
        self.topics.contains_key(topic)
    }

    pub(crate) fn topics(&self) -> impl Iterator<Item = &Arc<str>> {
        self.topics.keys()
    }
}

impl RemotePeople {
    pub(crate) fn is_idle(&self) -> bool {
        !self.reading && self.waiting.is_empty()
    }

    fn step(&mut self, node: NodeId, version: u64, previous: u64, live: bool) -> Step {
        if self.reading {
            let seen = self.seen.entry(node).or_default();
            *seen = version.max(*seen);
            return Step::Ignore;
        }
        let known = self.nodes.get(&node).map_or(0, |remote| remote.version);
        match live && self.known {
            true if previous == known => Step::Apply,
            true if version <= known => Step::Ignore,
            true | false => Step::Read,
        }
    }

    fn is_remote(&self, reference: PhxRef) -> bool {
        self.nodes.values().any(|remote| remote.metas.contains_key(&reference))
    }
}

impl Presence {
    /// Applies a change to another node's people.
    fn apply(&mut self, node: NodeId, version: u64, change: PresenceChange) -> Diff {
        let mut diff = Diff::default();
        let remote = self.remote.get_or_insert_default().nodes.entry(node).or_default();
        remote.version = version;
        let PresenceChange { left, joined } = change;
        let left = left.and_then(|(_, reference)| Some((remote.metas.remove(&reference)?, reference)));
        if let Some(PresenceMeta { key, reference, .. }) = &joined {
            remote.metas.insert(*reference, key.clone());
        }
        if let Some((key, reference)) = left {
            diff.absorb(self.untrack(&key, reference));
        }
        if let Some(PresenceMeta { key, reference, json }) = joined {
            diff.absorb(self.put(&key, reference, json));
        }
        diff
    }

    /// Replaces all that is known of another node's people.
    fn replace(&mut self, node: NodeId, people: Option<(u64, Vec<PresenceMeta>)>) -> Diff {
        let (mut diff, nodes) = (Diff::default(), &mut self.remote.get_or_insert_default().nodes);
        let mut gone = nodes.remove(&node).unwrap_or_default().metas;
        let mut come = Vec::new();
        if let Some((version, people)) = people {
            let remote = nodes.entry(node).or_default();
            remote.version = version;
            for meta in people {
                remote.metas.insert(meta.reference, meta.key.clone());
                if gone.remove(&meta.reference).is_none() {
                    come.push(meta);
                }
            }
        }
        for (reference, key) in gone {
            diff.absorb(self.untrack(&key, reference));
        }
        for PresenceMeta { key, reference, json } in come {
            diff.absorb(self.put(&key, reference, json));
        }
        diff
    }

    /// Removes the people of all nodes for which `is_gone` returns true.
    fn forget_nodes(&mut self, is_gone: impl Fn(NodeId) -> bool) -> Diff {
        let mut diff = Diff::default();
        let nodes = self.remote.as_ref().map(|remote| remote.nodes.keys().copied().collect::<Vec<_>>());
        for node in nodes.unwrap_or_default().into_iter().filter(|node| is_gone(*node)) {
            diff.absorb(self.replace(node, None));
        }
        diff
    }

    /// Returns whether any of the people belong to this node.
    fn has_own(&self) -> bool {
        let nodes = self.remote.iter().flat_map(|remote| remote.nodes.values());
        self.tracked_joins() > nodes.map(|remote| remote.metas.len()).sum()
    }

    /// Returns this node's own people.
    fn own(&self) -> Vec<PresenceMeta> {
        let remote = self.remote.as_deref();
        let is_own = |reference| remote.is_none_or(|remote| !remote.is_remote(reference));
        self.metas()
            .filter(|(_, reference, _)| is_own(*reference))
            .map(|(key, reference, json)| PresenceMeta { key: key.into(), reference, json: json.into() })
            .collect()
    }
}

impl Hub {
    /// Sends a change of this node's own people to the other nodes.
    pub(crate) fn announce(&mut self, topic: &Arc<str>, change: PresenceChange, out: &mut Effects) {
        self.presence_versions += 1;
        let version = self.presence_versions;
        let Some(presence) = self.directory.known_presence_mut(topic) else { return };
        let remote = presence.remote.get_or_insert_default();
        let previous = std::mem::replace(&mut remote.own_version, version);
        let has_own = presence.has_own();
        self.bus.announced.note(topic, has_own, self.now);
        if self.bus.up {
            let topic = topic.clone();
            self.bus.heads.changed(&topic, version, self.now);
            let change = Box::new(change);
            out.push(Effect::Bus(Box::new(BusEffect::Present { topic, version, previous, change })));
        }
    }

    /// The bus is back: sends it all of this node's people, and reads those of the other nodes.
    pub(crate) fn announce_again(&mut self, topic: &Arc<str>, out: &mut Effects) {
        self.presence_versions += 1;
        let version = self.presence_versions;
        let (mut people, mut known) = (Vec::new(), false);
        if let Some(presence) = self.directory.known_presence_mut(topic) {
            (people, known) = (presence.own(), true);
            let remote = presence.remote.get_or_insert_default();
            (remote.own_version, remote.known) = (version, false);
        }
        let is_announced = self.bus.announced.contains(topic);
        if is_announced {
            self.bus.heads.changed(topic, version, self.now);
            out.push(Effect::Bus(Box::new(BusEffect::People { topic: topic.clone(), version, people })));
        }
        if known {
            self.read_people(topic, out);
        }
    }

    /// Reads the other nodes' people, unless a read is in progress.
    fn read_people(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let up = self.bus.up;
        let remote = self.directory.presence_mut(topic).remote.get_or_insert_default();
        if up && !std::mem::replace(&mut remote.reading, true) {
            out.push(Effect::Bus(Box::new(BusEffect::ReadPeople { topic: topic.clone() })));
        }
    }

    /// Reads the other nodes' people if an earlier read failed.
    pub(crate) fn read_unknown_people(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let presence = self.directory.known_presence_mut(topic);
        let remote = presence.and_then(|presence| presence.remote.as_ref());
        if remote.is_some_and(|remote| !remote.known) {
            self.read_people(topic, out);
        }
    }

    /// Returns whether a join that requested the presence state has to wait for the bus.
    pub(crate) fn waits_for_people(
        &mut self,
        topic: &Arc<str>,
        owner: PresenceOwner,
        out: &mut Effects,
    ) -> bool {
        if self.config.bus.is_none() || !self.bus.up {
            return false;
        }
        let remote = self.directory.presence_mut(topic).remote.get_or_insert_default();
        if remote.known {
            return false;
        }
        remote.waiting.push(owner);
        self.read_people(topic, out);
        true
    }

    fn lease_stands(&self, node: NodeId) -> bool {
        self.bus.live.contains(&node)
    }

    /// Handles a change of another node's people.
    pub(crate) fn present(
        &mut self,
        topic: &Arc<str>,
        node: NodeId,
        (version, previous): (u64, u64),
        change: PresenceChange,
        out: &mut Effects,
    ) {
        if !self.is_told_of(topic, node) {
            return;
        }
        let live = self.lease_stands(node);
        let remote = self.directory.presence_mut(topic).remote.get_or_insert_default();
        match remote.step(node, version, previous, live) {
            Step::Apply => {
                self.presence_changed(topic, |presence| presence.apply(node, version, change), out);
            }
            Step::Ignore => {}
            Step::Read => self.read_people(topic, out),
        }
    }

    /// Handles a head from another node: the version of its newest change, or of a full replacement.
    pub(crate) fn present_up_to(&mut self, topic: &Arc<str>, node: NodeId, version: u64, out: &mut Effects) {
        if !self.is_told_of(topic, node) {
            return;
        }
        let live = self.lease_stands(node);
        let remote = self.directory.presence_mut(topic).remote.get_or_insert_default();
        // `u64::MAX` as the previous version never matches, so the step is never `Apply`.
        if remote.step(node, version, u64::MAX, live) == Step::Read {
            self.read_people(topic, out);
        }
    }

    fn is_told_of(&self, topic: &str, node: NodeId) -> bool {
        let followed = self.directory.home(topic).is_some_and(|home| home.link.is_some());
        followed && self.config.bus != Some(node)
    }

    /// Handles the answer to a read of all nodes' people; `None` if the read failed.
    pub(crate) fn people(&mut self, topic: &Arc<str>, answer: Option<Vec<NodePeople>>, out: &mut Effects) {
        let asked = self.directory.known_presence_mut(topic).and_then(|presence| presence.remote.as_mut());
        let Some(remote) = asked.filter(|remote| remote.reading) else { return };
        remote.reading = false;
        let (seen, waiting) = (std::mem::take(&mut remote.seen), std::mem::take(&mut remote.waiting));
        let mut again = false;
        if let Some(nodes) = answer {
            let (live, own) = (self.bus.live.clone(), self.config.bus);
            remote.known = true;
            remote.incomplete = nodes.iter().any(|of| !live.contains(&of.node) && own != Some(of.node));
            let mut of: BTreeMap<NodeId, (u64, Vec<PresenceMeta>)> =
                nodes.into_iter().map(|of| (of.node, (of.version, of.people))).collect();
            of.retain(|node, _| live.contains(node) && own != Some(*node));
            let version_of = |node| of.get(node).map_or(0, |(version, _)| *version);
            again = seen.iter().any(|(node, version)| version_of(node) < *version && live.contains(node));
            let merge = |presence: &mut Presence| {
                let mut diff = presence.forget_nodes(|node| !of.contains_key(&node));
                for (node, people) in of {
                    diff.absorb(presence.replace(node, Some(people)));
                }
                diff
            };
            self.presence_changed(topic, merge, out);
        } else {
            self.bus.retry(topic, self.now);
            if let Some(presence) = self.directory.known_presence_mut(topic) {
                presence.remote.get_or_insert_default().known = false;
            }
        }
        for owner in waiting {
            self.tell_presence_state(topic, owner, out);
        }
        if again {
            self.read_people(topic, out);
        }
        self.directory.unsettle(topic);
    }

    /// Sets which nodes have a valid lease. The people of every other node have to be removed.
    pub(crate) fn leases(&mut self, live: BTreeSet<NodeId>) {
        let died: BTreeSet<NodeId> = self.bus.live.difference(&live).copied().collect();
        let any_died = !died.is_empty();
        self.bus.live = live;
        self.bus.departed.extend(died);
        self.doubt_people();
        if any_died {
            // The last publications that the dead node acknowledged may have reached nobody.
            self.bus.verify = self.directory.linked().collect();
        }
    }

    /// The bus has been away for the duration of a lease, so nothing confirms the people of other nodes any more: they
    /// have to be removed. They are read again when the bus is back.
    pub(crate) fn stop_believing(&mut self) {
        if self.bus.believed_until.take_if(|until| *until <= self.now).is_some() {
            self.bus.live.clear();
            self.doubt_people();
        }
    }

    fn doubt_people(&mut self) {
        let (live, departed) = (&self.bus.live, &self.bus.departed);
        let is_doubted = |remote: &RemotePeople| {
            remote.incomplete
                || remote.nodes.keys().any(|node| !live.contains(node) || departed.contains(node))
        };
        self.bus.doubted = self.directory.with_remote_people(is_doubted);
    }

    /// Removes the people of nodes without a lease from some of the topics, and reads them where a node has one again.
    /// Returns `true` when there are more.
    pub(crate) fn settle_doubts(&mut self, out: &mut Effects) -> bool {
        for _ in 0..RESUBSCRIBED_MAX {
            let Some(topic) = self.bus.doubted.pop_front() else { break };
            let presence = self.directory.known_presence_mut(&topic);
            let Some(remote) = presence.and_then(|presence| presence.remote.as_ref()) else { continue };
            let (live, departed) = (&self.bus.live, &self.bus.departed);
            let (there, gone): (BTreeSet<_>, BTreeSet<_>) =
                remote.nodes.keys().copied().partition(|node| live.contains(node));
            let is_unsure = remote.incomplete || !there.is_disjoint(departed);
            if !gone.is_empty() && !PlantedBug::LeaseNeverExpires.is_planted() {
                let forget = |presence: &mut Presence| presence.forget_nodes(|node| gone.contains(&node));
                self.presence_changed(&topic, forget, out);
            }
            if is_unsure {
                self.read_people(&topic, out);
            }
        }
        if self.bus.doubted.is_empty() {
            self.bus.departed.clear();
        }
        !self.bus.doubted.is_empty()
    }

    /// The bus is away: joins that wait get the presence state as far as it is known.
    pub(crate) fn disconnect_people(&mut self, topic: &Arc<str>, out: &mut Effects) {
        let presence = self.directory.known_presence_mut(topic);
        let Some(remote) = presence.and_then(|presence| presence.remote.as_mut()) else { return };
        (remote.reading, remote.known) = (false, false);
        remote.seen.clear();
        for owner in std::mem::take(&mut remote.waiting) {
            self.tell_presence_state(topic, owner, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ShardIndex;

    fn meta(key: &str, count: u64) -> PresenceMeta {
        PresenceMeta { key: key.into(), reference: PhxRef::new(0, ShardIndex(0), count), json: "{}".into() }
    }

    fn keys(presence: &Presence) -> Vec<String> {
        presence.metas().map(|(key, ..)| key.to_owned()).collect()
    }

    #[test]
    fn a_change_is_applied_once_after_the_one_before_it() {
        let mut remote = RemotePeople { known: true, ..RemotePeople::default() };
        let node = NodeId(1);
        assert_eq!(remote.step(node, 3, 0, true), Step::Apply);
        remote.nodes.entry(node).or_default().version = 3;
        assert_eq!(remote.step(node, 3, 0, true), Step::Ignore);
        assert_eq!(remote.step(node, 5, 3, true), Step::Apply);
        assert_eq!(remote.step(node, 7, 5, true), Step::Read, "one is missing");
        assert_eq!(remote.step(node, 5, 3, false), Step::Read, "nobody vouches for the node");
        remote.reading = true;
        assert_eq!(remote.step(node, 9, 7, true), Step::Ignore);
        assert_eq!(remote.seen.get(&node), Some(&9));
    }

    #[test]
    fn a_node_that_is_gone_takes_its_people_and_nobody_elses() {
        let mut presence = Presence::default();
        presence.track("own", PhxRef::new(0, ShardIndex(1), 1), None, "{}");
        presence.replace(NodeId(1), Some((1, vec![meta("ann", 1), meta("bob", 2)])));
        presence.replace(NodeId(2), Some((1, vec![meta("ann", 3)])));
        assert_eq!(keys(&presence), ["ann", "ann", "bob", "own"]);
        presence.forget_nodes(|node| node == NodeId(1));
        assert_eq!(keys(&presence), ["ann", "own"]);
        assert_eq!(presence.own().iter().map(|meta| &*meta.key).collect::<Vec<_>>(), ["own"]);
    }

    #[test]
    fn a_replacement_tells_only_what_changed() {
        let mut presence = Presence::default();
        presence.replace(NodeId(1), Some((1, vec![meta("ann", 1), meta("bob", 2)])));
        let diff = presence.replace(NodeId(1), Some((2, vec![meta("bob", 2), meta("cat", 3)])));
        assert_eq!(diff.json(), r#"{"joins":{"cat":{"metas":[{}]}},"leaves":{"ann":{"metas":[{}]}}}"#);
    }
}
