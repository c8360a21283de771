//! The byte budgets hold, and 64 planted bytes per connection exceed them: measured and judged by `bench/check`, as
//! `make bench-check` runs it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;

static AS_IT_IS: LazyLock<(Option<i32>, Value)> = LazyLock::new(|| check(&[]));

#[test]
fn the_byte_budgets_are_kept() {
    let (status, report) = &*AS_IT_IS;
    assert_eq!(*status, Some(0), "{report:#}");
    assert_eq!(report["kept"], true);
}

#[test]
fn sixty_four_bytes_more_for_each_connection_are_seen_and_refused() {
    let (_, as_it_is) = &*AS_IT_IS;
    let (status, planted) = check(&["--plant"]);
    assert_eq!(status, Some(1), "{planted:#}");
    for name in ["hub_bytes_per_join", "hub_bytes_per_further_join", "server_bytes_per_member"] {
        let more = measured(&planted, name) - measured(as_it_is, name);
        assert!((63.5..64.5).contains(&more), "{name} grew by {more}");
        assert_eq!(budget(&planted, name)["verdict"], "REGRESSED", "{name}");
    }
    // These have no channel, so the planted bytes do not affect them.
    for name in ["hub_bytes_per_connection", "server_bytes_per_websocket"] {
        assert_eq!(budget(&planted, name)["verdict"], "kept", "{name}");
    }
}

/// Returns the exit status and the report of the byte budgets.
fn check(arguments: &[&str]) -> (Option<i32>, Value) {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check");
    let output = Command::new("python3")
        .arg("-B")
        .arg(program)
        .args(["bytes", "--json", "--gauge", env!("CARGO_BIN_EXE_gauge")])
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .expect("python3 runs");
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("a report in JSON"))
}

fn measured(report: &Value, name: &str) -> f64 {
    budget(report, name)["measured"].as_f64().expect("it is measured")
}

fn budget<'r>(report: &'r Value, name: &str) -> &'r Value {
    let budgets = report["budgets"].as_array().expect("a list of budgets");
    budgets.iter().find(|budget| budget["name"] == name).expect("the budget is there")
}
