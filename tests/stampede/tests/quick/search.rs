//! The search for the largest load that holds.

use std::collections::BTreeSet;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;
use stampede_tests::{Lab, echo, echo_after};

/// So many users as the load, each with one message.
fn scenario(url: &str) -> String {
    let scenario = crate::echoes(url, 7, 1, "20ms").replace("burst: 7", "burst: ${load}");
    format!("variables: {{ load: 1 }}\n{scenario}")
}

#[test]
fn a_search_finds_the_largest_load_that_holds_to_the_user() {
    // Slow beside what a busy machine adds, so that no run is invalid.
    let (server, _) = echo_after(Duration::from_millis(300));
    let lab = Lab::new();
    lab.file("scenario.yaml", &scenario(&server.url()));
    let range = ["--from", "8", "--to", "100", "--factor", "1.5", "--precision", "1", "--repeats", "1"];
    let mut arguments = vec!["search", "scenario.yaml", "--until", "connected_max <= 9", "--json"];
    arguments.extend(range);
    let outcome = lab.ask(&arguments);
    assert_eq!(outcome.code, 0, "{}{}", outcome.output, outcome.complaints);
    let found: Value = serde_json::from_str(&outcome.output).expect("JSON");
    let answer = &found["answer"];
    assert_eq!((&answer["held"], &answer["failed"]), (&Value::from(9), &Value::from(10)), "{found}");
    assert_eq!(answer["limit"], "server", "{found}");
    let steps = found["steps"].as_array().expect("steps");
    let mut loads: Vec<u64> = steps.iter().filter_map(|step| step["load"].as_u64()).collect();
    // A run that a busy machine spoilt is made once more.
    loads.dedup();
    assert_eq!(loads, [8, 12, 10, 9], "{found}");
}

#[test]
fn a_search_makes_its_answer_and_what_fails_so_often_and_says_how_sure_it_is() {
    const REPEATS: u64 = 3;
    let (server, _) = echo_after(Duration::from_millis(300));
    let lab = Lab::new();
    lab.file("scenario.yaml", &scenario(&server.url()));
    let until = ["search", "scenario.yaml", "--until", "connected_max <= 5"];
    let range =
        ["--from", "4", "--to", "50", "--factor", "1.5", "--precision", "1", "--repeats", "3", "--json"];
    let outcome = lab.ask(&[&until[..], &range].concat());
    assert_eq!(outcome.code, 0, "{}{}", outcome.output, outcome.complaints);
    let found: Value = serde_json::from_str(&outcome.output).expect("JSON");
    let answer = &found["answer"];
    assert_eq!((&answer["held"], &answer["failed"]), (&Value::from(5), &Value::from(6)), "{found}");
    let runs = |load: u64, outcome: &str| {
        let steps = found["steps"].as_array().expect("steps").iter();
        steps.filter(|step| step["load"] == load && step["outcome"] == outcome).count() as u64
    };
    // Runs that a busy machine spoilt are made once more, and are none of these.
    assert_eq!((runs(5, "held"), runs(5, "failed")), (REPEATS, 0), "{found}");
    assert_eq!(runs(6, "held"), 0, "{found}");
    assert_eq!(answer["held_runs"], REPEATS, "{found}");
    assert_eq!(answer["failed_runs"], runs(6, "failed"), "{found}");
    let folders: BTreeSet<&str> =
        found["steps"].as_array().expect("steps").iter().filter_map(|step| step["folder"].as_str()).collect();
    assert_eq!(Some(folders.len()), found["steps"].as_array().map(Vec::len), "each run has its own: {found}");
}

#[test]
fn a_search_that_is_interrupted_says_what_it_knows() {
    let (server, messages) = echo();
    let lab = Lab::new();
    let endless = crate::endless_echoes(&server.url(), 7).replace("burst: 7", "burst: ${load}");
    lab.file("scenario.yaml", &format!("variables: {{ load: 1 }}\n{endless}"));
    let program = lab.start(&["search", "scenario.yaml", "--until", "errors == 0", "--from", "2", "--json"]);
    messages.wait_for(10);
    program.signal(Signal::SIGINT);
    let outcome = program.ended();
    let found: Value = serde_json::from_str(&outcome.output).expect("JSON");
    assert_eq!(found["answer"]["limit"], "stopped", "{found}");
    assert_eq!(found["answer"]["held"], Value::Null, "a run that was stopped says nothing: {found}");
    assert_eq!(found["steps"].as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn a_search_whose_time_is_over_begins_no_further_run() {
    let (server, _) = echo();
    let lab = Lab::new();
    lab.file("scenario.yaml", &scenario(&server.url()));
    let outcome = lab.ask(&["search", "scenario.yaml", "--until", "errors == 0", "--within", "0", "--json"]);
    assert_eq!(outcome.code, 1, "nothing is known to hold: {}{}", outcome.output, outcome.complaints);
    let found: Value = serde_json::from_str(&outcome.output).expect("JSON");
    assert_eq!(found["answer"]["limit"], "time", "{found}");
    assert_eq!(found["steps"].as_array().map(Vec::len), Some(0), "{found}");
    assert_eq!(server.accepted().count(), 0);
}

#[test]
fn a_search_prints_its_scenario_without_playing_it() {
    let (server, _) = echo();
    let lab = Lab::new();
    lab.file("scenario.yaml", &scenario(&server.url()));
    let printed = lab.ask(&["search", "scenario.yaml", "--until", "errors == 0", "--print-scenario"]);
    assert_eq!(printed.code, 0, "{}", printed.complaints);
    assert!(printed.output.contains("burst: 100"), "{}", printed.output);
    assert_eq!(server.accepted().count(), 0);
}
