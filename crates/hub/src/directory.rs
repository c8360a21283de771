//! What a topic's home shard knows: which other shards have members, and who is present. A topic whose members are all
//! on its home shard has no entry here, because [`crate::topic::Topic`] itself says whether that shard has members.

use crate::hashing::SecretHash;
use crate::ids::{Micros, ShardIndex};
use crate::link::Link;
use crate::named::{Named, NamedSlab};
use crate::people::RemotePeople;
use crate::presence::Presence;
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) struct Directory {
    homes: NamedSlab<Home>,
    /// Topics whose presence has something to publish at the end of the tick, or later.
    pub(crate) unsettled: Vec<Arc<str>>,
    presence_bytes: usize,
}

/// The state that a topic has at its home.
pub(crate) struct Home {
    topic: Arc<str>,
    /// The other shard with members, if there is exactly one.
    only: Option<ShardIndex>,
    /// Whether it is on the list of unsettled topics.
    pub(crate) unsettled: bool,
    rare: Option<Box<Rare>>,
    /// Its state towards the bus; `None` without a bus, or without members.
    pub(crate) link: Option<Box<Link>>,
}

/// What most topics do not have at their homes.
#[derive(Default)]
struct Rare {
    /// The other shards with members, ascending, if there are several.
    shards: Vec<ShardIndex>,
    presence: Option<Box<Presence>>,
}

impl Named for Home {
    fn name(&self) -> &Arc<str> {
        &self.topic
    }
}

impl Home {
    fn new(topic: Arc<str>) -> Home {
        Home { topic, only: None, unsettled: false, rare: None, link: None }
    }

    /// Returns the other shards with members, ascending.
    pub(crate) fn others(&self) -> &[ShardIndex] {
        match &self.rare {
            Some(rare) if !rare.shards.is_empty() => &rare.shards,
            Some(_) | None => self.only.as_slice(),
        }
    }

    /// Sets whether another shard has members. Returns `true` if this changed anything.
    pub(crate) fn set_interest(&mut self, shard: ShardIndex, on: bool) -> bool {
        let place = self.others().binary_search(&shard);
        if place.is_ok() == on {
            return false;
        }
        let mut shards = self.others().to_vec();
        match place {
            Ok(at) => drop(shards.remove(at)),
            Err(at) => shards.insert(at, shard),
        }
        self.only = if let [only] = shards[..] { Some(only) } else { None };
        if shards.len() > 1 || self.rare.is_some() {
            self.change_rare(|rare| rare.shards = if shards.len() > 1 { shards } else { Vec::new() });
        }
        true
    }

    fn presence(&self) -> Option<&Presence> {
        self.rare.as_deref()?.presence.as_deref()
    }

    /// Returns its presence, if it has any.
    pub(crate) fn presence_mut(&mut self) -> Option<&mut Presence> {
        self.rare.as_deref_mut()?.presence.as_deref_mut()
    }

    fn take_presence(&mut self) -> Option<Box<Presence>> {
        self.rare.as_ref()?;
        self.change_rare(|rare| rare.presence.take())
    }

    /// Changes the rare part, and frees it if it is empty afterwards.
    fn change_rare<T>(&mut self, change: impl FnOnce(&mut Rare) -> T) -> T {
        let changed = change(self.rare.get_or_insert_default());
        self.rare.take_if(|rare| rare.shards.is_empty() && rare.presence.is_none());
        changed
    }

    fn is_empty(&self) -> bool {
        self.others().is_empty() && self.presence().is_none() && self.link.is_none() && !self.unsettled
    }
}

impl Directory {
    pub(crate) fn new(hash: SecretHash) -> Directory {
        Directory { homes: NamedSlab::new(hash), unsettled: Vec::new(), presence_bytes: 0 }
    }

    pub(crate) fn home(&self, topic: &str) -> Option<&Home> {
        self.homes.get(self.homes.find(topic)?)
    }

    pub(crate) fn is_home_of(&self, topic: &str) -> bool {
        self.homes.find(topic).is_some()
    }

    /// Iterates over the topics that are, or should be, subscribed on the bus.
    pub(crate) fn linked(&self) -> impl Iterator<Item = Arc<str>> + '_ {
        self.homes.iter().filter(|home| home.link.is_some()).map(|home| home.topic.clone())
    }

    fn known_mut(&mut self, topic: &str) -> Option<&mut Home> {
        self.homes.get_mut(self.homes.find(topic)?)
    }

    pub(crate) fn home_mut(&mut self, topic: &Arc<str>) -> &mut Home {
        let known = self.homes.find(topic);
        let place = known.unwrap_or_else(|| self.homes.insert(Home::new(topic.clone())));
        &mut self.homes[place]
    }

    pub(crate) fn presence_mut(&mut self, topic: &Arc<str>) -> &mut Presence {
        self.home_mut(topic).rare.get_or_insert_default().presence.get_or_insert_default()
    }

    /// Returns the presence of a topic, if it has any.
    pub(crate) fn known_presence_mut(&mut self, topic: &str) -> Option<&mut Presence> {
        self.known_mut(topic)?.presence_mut()
    }

    /// Returns the topics of which what is known of other nodes' people `is` as wanted.
    pub(crate) fn with_remote_people(&self, is: impl Fn(&RemotePeople) -> bool) -> VecDeque<Arc<str>> {
        let remote =
            |home: &Home| home.presence().and_then(|presence| presence.remote.as_deref()).is_some_and(&is);
        self.homes.iter().filter(|home| remote(home)).map(|home| home.topic.clone()).collect()
    }

    /// Removes a topic's presence.
    pub(crate) fn drop_presence(&mut self, topic: &str) {
        let presence = self.known_mut(topic).and_then(Home::take_presence);
        self.presence_bytes -= presence.map_or(0, |presence| presence.accounted);
    }

    /// Lists the topic as one whose presence has something to publish.
    pub(crate) fn unsettle(&mut self, topic: &Arc<str>) {
        if !std::mem::replace(&mut self.home_mut(topic).unsettled, true) {
            self.unsettled.push(topic.clone());
        }
    }

    /// Removes a topic that has no members on other shards, no people and nothing to publish.
    pub(crate) fn release(&mut self, topic: &str) {
        let Some(place) = self.homes.find(topic) else { return };
        let home = &mut self.homes[place];
        if home.presence().is_some_and(Presence::is_empty) {
            self.presence_bytes -= home.take_presence().map_or(0, |presence| presence.accounted);
        }
        if home.is_empty() {
            self.homes.remove(place);
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
        let presences = self.unsettled.iter().filter_map(|topic| self.home(topic)?.presence());
        presences.filter_map(Presence::deadline).min()
    }

    /// Returns the memory of the table, in bytes.
    pub(crate) fn table_bytes(&self) -> usize {
        self.homes.bytes()
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
        assert!(size_of::<Option<Home>>() <= 40, "{} bytes", size_of::<Option<Home>>());
    }

    #[test]
    fn shards_with_members_are_known_in_order_and_once() {
        let mut home = Home::new("t".into());
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
            assert_eq!(home.others(), expected);
            assert_eq!(home.rare.is_some(), expected.len() > 1, "{expected:?}");
        }
        assert!(home.is_empty());
    }
}
