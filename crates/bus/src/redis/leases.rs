//! Which nodes' leases stand: those that have one on every instance.

use crate::session::Desk;
use hub::{BusEvent, NodeId};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};

pub(crate) struct Leases(Mutex<State>);

struct State {
    /// By instance.
    standing: Vec<BTreeSet<NodeId>>,
    told: Option<BTreeSet<NodeId>>,
}

impl Leases {
    pub(crate) fn new(instances: usize) -> Leases {
        Leases(Mutex::new(State { standing: vec![BTreeSet::new(); instances], told: None }))
    }

    /// An instance says whose leases stand there.
    pub(crate) fn stand(&self, instance: usize, nodes: BTreeSet<NodeId>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).standing[instance] = nodes;
    }

    /// Tells the hubs, if it is news.
    pub(crate) fn tell(&self, desk: &Desk) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut everywhere = state.standing[0].clone();
        everywhere.retain(|node| state.standing.iter().all(|standing| standing.contains(node)));
        if state.told.as_ref() != Some(&everywhere) {
            desk.numbers.nodes.store(everywhere.len() as u64, Relaxed);
            desk.tell(BusEvent::Leases(everywhere.iter().copied().collect()));
            state.told = Some(everywhere);
        }
    }
}
