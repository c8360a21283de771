//! How far each of the other nodes was heard: whether something is missing.

use gateway::NodeId;
use std::collections::{HashMap, HashSet};

/// See the module. A node that is not known yet was there before this one heard anybody, or begins with its first number.
#[derive(Default)]
pub(super) struct Heard {
    is_up: bool,
    /// Whether it is known who was there when the bus came.
    is_settled: bool,
    /// The last number of each; none for those that were there before this node heard anybody.
    numbers: HashMap<NodeId, Option<u64>>,
}

impl Heard {
    pub(super) fn is_away(&self) -> bool {
        !self.is_up
    }

    /// The bus is there, and what was said before is lost.
    pub(super) fn up(&mut self) {
        *self = Self { is_up: true, ..Self::default() };
    }

    /// The bus is away.
    pub(super) fn down(&mut self) {
        self.is_up = false;
    }

    /// Who lives. Says whether somebody is gone of whom not everything may have been heard.
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

    /// Whether that is the next of a node's, and nothing is missing before it.
    pub(super) fn is_next(&mut self, node: NodeId, number: u64) -> bool {
        match self.numbers.insert(node, Some(number)) {
            Some(Some(last)) => number == last.wrapping_add(1),
            // What it said before this node came is in what was read since.
            Some(None) => true,
            None => !self.is_settled || number == 1,
        }
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
