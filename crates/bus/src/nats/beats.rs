//! Who lives: a node says so each second, and is thought to until it has been silent for the time of a lease.

use crate::limits::LEASE_TIME;
use crate::session::Desk;
use hub::{BusEvent, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct Beats(Mutex<State>);

#[derive(Default)]
struct State {
    heard: BTreeMap<NodeId, Instant>,
    told: Option<BTreeSet<NodeId>>,
}

impl Beats {
    /// A node says that it lives. `true` if that is news.
    pub(crate) fn hear(&self, node: NodeId, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.heard.insert(node, now).is_none()
    }

    /// The other nodes that live.
    pub(crate) fn others(&self, own: NodeId) -> BTreeSet<NodeId> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.heard.keys().copied().filter(|node| *node != own).collect()
    }

    /// Forgets who was silent for too long, and tells the hubs, if it is news.
    pub(crate) fn tell(&self, desk: &Desk, now: Instant) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.heard.retain(|_, heard| now.duration_since(*heard) < LEASE_TIME);
        let mut live: BTreeSet<NodeId> = state.heard.keys().copied().collect();
        live.insert(desk.node);
        if state.told.as_ref() != Some(&live) {
            desk.numbers.nodes.store(live.len() as u64, Relaxed);
            desk.tell(BusEvent::Leases(live.iter().copied().collect()));
            state.told = Some(live);
        }
    }
}
