//! Run folders, and what is computed from several of them.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use stampede_tests::{Lab, echo, echo_after};

#[test]
fn a_run_leaves_its_whole_folder() {
    let (server, _) = echo();
    let ended = Lab::new().play(&crate::echoes(&server.url(), 5, 20, "20ms"));
    for file in ["summary.json", "run.json", "histograms.json", "series.csv", "events.csv.zst", "report.html"]
    {
        let length = fs::metadata(ended.folder.join(file)).map_or(0, |file| file.len());
        assert!(length > 0, "{file} is missing or empty; {}", ended.words());
    }
    let page = fs::read_to_string(ended.folder.join("report.html")).expect("text");
    for foreign in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(foreign), "the report needs the network: {foreign}");
    }
}

#[test]
fn several_runs_give_the_three_plots_of_configurations() {
    let lab = Lab::new();
    // Long beside what a busy machine adds, so that no run is invalid.
    let runs = [300, 600].map(|thought_ms| {
        let (server, _) = echo_after(Duration::from_millis(thought_ms));
        lab.play(&crate::echoes(&server.url(), 5, 10, "100ms"))
    });
    let output = lab.path("both");
    let output = output.to_str().expect("its name is text");
    let outcome = lab.ask(&["report", runs[0].path(), runs[1].path(), "--output", output]);
    assert_eq!(outcome.code, 0, "{}{}", outcome.output, outcome.complaints);
    assert!(lab.path("both/report.html").is_file());
    for plot in ["latency-percentiles", "latency-mean", "sent-and-received"] {
        let svg = fs::read_to_string(lab.path(&format!("both/plots/{plot}.svg"))).unwrap_or_default();
        assert!(svg.starts_with("<svg"), "{plot}: {}", outcome.complaints);
    }
}

#[test]
fn a_run_without_an_event_log_is_reported_and_compared_from_what_its_end_left() {
    let (server, _) = echo();
    let lab = Lab::new();
    let scenario = crate::echoes(&server.url(), 5, 20, "20ms");
    let ended = lab.start_scenario(&scenario, &["--event-log", "none"]).ended();
    let again = lab.ask(&["report", ended.path(), "--json"]);
    assert_eq!(again.code, ended.code, "{}{}", again.output, again.complaints);
    let told: Value = serde_json::from_str(&again.output).expect("JSON");
    assert_eq!(told, ended.summary().0);
    assert!(ended.folder.join("plots/latency-distribution.svg").is_file(), "{}", again.complaints);
    let compared = lab.ask(&["compare", ended.path(), ended.path(), "--json"]);
    assert!(serde_json::from_str::<Value>(&compared.output).is_ok(), "{}", compared.complaints);
}

#[test]
fn a_log_that_is_not_whole_does_not_replace_what_the_end_of_its_run_wrote() {
    let (server, _) = echo();
    let lab = Lab::new();
    let scenario = crate::echoes(&server.url(), 5, 20, "20ms");
    let ended = lab.start_scenario(&scenario, &["--event-log", "csv"]).ended();
    let read = |name: &str| fs::read_to_string(ended.folder.join(name)).unwrap_or_default();
    let (before, log) = (read("summary.json"), read("events.csv"));
    let half = log.split_inclusive('\n').count() / 2;
    // Whole rows, so that the log itself shows nothing: the run knows how many it wrote.
    let shorter: String = log.split_inclusive('\n').take(half).collect();
    for text in [shorter, log.trim_end()[..log.len() - 9].to_owned()] {
        fs::write(ended.folder.join("events.csv"), text).expect("written");
        let again = lab.ask(&["report", ended.path(), "--json"]);
        assert_eq!(again.code, ended.code, "{}{}", again.output, again.complaints);
        assert!(again.complaints.contains("summary.of-log.json"), "{}", again.complaints);
        assert_eq!(read("summary.json"), before);
        let told: Value = serde_json::from_str(&again.output).expect("JSON");
        assert_eq!(told, ended.summary().0);
        let of_log: Value = serde_json::from_str(&read("summary.of-log.json")).expect("JSON");
        assert!(of_log["counts"]["received"].as_u64() <= told["counts"]["received"].as_u64());
    }
    fs::write(ended.folder.join("events.csv"), log).expect("written");
    let again = lab.ask(&["report", ended.path(), "--json"]);
    assert!(!again.complaints.contains("summary.of-log.json"), "{}", again.complaints);
    assert_eq!(read("summary.json"), before, "the whole log tells what its run's end knew");
}

#[test]
fn several_runs_are_one_array_of_json_and_end_as_the_gravest() {
    // Slow beside what a busy machine adds, so that a run is seldom invalid.
    let (server, _) = echo_after(Duration::from_millis(300));
    let lab = Lab::new();
    let scenario = crate::echoes(&server.url(), 2, 5, "20ms");
    let missed = lab.start_scenario(&scenario, &["--threshold", "connected_max == 0"]).ended();
    let held = lab.start_scenario(&scenario, &[]).ended();
    let (missed_threshold, invalid) = (1, 3);
    assert!([missed_threshold, invalid].contains(&missed.code), "{}", missed.words());
    assert!([0, invalid].contains(&held.code), "{}", held.words());
    let output = lab.path("both");
    let output = output.to_str().expect("its name is text");
    let outcome = lab.ask(&["report", missed.path(), held.path(), "--json", "--output", output]);
    assert_eq!(outcome.code, missed.code.max(held.code), "{}", outcome.complaints);
    let told: Value = serde_json::from_str(&outcome.output).expect("JSON");
    assert_eq!(told, Value::from(vec![missed.summary().0, held.summary().0]));
}

#[test]
fn the_c10k_tests_own_result_outlives_a_report() {
    let (server, _) = echo();
    let address = server.address();
    let port = address.port().to_string();
    let lab = Lab::new();
    let ended = lab.run(&["c10k", "127.0.0.1", &port, "--clients", "5", "--seconds", "2"]);
    let term = || {
        let page = fs::read_to_string(ended.folder.join("report.html")).expect("text");
        page.rsplit_once("<pre>").and_then(|(_, rest)| Some(rest.split_once("</pre>")?.0.to_owned()))
    };
    let before = term();
    assert!(before.as_ref().is_some_and(|term| term.contains("connection_time")), "{before:?}");
    let again = lab.ask(&["report", ended.path()]);
    assert_eq!(again.code, ended.code, "{}", again.complaints);
    assert_eq!(term(), before);
}

#[test]
fn the_same_seed_plays_the_same_users() {
    let (server, _) = echo();
    let scenario = "name: seeded
target: URL
phases: [{ burst: 5 }]
sessions:
  - name: speaker
    steps:
      - connect: /
      - loop:
          times: 3..9
          steps:
            - send: { size: 64..4000, audience: echo }
            - wait: { echo: true }
";
    let lab = Lab::new();
    let scenario = scenario.replace("URL", &server.url());
    let sizes = |seed: &str| {
        let summary = lab.start_scenario(&scenario, &["--seed", seed]).ended().summary();
        (summary.count("sent"), summary.count("bytes_sent"))
    };
    assert_eq!(sizes("7"), sizes("7"));
    assert_ne!(sizes("7"), sizes("8"));
}
