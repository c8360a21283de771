//! Which nodes' leases stand: those that have one on every instance.

use super::instance::Standing;
use crate::session::Desk;
use hub::BusEvent;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Leases(Mutex<State>);

struct State {
    /// By instance.
    standing: Vec<Standing>,
    told: Option<Standing>,
}

impl Leases {
    pub(crate) fn new(instances: usize) -> Leases {
        let standing = vec![Standing::new(); instances];
        Leases(Mutex::new(State { standing, told: None }))
    }

    /// An instance says whose leases stand there.
    pub(crate) fn stand(&self, instance: usize, nodes: Standing) {
        self.state().standing[instance] = nodes;
    }

    /// Tells the hubs, and who forwards things to nodes, if it is news.
    pub(crate) fn tell(&self, desk: &Desk) {
        let mut state = self.state();
        let mut everywhere = state.standing[0].clone();
        everywhere.retain(|node, _| state.standing.iter().all(|standing| standing.contains_key(node)));
        if state.told.as_ref() == Some(&everywhere) {
            return;
        }
        desk.numbers.nodes.store(everywhere.len() as u64, Relaxed);
        let listening = everywhere.iter().filter_map(|(node, listening)| Some((*node, listening.clone()?)));
        desk.tell_peers(listening.collect());
        desk.tell(BusEvent::Leases(everywhere.keys().copied().collect()));
        state.told = Some(everywhere);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
