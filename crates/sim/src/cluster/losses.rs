//! What nodes published on ephemeral topics and did not get to the engine: of that they tell the others.

use hub::{BusEffect, Micros, NodeId};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Losses {
    /// By node and topic, when the last was lost.
    untold: BTreeMap<(NodeId, Arc<str>), Micros>,
    /// Of which the others were told since the last rest.
    told: Vec<(NodeId, Arc<str>, Micros)>,
}

impl Losses {
    /// An effect did not reach the engine.
    pub(super) fn note(&mut self, node: NodeId, effect: &BusEffect, now: Micros) {
        if let BusEffect::Publish(publication) = effect {
            self.untold.insert((node, publication.topic.clone()), now);
        }
    }

    /// What a node tells the others now: topics, and when the last was lost.
    pub(super) fn tell(&mut self, node: NodeId) -> Vec<(Arc<str>, Micros)> {
        let of = self.untold.extract_if(.., |(of, _), _| *of == node);
        let told: Vec<_> = of.map(|((_, topic), lost_at)| (topic, lost_at)).collect();
        self.told.extend(told.iter().map(|(topic, lost_at)| (node, topic.clone(), *lost_at)));
        told
    }

    /// When something was lost to the others on a topic, by each other node than this one.
    pub(super) fn told_to(&self, node: NodeId, topic: &str) -> Vec<Micros> {
        let of = self.told.iter().filter(|(of, on, _)| *of != node && **on == *topic);
        of.map(|(_, _, lost_at)| *lost_at).collect()
    }

    /// Everything is at rest.
    pub(super) fn forget_told(&mut self) {
        self.told.clear();
    }
}
