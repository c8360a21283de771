//! This node's people, to answer the other nodes' questions; and the answers to this node's.
//!
//! A question consists of the asking node's id and the topic. An answer is split into parts that every server accepts:
//! node, version, whether it is the last part, and people as [`frame`] encodes them, each with a length prefix.

use crate::frame::{self, Reader};
use crate::limits::NOBODY_KEPT;
use hub::{NodeId, NodePeople, PhxRef, PresenceChange, PresenceMeta};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Size of an answer's part: far below the default maximum payload of one megabyte.
const PART_BYTES_MAX: usize = 256 << 10;

#[derive(Default)]
pub(crate) struct Own(Mutex<HashMap<Arc<str>, Present>>);

#[derive(Default)]
struct Present {
    version: u64,
    people: BTreeMap<PhxRef, PresenceMeta>,
    /// Since when there have been no people.
    empty_since: Option<Instant>,
}

impl Own {
    pub(crate) fn change(&self, topic: &Arc<str>, version: u64, change: &PresenceChange) {
        let mut topics = self.topics();
        let present = topics.entry(topic.clone()).or_default();
        present.version = version;
        if let Some((_, reference)) = &change.left {
            present.people.remove(reference);
        }
        if let Some(meta) = &change.joined {
            present.people.insert(meta.reference, meta.clone());
        }
        present.empty_since = present.people.is_empty().then(Instant::now);
    }

    pub(crate) fn replace(&self, topic: &Arc<str>, version: u64, people: Vec<PresenceMeta>) {
        let people: BTreeMap<_, _> = people.into_iter().map(|meta| (meta.reference, meta)).collect();
        let empty_since = people.is_empty().then(Instant::now);
        self.topics().insert(topic.clone(), Present { version, people, empty_since });
    }

    /// Removes the versions of topics that have had no people for long enough.
    pub(crate) fn forget(&self, now: Instant) {
        let kept = |since: Option<Instant>| since.is_none_or(|since| now.duration_since(since) < NOBODY_KEPT);
        self.topics().retain(|_, present| kept(present.empty_since));
    }

    /// Encodes the answer to a question about a topic, in parts.
    pub(crate) fn answer(&self, node: NodeId, topic: &str) -> Vec<Vec<u8>> {
        let topics = self.topics();
        let nobody = Present::default();
        let present = topics.get(topic).unwrap_or(&nobody);
        let begin = || [&node.0.to_be_bytes()[..], &present.version.to_be_bytes(), &[0]].concat();
        let mut parts = vec![begin()];
        for meta in present.people.values() {
            if parts.last().is_some_and(|part| part.len() >= PART_BYTES_MAX) {
                parts.push(begin());
            }
            if let Some(part) = parts.last_mut() {
                let person = frame::person(meta);
                part.extend_from_slice(meta.reference.as_str().as_bytes());
                part.extend_from_slice(&u32::try_from(person.len()).unwrap_or(u32::MAX).to_be_bytes());
                part.extend_from_slice(&person);
            }
        }
        if let Some(last) = parts.last_mut() {
            last[LAST_AT] = 1;
        }
        parts
    }

    fn topics(&self) -> MutexGuard<'_, HashMap<Arc<str>, Present>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const LAST_AT: usize = 16;

pub(crate) fn question(node: NodeId, topic: &str) -> Vec<u8> {
    [&node.0.to_be_bytes()[..], topic.as_bytes()].concat()
}

pub(crate) fn read_question(bytes: &[u8]) -> Option<(NodeId, &str)> {
    let mut reader = Reader(bytes);
    Some((reader.node()?, std::str::from_utf8(reader.0).ok()?))
}

/// The answers received so far.
#[derive(Default)]
pub(crate) struct Answers {
    whole: BTreeSet<NodeId>,
    nodes: BTreeMap<NodeId, NodePeople>,
}

impl Answers {
    /// Returns which of these nodes have not answered completely.
    pub(crate) fn missing(&self, mut nodes: BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        nodes.retain(|node| !self.whole.contains(node));
        nodes
    }

    /// Adds a part; returns `None` if it is malformed.
    pub(crate) fn add(&mut self, bytes: &[u8]) -> Option<()> {
        let mut reader = Reader(bytes);
        let (node, version, is_last) = (reader.node()?, reader.number()?, reader.byte()? == 1);
        let of = self.nodes.entry(node).or_insert_with(|| NodePeople { node, version, people: Vec::new() });
        while !reader.0.is_empty() {
            let reference = reader.reference()?;
            of.people.push(frame::read_person(reference, reader.run()?)?);
        }
        if is_last {
            self.whole.insert(node);
        }
        Some(())
    }

    /// Returns the people of all nodes. Leaves out nodes that never had people there, and incomplete answers.
    pub(crate) fn into_nodes(self) -> Vec<NodePeople> {
        let Answers { whole, nodes } = self;
        nodes.into_values().filter(|of| of.version > 0 && whole.contains(&of.node)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_is_answered_in_parts_and_read_as_it_was() {
        let (own, topic) = (Own::default(), Arc::from("rooms:a"));
        let meta = |number: u32| PresenceMeta {
            key: format!("person {number}").into(),
            reference: PhxRef::parse(&format!("{number:016}")).expect("16 digits"),
            json: format!("{{\"text\":\"{}\"}}", "x".repeat(500)).into(),
        };
        let people: Vec<_> = (0..2000).map(meta).collect();
        own.replace(&topic, 7, people.clone());
        let parts = own.answer(NodeId(3), "rooms:a");
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() < PART_BYTES_MAX * 2));
        let (mut answers, asked) = (Answers::default(), BTreeSet::from([NodeId(3), NodeId(4)]));
        for part in &parts {
            assert_eq!(answers.missing(asked.clone()), asked);
            answers.add(part).expect("it makes sense");
        }
        for part in own.answer(NodeId(4), "rooms:b") {
            answers.add(&part).expect("it makes sense");
        }
        assert_eq!(answers.missing(asked), BTreeSet::new());
        assert_eq!(answers.into_nodes(), [NodePeople { node: NodeId(3), version: 7, people }]);
    }
}
