//! What nodes published on ephemeral topics and did not get to the engine: they report it to the other nodes.

use hub::{BusEffect, Micros, NodeId};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Losses {
    /// When the last unreported one was lost, by node and topic.
    untold: BTreeMap<(NodeId, Arc<str>), Micros>,
    /// What the other nodes were told of since the last rest.
    told: Vec<(NodeId, Arc<str>, Micros)>,
}

impl Losses {
    /// Records that an effect did not reach the engine.
    pub(super) fn note(&mut self, node: NodeId, effect: &BusEffect, now: Micros) {
        if let BusEffect::Publish(publication) = effect {
            self.untold.insert((node, publication.topic.clone()), now);
        }
    }

    /// Returns what a node reports to the others now: topics, and when the last was lost.
    pub(super) fn tell(&mut self, node: NodeId) -> Vec<(Arc<str>, Micros)> {
        let of = self.untold.extract_if(.., |(of, _), _| *of == node);
        let told: Vec<_> = of.map(|((_, topic), lost_at)| (topic, lost_at)).collect();
        self.told.extend(told.iter().map(|(topic, lost_at)| (node, topic.clone(), *lost_at)));
        told
    }

    /// Returns when something was lost on a topic, as reported to this node by each of the others.
    pub(super) fn told_to(&self, node: NodeId, topic: &str) -> Vec<Micros> {
        let of = self.told.iter().filter(|(of, on, _)| *of != node && **on == *topic);
        of.map(|(_, _, lost_at)| *lost_at).collect()
    }

    /// Forgets what was reported, when everything is at rest.
    pub(super) fn forget_told(&mut self) {
        self.told.clear();
    }
}
