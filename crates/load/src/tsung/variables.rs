//! Variables of a session: their names in the scenario, and which of them are assigned.

use std::collections::{BTreeMap, BTreeSet};

/// Names that have a special meaning in a scenario.
const RESERVED: [&str; 6] = ["user_id", "unique_id", "stamp", "now_ms", "target_host", "sequence"];
/// Prefix of feeder names; variable names never start with it.
pub(super) const FEEDER_PREFIX: &str = "file_";
/// The number that Tsung gives each user.
const USER_ID: &str = "tsung_userid";

/// The variables of one session.
#[derive(Default)]
pub(super) struct Variables {
    /// Scenario names by Tsung name.
    names: BTreeMap<String, String>,
    /// Scenario names in use.
    taken: BTreeSet<String>,
    written: BTreeSet<String>,
    read: BTreeSet<String>,
    known: BTreeMap<String, Known>,
}

/// Values that are known before the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Known {
    Constant(f64),
    Uniform(f64, f64),
}

impl Variables {
    /// Returns the name under which a step assigns the variable.
    pub(super) fn write(&mut self, tsung: &str) -> String {
        self.known.remove(tsung);
        self.written.insert(tsung.to_owned());
        self.name(tsung)
    }

    /// Like [`Self::write`], for a value that is already known.
    pub(super) fn write_known(&mut self, tsung: &str, known: Known) -> String {
        let name = self.write(tsung);
        self.known.insert(tsung.to_owned(), known);
        name
    }

    /// Returns the placeholder for its value in a template.
    pub(super) fn read(&mut self, tsung: &str) -> String {
        if tsung == USER_ID && !self.written.contains(USER_ID) {
            return "{{user_id}}".to_owned();
        }
        self.read.insert(tsung.to_owned());
        format!("{{{{{}}}}}", self.name(tsung))
    }

    pub(super) fn known(&self, tsung: &str) -> Option<Known> {
        self.known.get(tsung).copied()
    }

    /// Returns the Tsung name and the scenario name of each variable that is read but never assigned.
    pub(super) fn read_and_never_written(&mut self) -> Vec<(String, String)> {
        let unset: Vec<String> = self.read.difference(&self.written).cloned().collect();
        unset.into_iter().map(|tsung| (tsung.clone(), self.name(&tsung))).collect()
    }

    fn name(&mut self, tsung: &str) -> String {
        if let Some(name) = self.names.get(tsung) {
            return name.clone();
        }
        let mut name = identifier(tsung);
        if name.starts_with(FEEDER_PREFIX) {
            name.insert(0, '_');
        }
        while RESERVED.contains(&name.as_str()) || self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.insert(name.clone());
        self.names.insert(tsung.to_owned(), name.clone());
        name
    }
}

/// Converts a text to an identifier: letters, digits and `_`, not starting with a digit.
pub(super) fn identifier(text: &str) -> String {
    let mut name: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_variable_has_a_name_of_its_own_that_a_scenario_can_have() {
        let mut variables = Variables::default();
        for (tsung, expected) in [
            ("user", "{{user}}"),
            ("user-id", "{{user_id_}}"),
            ("user_id", "{{user_id__}}"),
            ("1st", "{{_1st}}"),
            ("file_a", "{{_file_a}}"),
            ("user", "{{user}}"),
            ("tsung_userid", "{{user_id}}"),
        ] {
            assert_eq!(variables.read(tsung), expected, "{tsung}");
        }
    }

    #[test]
    fn what_is_read_and_never_written_is_known() {
        let mut variables = Variables::default();
        variables.read("a");
        variables.write("b");
        variables.read("b");
        assert_eq!(variables.read_and_never_written(), [("a".to_owned(), "a".to_owned())]);
    }
}
