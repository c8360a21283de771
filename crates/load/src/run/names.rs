//! Names for what observations name by index.

use std::sync::{Arc, OnceLock};

use crate::ledger::Rooms;
use crate::record::Names;

/// The names of one run. Rooms and source addresses are known when the player has started.
#[derive(Debug, Default)]
pub(super) struct RunNames {
    pub(super) labels: Vec<String>,
    pub(super) rooms: OnceLock<Arc<Rooms>>,
    pub(super) sources: OnceLock<Vec<String>>,
}

impl Names for RunNames {
    fn room(&self, room: u32) -> Option<String> {
        self.rooms.get()?.name(room).map(|name| name.to_string())
    }

    fn label(&self, label: u16) -> Option<String> {
        self.labels.get(usize::from(label)).cloned()
    }

    fn source(&self, source: u16) -> Option<String> {
        self.sources.get()?.get(usize::from(source)).cloned()
    }
}
