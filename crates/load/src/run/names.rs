//! Resolves the indices in observations to names.

use std::sync::{Arc, OnceLock};

use crate::ledger::Rooms;
use crate::observe::{Example, Examples, Kind, Outcome};
use crate::record::Names;
use crate::statistics::ErrorExample;

/// The names of one run. All but the labels are set once the player has started.
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
        self.examples.get().map(|examples| in_words(examples.all())).unwrap_or_default()
    }
}

impl RunNames {
    /// Returns all but the first `known` examples.
    pub(super) fn examples_since(&self, known: usize) -> Vec<ErrorExample> {
        self.examples.get().map(|examples| in_words(examples.since(known))).unwrap_or_default()
    }
}

fn in_words(examples: Vec<(Kind, Outcome, u16, Example)>) -> Vec<ErrorExample> {
    let example = |(kind, outcome, code, Example { text, .. })| ErrorExample { kind, outcome, code, text };
    examples.into_iter().map(example).collect()
}
