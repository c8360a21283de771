//! `stampede report` reads a log of any size in the same amount of memory. A single test in its own binary, because the
//! system reports the peak memory of all children together.

#[path = "../benches/stream/folder.rs"]
mod folder;
#[path = "../benches/stream/mod.rs"]
mod stream;

use std::path::Path;
use std::process::Command;

use load::record::LogForm;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

/// Maximum memory for a tenth of the larger log, and how much more the whole log may take. If the text were kept, it
/// would take ten times as much, and its rows even more. The number of blocks read ahead depends on the scheduler.
const BYTES_MAX: u64 = 256 << 20;
const FURTHER_BYTES_MAX: u64 = 64 << 20;
const LARGE: u64 = 100 << 20;

#[test]
fn a_report_of_a_log_of_100_mb_takes_no_more_memory_than_one_of_a_tenth_of_it() {
    let parent = tempfile::tempdir().expect("a folder");
    let small = report(parent.path(), LARGE / 10);
    assert!(small < BYTES_MAX, "{small} bytes were resident for {} bytes of log", LARGE / 10);
    let large = report(parent.path(), LARGE);
    assert!(
        large < small + FURTHER_BYTES_MAX,
        "{large} bytes were resident for {LARGE} bytes of log, {small} before"
    );
}

/// Generates a run with a log of this size and reports on it. Returns the peak memory of any report so far in bytes.
fn report(parent: &Path, log_bytes: u64) -> u64 {
    let (folder, rows) = folder::write(parent, LogForm::Csv, log_bytes).expect("a generated run");
    let log = std::fs::metadata(folder.path().join("events.csv")).expect("a log");
    assert!(log.len() >= log_bytes * 9 / 10, "the log is as large as it should be: {}", log.len());
    let output = Command::new(env!("CARGO_BIN_EXE_stampede"))
        .arg("report")
        .arg(folder.path())
        .arg("--json")
        .output()
        .expect("stampede runs");
    let told = String::from_utf8_lossy(&output.stderr);
    let summary: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {told}"));
    let counts = &summary["counts"];
    let counted =
        ["sent", "received"].map(|name| counts[name].as_u64().expect("a count")).iter().sum::<u64>();
    assert_eq!(counted + 2, rows, "every row was read, those of arrivals and ends too: {counts}");
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the system tells");
    u64::try_from(usage.max_rss()).expect("a size") * 1024
}
