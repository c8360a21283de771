//! Run folders, and what is computed from several of them.

use std::fs;
use std::time::Duration;

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
    let runs = [5, 60].map(|thought_ms| {
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
fn a_comparison_finds_what_got_worse_and_says_so_by_its_exit_status() {
    let lab = Lab::new();
    let runs = [20, 20, 200].map(|thought_ms| {
        let (server, _) = echo_after(Duration::from_millis(thought_ms));
        lab.play(&crate::echoes(&server.url(), 5, 32, "250ms"))
    });
    for run in &runs {
        assert!(run.summary().is_valid(), "{}", run.summary().reasons());
    }
    let [first, second, slow] = &runs;
    let worse = lab.ask(&["compare", first.path(), slow.path()]);
    assert_eq!(worse.code, 1, "{}{}", worse.output, worse.complaints);
    let better = lab.ask(&["compare", slow.path(), second.path(), "--json"]);
    assert_eq!(better.code, 0, "{}{}", better.output, better.complaints);
    let told: serde_json::Value = serde_json::from_str(&better.output).expect("JSON");
    assert!(told.is_object(), "{told}");
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
