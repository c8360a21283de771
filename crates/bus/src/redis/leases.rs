//! The nodes with a valid lease: those that have one on every instance.

use crate::session::{SessionContext, Standing};
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

    /// Sets the nodes with a valid lease on an instance.
    pub(crate) fn stand(&self, instance: usize, nodes: Standing) {
        self.state().standing[instance] = nodes;
    }

    /// Informs the hubs and the forwarder if the nodes have changed.
    pub(crate) fn tell(&self, context: &SessionContext) {
        let mut state = self.state();
        let mut everywhere = state.standing[0].clone();
        everywhere.retain(|node, _| state.standing.iter().all(|standing| standing.contains_key(node)));
        if state.told.as_ref() != Some(&everywhere) {
            context.tell_standing(&everywhere);
            state.told = Some(everywhere);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
