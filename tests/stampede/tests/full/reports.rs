//! Comparisons, which need runs of some length.

use std::thread;
use std::time::Duration;

use stampede_tests::{Ended, Lab, echo_after};

#[test]
#[ignore = "takes its time"]
fn a_comparison_finds_what_got_worse_and_says_so_by_its_exit_status() {
    // Long beside what a busy machine adds to the sends: a try that is invalid is one that began late.
    let runs: Vec<Ended> = thread::scope(|scope| {
        let runs = [300, 300, 900].map(|thought_ms| scope.spawn(move || talk_to(thought_ms)));
        runs.into_iter().map(|run| run.join().expect("it does not panic")).collect()
    });
    let lab = Lab::new();
    let [first, second, slow] = runs.as_slice() else { unreachable!("there are three") };
    let worse = lab.ask(&["compare", first.path(), slow.path()]);
    assert_eq!(worse.code, 1, "{}{}", worse.output, worse.complaints);
    let better = lab.ask(&["compare", slow.path(), second.path(), "--json"]);
    assert_eq!(better.code, 0, "{}{}", better.output, better.complaints);
    let told: serde_json::Value = serde_json::from_str(&better.output).expect("JSON");
    assert!(told["changes"].is_array(), "{told}");
}

/// Eighty seconds, more than a dozen blocks, of echoes of a server that thinks so long about each.
fn talk_to(thought_ms: u64) -> Ended {
    let (server, _) = echo_after(Duration::from_millis(thought_ms));
    let ended = Lab::play_undisturbed(&format!(
        "name: thinking-{thought_ms}ms
target: {}
phases:
  - burst: 5
sessions:
  - name: speaker
    steps:
      - connect: /
      - loop:
          times: 80
          steps:
            - send: {{ size: 64, audience: echo }}
            - pace: 1s
      - stay
",
        server.url()
    ));
    assert!(ended.summary().is_valid(), "{}", ended.words());
    ended
}
