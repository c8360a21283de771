//! Which messages of the other nodes have arrived, and whether any is missing.

use gateway::NodeId;
use std::collections::{HashMap, HashSet};

/// See the module. An unknown node either existed before this one received anything, or begins with number 1.
#[derive(Default)]
pub(super) struct Heard {
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

impl Heard {
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

    fn settled() -> Heard {
        let mut heard = Heard::default();
        heard.up();
        assert!(!heard.live(&[OWN, OLD]));
        heard
    }

    #[test]
    fn a_hole_is_seen_once_and_what_follows_is_whole_again() {
        let mut heard = settled();
        let next: Vec<bool> = [41, 42, 44, 45].map(|number| heard.is_next(OLD, number)).into();
        assert_eq!(next, [true, true, false, true]);
    }

    #[test]
    fn what_was_heard_is_whole_since_the_last_hole() {
        let mut heard = settled();
        assert!(!heard.has_all_since(OLD, 41), "it was not heard yet");
        let whole = |heard: &Heard| [40, 41, 43, 44].map(|number| heard.has_all_since(OLD, number));
        heard.is_next(OLD, 41);
        heard.is_next(OLD, 42);
        assert_eq!(whole(&heard), [false, true, true, true]);
        heard.is_next(OLD, 44);
        assert_eq!(whole(&heard), [false, false, false, true]);
        heard.up();
        heard.is_next(OLD, 45);
        assert_eq!(whole(&heard), [false; 4], "what was said before the bus was away is none of it");
    }

    #[test]
    fn a_node_that_comes_later_is_heard_from_its_first_word_on() {
        let mut heard = settled();
        assert!(heard.is_next(NEW, 1), "it may be heard before it is seen");
        assert!(!heard.live(&[OWN, OLD, NEW]));
        assert!(heard.is_next(NEW, 2));
        assert!(!settled().is_next(NEW, 2), "the first is missing");
    }

    #[test]
    fn who_is_gone_may_have_done_something_at_last() {
        let mut heard = settled();
        heard.is_next(OLD, 7);
        assert!(heard.live(&[OWN]));
        assert!(!heard.live(&[OWN]), "once");
        assert!(!heard.is_next(OLD, 8), "it was away, and did things meanwhile");
    }

    #[test]
    fn after_the_bus_was_away_everybody_is_heard_anew() {
        let mut heard = settled();
        heard.is_next(OLD, 7);
        heard.down();
        assert!(heard.is_away());
        heard.up();
        assert!(!heard.is_away() && heard.is_next(OLD, 90));
        assert!(!heard.live(&[OWN, OLD]));
        assert!(heard.is_next(OLD, 91));
    }
}
