//! Resolves names to numbers.

use std::collections::{BTreeSet, HashMap};

use super::super::plan::{BarrierId, Feeder, LabelId, VariableId};

/// All names of a scenario.
#[derive(Default)]
pub(super) struct Names {
    pub(super) variables: Interner,
    pub(super) labels: Interner,
    pub(super) barriers: Interner,
    pub(super) sequences: Interner,
    pub(super) feeders: Vec<Feeder>,
    /// Variables that the session being compiled assigns anywhere.
    pub(super) known: BTreeSet<String>,
    /// Feeders that have a column used by that session.
    pub(super) feeders_used: BTreeSet<u16>,
    /// All columns used anywhere, each with its variable: `(feeder, column, variable)`.
    pub(super) columns: Vec<(u16, u16, VariableId)>,
}

impl Names {
    pub(super) fn variable(&mut self, name: &str) -> VariableId {
        VariableId(self.variables.number(name))
    }

    pub(super) fn label(&mut self, name: &str) -> LabelId {
        LabelId(self.labels.number(name))
    }

    pub(super) fn barrier(&mut self, name: &str) -> BarrierId {
        BarrierId(self.barriers.number(name))
    }

    /// Returns the variable that holds the user's value of a feeder's column, and marks the column as used.
    pub(super) fn column(&mut self, feeder: u16, column: u16, name: &str) -> VariableId {
        self.feeders_used.insert(feeder);
        let variable = self.variable(name);
        let entry = (feeder, column, variable);
        if !self.columns.contains(&entry) {
            self.columns.push(entry);
        }
        variable
    }
}

/// Numbers names in the order of their first use.
#[derive(Default)]
pub(super) struct Interner {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Interner {
    /// The maximum number of names of one kind; further names share the last number and are reported at the end.
    pub(super) const MAX: usize = u16::MAX as usize - 1;

    pub(super) fn number(&mut self, name: &str) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(name.to_owned());
        let number = u16::try_from(self.names.len() - 1).unwrap_or(u16::MAX);
        self.numbers.insert(name.to_owned(), number);
        number
    }

    pub(super) fn find(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }
}
