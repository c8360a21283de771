//! Names for what observations name by index.

use std::sync::{Arc, OnceLock};

use crate::ledger::Rooms;
use crate::observe::{Example, Examples};
use crate::record::Names;
use crate::statistics::ErrorExample;

/// The names of one run. All but the labels are known when the player has started.
#[derive(Debug, Default)]
pub(super) struct RunNames {
    pub(super) labels: Vec<String>,
    pub(super) rooms: OnceLock<Arc<Rooms>>,
    pub(super) sources: OnceLock<Vec<String>>,
    pub(super) examples: OnceLock<Arc<Examples>>,
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

    fn examples(&self) -> Vec<ErrorExample> {
        let seen = self.examples.get().map(|examples| examples.all()).unwrap_or_default();
        let example =
            |(kind, outcome, code, Example { text, .. })| ErrorExample { kind, outcome, code, text };
        seen.into_iter().map(example).collect()
    }
}
