//! Which messages of the other nodes have arrived, and whether any is missing.

use gateway::NodeId;
use std::collections::{HashMap, HashSet};

/// See the module. An unknown node either existed before this one received anything, or begins with number 1.
#[derive(Default)]
pub(super) struct ReceivedNumbers {
    is_up: bool,
    /// Whether it is known which nodes existed when the bus came up.
    is_settled: bool,
    /// What has arrived from each node; `None` for those that existed before, until something arrives.
    numbers: HashMap<NodeId, Option<Run>>,
}

/// A gapless run of a node's numbers: the first and the last.
#[derive(Clone, Copy)]
struct Run {
    first: u64,
    last: u64,
}

impl ReceivedNumbers {
    pub(super) fn is_away(&self) -> bool {
        !self.is_up
    }

    /// The bus is up; what was sent before is lost.
    pub(super) fn up(&mut self) {
        *self = Self { is_up: true, ..Self::default() };
    }

    /// The bus is down.
    pub(super) fn down(&mut self) {
        self.is_up = false;
    }

    /// Sets the live nodes. Returns whether a node is gone whose last messages may have been missed.
    pub(super) fn live(&mut self, nodes: &[NodeId]) -> bool {
        let nodes: HashSet<NodeId> = nodes.iter().copied().collect();
        let known = self.numbers.len();
        self.numbers.retain(|node, _| nodes.contains(node));
        let is_somebody_gone = self.numbers.len() < known;
        if !std::mem::replace(&mut self.is_settled, true) {
            for node in nodes {
                self.numbers.entry(node).or_default();
            }
        }
        is_somebody_gone
    }

    /// Records a node's message. Returns whether it is the next one, with none missing before it.
    pub(super) fn is_next(&mut self, node: NodeId, number: u64) -> bool {
        let known = self.numbers.get(&node).copied();
        let is_next = match known {
            Some(Some(run)) => number == run.last.wrapping_add(1),
            // What it sent before is covered by what was read from the store since.
            Some(None) => true,
            None => !self.is_settled || number == 1,
        };
        let first = known.flatten().filter(|_| is_next).map_or(number, |run| run.first);
        self.numbers.insert(node, Some(Run { first, last: number }));
        is_next
    }

    /// Returns whether everything arrived that a node has sent from `number` up to its last message.
    pub(super) fn has_all_since(&self, node: NodeId, number: u64) -> bool {
        self.numbers.get(&node).copied().flatten().is_some_and(|run| run.first <= number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: NodeId = NodeId(1);
    const OLD: NodeId = NodeId(2);
    const NEW: NodeId = NodeId(3);

    fn settled() -> ReceivedNumbers {
        let mut received = ReceivedNumbers::default();
        received.up();
        assert!(!received.live(&[OWN, OLD]));
        received
    }

    #[test]
    fn a_hole_is_seen_once_and_what_follows_is_whole_again() {
        let mut received = settled();
        let next: Vec<bool> = [41, 42, 44, 45].map(|number| received.is_next(OLD, number)).into();
        assert_eq!(next, [true, true, false, true]);
    }

    #[test]
    fn what_was_heard_is_whole_since_the_last_hole() {
        let mut received = settled();
        assert!(!received.has_all_since(OLD, 41), "it was not heard yet");
        let whole =
            |received: &ReceivedNumbers| [40, 41, 43, 44].map(|number| received.has_all_since(OLD, number));
        received.is_next(OLD, 41);
        received.is_next(OLD, 42);
        assert_eq!(whole(&received), [false, true, true, true]);
        received.is_next(OLD, 44);
        assert_eq!(whole(&received), [false, false, false, true]);
        received.up();
        received.is_next(OLD, 45);
        assert_eq!(whole(&received), [false; 4], "what was said before the bus was away is none of it");
    }

    #[test]
    fn a_node_that_comes_later_is_heard_from_its_first_word_on() {
        let mut received = settled();
        assert!(received.is_next(NEW, 1), "it may be heard before it is seen");
        assert!(!received.live(&[OWN, OLD, NEW]));
        assert!(received.is_next(NEW, 2));
        assert!(!settled().is_next(NEW, 2), "the first is missing");
    }

    #[test]
    fn who_is_gone_may_have_done_something_at_last() {
        let mut received = settled();
        received.is_next(OLD, 7);
        assert!(received.live(&[OWN]));
        assert!(!received.live(&[OWN]), "once");
        assert!(!received.is_next(OLD, 8), "it was away, and did things meanwhile");
    }

    #[test]
    fn after_the_bus_was_away_everybody_is_heard_anew() {
        let mut received = settled();
        received.is_next(OLD, 7);
        received.down();
        assert!(received.is_away());
        received.up();
        assert!(!received.is_away() && received.is_next(OLD, 90));
        assert!(!received.live(&[OWN, OLD]));
        assert!(received.is_next(OLD, 91));
    }
}
