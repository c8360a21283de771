//! What needs nothing but Stampede itself: it is measured by servers and a proxy in the test's process.

mod command_line;
mod endings;
mod faults;
mod honesty;
mod http;
mod live;
mod losses;
mod plateau;
mod presets;
mod reports;
mod rooms;
mod search;
mod servers;
mod terminal;
mod tls;

use stampede_tests::Lab;

/// Users who come at once, send so many echoes each, so often, and then stay until the run ends.
fn echoes(url: &str, users: u32, times: u32, pace: &str) -> String {
    format!(
        "name: echoes
target: {url}
phases:
  - burst: {users}
drain: 2s
sessions:
  - name: speaker
    steps:
      - connect: /
      - loop:
          times: {times}
          steps:
            - send: {{ size: 64, audience: echo }}
            - pace: {pace}
      - stay
"
    )
}

/// Users who send echoes until the run is stopped, a minute at most.
fn endless_echoes(url: &str, users: u32) -> String {
    echoes(url, users, 1_000_000, "20ms") + "duration: 60s\n"
}

/// `report FOLDER --json`: the summary that the event log gives.
fn recounted(lab: &Lab, folder: &str) -> stampede_tests::Summary {
    let outcome = lab.ask(&["report", folder, "--json"]);
    let told = serde_json::from_str(&outcome.output);
    let summary =
        stampede_tests::Summary(told.unwrap_or_else(|error| panic!("{error}: {}", outcome.complaints)));
    assert_eq!(outcome.code, summary.exit_code(), "{}{}", outcome.output, outcome.complaints);
    summary
}
