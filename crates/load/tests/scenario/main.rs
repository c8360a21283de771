//! Tests the scenario format through its public interface: parsing, interpretation, and error messages.

mod documents;
mod errors;
mod meaning;
mod round_trip;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use load::scenario::plan::Plan;
use load::scenario::{self, ScenarioErrors};

/// Returns the root of the workspace.
fn workspace() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the published scenarios, including those in subdirectories.
fn ready_scenarios() -> Vec<PathBuf> {
    let mut folders = vec![workspace().join("bench/scenarios")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let path = entry.expect("the folder can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                found.push(path);
            }
        }
    }
    found
}

/// Parses a scenario as if it were in the directory of the published ones, so that it can use their feeders.
fn parse(text: &str) -> Result<Plan, ScenarioErrors> {
    scenario::parse(text, "test.yaml", &workspace().join("bench/scenarios"), &BTreeMap::new())
}

fn plan(text: &str) -> Plan {
    parse(text).unwrap_or_else(|errors| panic!("{errors}\n\nin:\n{text}"))
}

/// Returns a complete scenario with these steps.
fn with_steps(steps: &str) -> String {
    let mut text =
        "target: ws://127.0.0.1:4000\nphases: [burst: 1]\nsessions:\n  - name: example\n    steps:\n"
            .to_owned();
    for line in steps.lines() {
        text.push_str("      ");
        text.push_str(line);
        text.push('\n');
    }
    text
}
