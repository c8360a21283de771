//! Owners of topics: they share a shard's fan-out evenly, however many topics each has.
//!
//! The hub knows only the owners' names, which the driver's rule reads from a topic's name. Topics without an owner,
//! and all topics if the driver has no rule, belong to [`OwnerId::NOBODY`] and take turns among themselves.

use crate::hashing::SecretHash;
use crate::sizes::{block_bytes, table_bytes};
use std::collections::HashMap;

/// Reads the owner's name from a topic's name; `None` if nobody owns the topic.
pub type OwnerOf = fn(&str) -> Option<&str>;

/// An owner with a topic on this shard; the id is reused when the owner's last topic is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OwnerId(u32);

impl OwnerId {
    pub(crate) const NOBODY: Self = Self(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The owners of this shard's topics.
pub(crate) struct Owners {
    of: Option<OwnerOf>,
    known: HashMap<Box<str>, Known, SecretHash>,
    free: Vec<OwnerId>,
    given: u32,
    names_bytes: usize,
}

struct Known {
    id: OwnerId,
    topics: u32,
}

impl Owners {
    pub(crate) fn new(hash: SecretHash) -> Self {
        Self { of: None, known: HashMap::with_hasher(hash), free: Vec::new(), given: 0, names_bytes: 0 }
    }

    pub(crate) fn read_by(&mut self, of: OwnerOf) {
        self.of = Some(of);
    }

    /// Adds a topic and returns its owner.
    pub(crate) fn add(&mut self, topic: &str) -> OwnerId {
        let Some(name) = self.of.and_then(|of| of(topic)) else { return OwnerId::NOBODY };
        if let Some(known) = self.known.get_mut(name) {
            known.topics += 1;
            return known.id;
        }
        let id = self.free.pop().unwrap_or_else(|| {
            self.given += 1;
            OwnerId(self.given)
        });
        self.names_bytes += block_bytes(name.len());
        self.known.insert(name.into(), Known { id, topics: 1 });
        id
    }

    /// Removes a topic.
    pub(crate) fn remove(&mut self, topic: &str) {
        let Some(name) = self.of.and_then(|of| of(topic)) else { return };
        let Some(known) = self.known.get_mut(name) else { return };
        known.topics -= 1;
        if known.topics == 0 {
            self.free.push(known.id);
            self.names_bytes -= block_bytes(name.len());
            self.known.remove(name);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.names_bytes == 0
    }

    pub(crate) fn bytes(&self) -> usize {
        let free = block_bytes(self.free.capacity() * size_of::<OwnerId>());
        self.names_bytes + table_bytes(&self.known) + free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn before_slash(topic: &str) -> Option<&str> {
        topic.split_once('/').map(|(owner, _)| owner)
    }

    #[test]
    fn an_owner_lives_as_long_as_one_of_its_topics_and_its_id_is_used_again() {
        let mut owners = Owners::new(SecretHash(7));
        assert_eq!(owners.add("a/1"), OwnerId::NOBODY, "no rule yet");
        owners.read_by(before_slash);
        let (a, b) = (owners.add("a/1"), owners.add("b/1"));
        assert_ne!(a, b);
        assert_eq!([owners.add("a/2"), owners.add("lobby")], [a, OwnerId::NOBODY]);
        owners.remove("a/1");
        assert_eq!(owners.add("a/3"), a);
        for topic in ["a/2", "a/3"] {
            owners.remove(topic);
        }
        assert_eq!(owners.add("c/1"), a);
        for topic in ["b/1", "c/1", "lobby"] {
            owners.remove(topic);
        }
        assert!(owners.is_empty());
    }
}
