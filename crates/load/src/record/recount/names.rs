//! The tables of labels and source addresses that a log names, by the indexes that statistics have.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::observe::NO_LABEL;
use crate::statistics::RunFacts;

/// Name tables, shared by all threads.
pub(super) struct Tables {
    pub(super) labels: Mutex<Vec<String>>,
    pub(super) sources: Mutex<Vec<String>>,
}

impl Tables {
    pub(super) fn of(facts: &RunFacts) -> Self {
        Self { labels: Mutex::new(facts.labels.clone()), sources: Mutex::new(facts.sources.clone()) }
    }

    pub(super) fn into_names(self) -> (Vec<String>, Vec<String>) {
        let names = |table: Mutex<Vec<String>>| table.into_inner().unwrap_or_else(PoisonError::into_inner);
        (names(self.labels), names(self.sources))
    }
}

/// One thread's cache of a table.
pub(super) struct Known<'a> {
    table: &'a Mutex<Vec<String>>,
    indexes: HashMap<Box<[u8]>, u16>,
    /// Cache of the previous row's name, since most rows repeat it.
    last: (Vec<u8>, u16),
}

impl<'a> Known<'a> {
    pub(super) fn new(table: &'a Mutex<Vec<String>>) -> Self {
        let mut known = Self { table, indexes: HashMap::new(), last: (Vec::new(), 0) };
        known.last.1 = known.looked_up(b"");
        known
    }

    pub(super) fn index(&mut self, name: &[u8]) -> u16 {
        if self.last.0 != name {
            self.last.1 = self.looked_up(name);
            self.last.0.clear();
            self.last.0.extend_from_slice(name);
        }
        self.last.1
    }

    fn looked_up(&mut self, name: &[u8]) -> u16 {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = self.entered(&String::from_utf8_lossy(name));
        self.indexes.insert(name.into(), index);
        index
    }

    /// Returns the index of a name in the shared table, appending the name if it is new. The last index stands for all
    /// names beyond the table's capacity.
    fn entered(&self, name: &str) -> u16 {
        const LAST: u16 = NO_LABEL - 1;
        if name.is_empty() {
            return 0;
        }
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let place = table.iter().position(|known| known == name).unwrap_or_else(|| {
            if table.len() < usize::from(LAST) {
                table.push(name.to_owned());
            }
            table.len() - 1
        });
        u16::try_from(place).unwrap_or(LAST)
    }
}
