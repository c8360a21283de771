//! Heads that a home sends to other nodes for topics that changed: the newest position of their order, and the newest
//! version of this node's people. Each is sent a few times, since the notice of a lost message may be lost itself.

use crate::ids::Micros;
use crate::limits::{HEADS_INTERVAL_US, HEADS_TOLD};
use crate::place::Position;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Heads {
    /// The newest position that is known, and how many times it is still to be sent.
    positions: BTreeMap<Arc<str>, (Position, u8)>,
    /// The newest version of this node's people, likewise.
    presences: BTreeMap<Arc<str>, (u64, u8)>,
    due: Option<Micros>,
}

/// The heads to be sent, by topic.
#[derive(Default)]
pub(crate) struct DueHeads {
    pub(crate) positions: Vec<(Arc<str>, Position)>,
    pub(crate) presences: Vec<(Arc<str>, u64)>,
}

impl Heads {
    pub(crate) fn deadline(&self) -> Option<Micros> {
        self.due
    }

    pub(crate) fn note_position(&mut self, topic: &Arc<str>, position: Position, now: Micros) {
        let known = self.positions.get(topic).map(|(known, _)| known);
        // Answers and deliveries may overtake each other.
        if known.is_some_and(|known| known.epoch == position.epoch && known.offset > position.offset) {
            return;
        }
        self.positions.insert(topic.clone(), (position, HEADS_TOLD));
        self.due.get_or_insert(now + HEADS_INTERVAL_US);
    }

    pub(crate) fn changed(&mut self, topic: &Arc<str>, version: u64, now: Micros) {
        self.presences.insert(topic.clone(), (version, HEADS_TOLD));
        self.due.get_or_insert(now + HEADS_INTERVAL_US);
    }

    /// The bus is away: nothing is due until [`Heads::resume`].
    pub(crate) fn pause(&mut self) {
        self.due = None;
    }

    pub(crate) fn resume(&mut self, now: Micros) {
        if !(self.positions.is_empty() && self.presences.is_empty()) {
            self.due = Some(now + HEADS_INTERVAL_US);
        }
    }

    /// Takes what is to be sent now.
    pub(crate) fn take(&mut self, now: Micros) -> DueHeads {
        if self.due.is_none_or(|due| due > now) {
            return DueHeads::default();
        }
        let told = DueHeads { positions: told(&mut self.positions), presences: told(&mut self.presences) };
        self.due = None;
        self.resume(now);
        told
    }
}

fn told<T: Clone>(heads: &mut BTreeMap<Arc<str>, (T, u8)>) -> Vec<(Arc<str>, T)> {
    let told = heads.iter().map(|(topic, (head, _))| (topic.clone(), head.clone())).collect();
    heads.retain(|_, (_, left)| {
        *left -= 1;
        *left > 0
    });
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Epoch;

    #[test]
    fn the_newest_is_told_a_few_times_and_then_no_more() {
        let (mut heads, topic) = (Heads::default(), Arc::from("a"));
        let position = |offset| Position { epoch: Epoch::new("e").expect("an epoch"), offset };
        heads.note_position(&topic, position(7), Micros(0));
        heads.note_position(&topic, position(6), Micros(0));
        let mut times = 0;
        while let Some(due) = heads.deadline() {
            assert_eq!(heads.take(Micros(due.0 - 1)).positions, []);
            assert_eq!(heads.take(due).positions, [(topic.clone(), position(7))]);
            times += 1;
        }
        assert_eq!(times, HEADS_TOLD);
    }
}
