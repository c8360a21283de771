//! Tests that the reference, the schema and the published scenarios agree with the code.

use std::collections::BTreeMap;
use std::fs;

use load::scenario;

use super::{parse, ready_scenarios, with_steps, workspace};

/// If set, rewrites the generated files: `UPDATE_DOCUMENTS=1 cargo test -p load --test scenario`.
const UPDATE: &str = "UPDATE_DOCUMENTS";

#[test]
fn the_schema_in_the_documents_is_the_formats() {
    let path = workspace().join("docs/scenario.schema.json");
    let current = serde_json::to_string_pretty(&scenario::schema()).expect("a schema is JSON") + "\n";
    if std::env::var_os(UPDATE).is_some() {
        fs::write(&path, &current).expect("the schema can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == current,
        "docs/scenario.schema.json is out of date; rewrite it with: {UPDATE}=1 cargo test -p load --test scenario"
    );
}

#[test]
fn every_ready_scenario_can_be_played() {
    let paths = ready_scenarios();
    for path in &paths {
        scenario::load(path, &BTreeMap::new()).unwrap_or_else(|errors| panic!("{errors}"));
    }
    assert!(paths.len() >= 10, "{} scenarios", paths.len());
}

#[test]
fn every_example_of_the_reference_is_a_scenario() {
    let document = fs::read_to_string(workspace().join("docs/scenarios.md")).expect("the reference is there");
    let examples = fenced(&document);
    assert!(examples.len() >= 12, "{} examples", examples.len());
    for (info, line, example) in examples {
        let text = match info {
            "yaml" => example.clone(),
            "yaml steps" => with_steps(&example),
            "yaml phases" | "yaml keys" => with_keys(info, &example),
            info => panic!("docs/scenarios.md:{line}: an example of unknown kind `{info}`"),
        };
        parse(&text).unwrap_or_else(|errors| panic!("docs/scenarios.md:{line}: {errors}\n\nin:\n{text}"));
    }
}

/// Returns kind, line and text of each fenced block of YAML.
fn fenced(document: &str) -> Vec<(&str, usize, String)> {
    let mut examples = Vec::new();
    let mut lines = document.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let body: Vec<&str> =
                lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
            if info.starts_with("yaml") {
                examples.push((info, number + 1, body.join("\n") + "\n"));
            }
        }
    }
    examples
}

/// Returns a complete scenario with these keys and the others that it needs.
fn with_keys(info: &str, example: &str) -> String {
    let mut text = if info == "yaml phases" { format!("phases:\n{example}") } else { example.to_owned() };
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    let mut needed = String::new();
    for (keys, line) in [
        (vec!["target"], "target: ws://127.0.0.1:4000\n"),
        (vec!["phases"], "phases: [burst: 1]\n"),
        (vec!["sessions"], "sessions: [{ name: example, steps: [think: 1s] }]\n"),
    ] {
        if !keys.iter().any(|key| has(key)) {
            needed.push_str(line);
        }
    }
    text.push_str(&needed);
    text
}
