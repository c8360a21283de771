//! Names that become numbers.

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
    /// Variables to which the session that is being compiled gives a value somewhere.
    pub(super) known: BTreeSet<String>,
    /// Feeders of which that session uses a column.
    pub(super) feeders_used: BTreeSet<u16>,
    /// Columns used anywhere, each with its variable: `(feeder, column)`.
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

    /// The variable that holds the user's value of a feeder's column.
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

/// Gives each name a number, in the order of their first use.
#[derive(Default)]
pub(super) struct Interner {
    names: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Interner {
    /// The most names of one kind; what comes beyond shares the last number, and is complained about at the end.
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
