//! Runs both sides of the floor against each other: checks counts, never speed.

use std::process::Command;

use serde_json::Value;

const PAIRS: u64 = 300;

#[test]
fn every_pair_joins_hears_each_broadcast_once_and_echoes() {
    let report = run_floor();
    assert_eq!(report["connect"]["open"], PAIRS, "{report}");
    assert_eq!(report["broadcast"]["opened"]["open"], PAIRS, "{report}");
    assert_eq!(report["broadcast"]["lost"], 0, "{report}");
    assert_eq!(report["broadcast"]["extra"], 0, "{report}");
    for echo in ["echo", "echo_in_flight"] {
        assert_eq!(report[echo]["opened"]["open"], 20, "{report}");
        assert!(report[echo]["echoes"].as_u64() > Some(0), "{report}");
    }
}

fn run_floor() -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_floor"))
        .args(["run", "--json", "--connections", &PAIRS.to_string(), "--rounds", "3"])
        .args(["--echo-connections", "20", "--echo-seconds", "0.2"])
        .output()
        .expect("the floor runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the report is JSON")
}
