//! What a topic's home shard knows: which shards have members, and who is present.

use crate::hashing::SecretHash;
use crate::ids::{Micros, ShardIndex};
use crate::link::Link;
use crate::presence::Presence;
use crate::sizes::table_bytes;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

pub(crate) struct Directory {
    homes: HashMap<Arc<str>, Home, SecretHash>,
    /// Topics whose presence has something to publish at the end of the tick, or later.
    pub(crate) unsettled: Vec<Arc<str>>,
    presence_bytes: usize,
}

/// The state that a topic has at its home.
#[derive(Default)]
pub(crate) struct Home {
    /// Shards with members, ascending.
    pub(crate) interested: Interested,
    pub(crate) presence: Option<Box<Presence>>,
    /// Its state towards the bus; `None` without a bus, or without members.
    pub(crate) link: Option<Box<Link>>,
    /// Whether it is on the list of unsettled topics.
    pub(crate) unsettled: bool,
}

/// Shards, ascending. Most topics have members on only one shard, which needs no allocation.
pub(crate) enum Interested {
    One(ShardIndex),
    Others(Box<[ShardIndex]>),
}

impl Default for Interested {
    fn default() -> Interested {
        Interested::Others(Box::default())
    }
}

impl Deref for Interested {
    type Target = [ShardIndex];

    fn deref(&self) -> &[ShardIndex] {
        match self {
            Interested::One(shard) => std::slice::from_ref(shard),
            Interested::Others(shards) => shards,
        }
    }
}

impl From<Vec<ShardIndex>> for Interested {
    fn from(shards: Vec<ShardIndex>) -> Interested {
        match shards[..] {
            [shard] => Interested::One(shard),
            _ => Interested::Others(shards.into()),
        }
    }
}

impl Home {
    /// Sets whether a shard has members. Returns `true` if this changed anything.
    pub(crate) fn set_interest(&mut self, shard: ShardIndex, on: bool) -> bool {
        let place = self.interested.binary_search(&shard);
        if place.is_ok() == on {
            return false;
        }
        let mut shards = self.interested.to_vec();
        match place {
            Ok(at) => drop(shards.remove(at)),
            Err(at) => shards.insert(at, shard),
        }
        self.interested = shards.into();
        true
    }

    fn is_empty(&self) -> bool {
        self.interested.is_empty() && self.presence.is_none() && !self.unsettled
    }
}

impl Directory {
    pub(crate) fn new(hash: SecretHash) -> Directory {
        Directory { homes: HashMap::with_hasher(hash), unsettled: Vec::new(), presence_bytes: 0 }
    }

    pub(crate) fn home(&self, topic: &str) -> Option<&Home> {
        self.homes.get(topic)
    }

    pub(crate) fn is_home_of(&self, topic: &str) -> bool {
        self.homes.contains_key(topic)
    }

    /// Iterates over the topics that are, or should be, subscribed on the bus.
    pub(crate) fn linked(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        self.homes.iter().filter(|(_, home)| home.link.is_some()).map(|(topic, _)| topic.clone())
    }

    pub(crate) fn home_mut(&mut self, topic: &Arc<str>) -> &mut Home {
        self.homes.entry(topic.clone()).or_default()
    }

    pub(crate) fn presence_mut(&mut self, topic: &Arc<str>) -> &mut Presence {
        self.home_mut(topic).presence.get_or_insert_default()
    }

    /// Returns the presence of a topic, if it has any.
    pub(crate) fn known_presence_mut(&mut self, topic: &str) -> Option<&mut Presence> {
        self.homes.get_mut(topic)?.presence.as_deref_mut()
    }

    /// Returns the topics on which people of other nodes are, or may be.
    pub(crate) fn with_remote_people(&self) -> Vec<Arc<str>> {
        let remote = |home: &Home| home.presence.as_ref().is_some_and(|presence| presence.remote.is_some());
        self.homes.iter().filter(|(_, home)| remote(home)).map(|(topic, _)| topic.clone()).collect()
    }

    /// Removes a topic's presence.
    pub(crate) fn drop_presence(&mut self, topic: &str) {
        let presence = self.homes.get_mut(topic).and_then(|home| home.presence.take());
        self.presence_bytes -= presence.map_or(0, |presence| presence.accounted);
    }

    /// Lists the topic as one whose presence has something to publish.
    pub(crate) fn unsettle(&mut self, topic: &Arc<str>) {
        let home = self.homes.entry(topic.clone()).or_default();
        if !std::mem::replace(&mut home.unsettled, true) {
            self.unsettled.push(topic.clone());
        }
    }

    /// Removes a topic that has no members, no people and nothing to publish.
    pub(crate) fn release(&mut self, topic: &str) {
        let Some(home) = self.homes.get_mut(topic) else { return };
        if let Some(presence) = home.presence.take_if(|presence| presence.is_empty()) {
            self.presence_bytes -= presence.accounted;
        }
        if home.is_empty() {
            self.homes.remove(topic);
        }
    }

    /// Recounts a topic's presence after a change to it.
    pub(crate) fn recount(&mut self, topic: &str) {
        if let Some(presence) = self.known_presence_mut(topic) {
            let after = presence.bytes();
            let before = std::mem::replace(&mut presence.accounted, after);
            self.presence_bytes = self.presence_bytes + after - before;
        }
    }

    /// Returns the memory of all presences, in bytes.
    pub(crate) fn presence_bytes(&self) -> usize {
        self.presence_bytes
    }

    /// Returns when the next count of a crowd is due.
    pub(crate) fn deadline(&self) -> Option<Micros> {
        let presences = self.unsettled.iter().filter_map(|topic| self.homes.get(topic)?.presence.as_deref());
        presences.filter_map(Presence::deadline).min()
    }

    /// Returns the memory of the table, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        table_bytes(&self.homes)
    }

    pub(crate) fn len(&self) -> usize {
        self.homes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_topic_at_its_home_stays_within_its_bytes() {
        assert!(size_of::<Home>() <= 40, "{} bytes", size_of::<Home>());
    }

    #[test]
    fn shards_with_members_are_known_in_order_and_once() {
        let mut home = Home::default();
        for (shard, on, changes, expected) in [
            (2, true, true, vec![2]),
            (2, true, false, vec![2]),
            (0, true, true, vec![0, 2]),
            (1, true, true, vec![0, 1, 2]),
            (2, false, true, vec![0, 1]),
            (2, false, false, vec![0, 1]),
            (0, false, true, vec![1]),
            (1, false, true, vec![]),
        ] {
            assert_eq!(home.set_interest(ShardIndex(shard), on), changes, "{shard} {on}");
            let expected: Vec<ShardIndex> = expected.into_iter().map(ShardIndex).collect();
            assert_eq!(*home.interested, expected);
        }
        assert!(home.is_empty());
    }
}
