//! If a run's process is killed, its log is complete up to the last second.

#![allow(clippy::print_stdout)] // the child reports its progress to the parent

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use load::observe::{Batch, Kind, NO_LABEL, NO_ROOM, Observation, Outcome};
use load::record::{Collector, CollectorConfig, FLUSH_INTERVAL, LogForm, Names, RunFolder, recount};

/// Tells the child process where to write; if it is unset, this process is the parent.
const FOLDER: &str = "STAMPEDE_TEST_FOLDER";
/// How much longer than a flush interval the child runs, so that rows have been written.
const PATIENCE: Duration = Duration::from_secs(60);

struct Unnamed;

impl Names for Unnamed {
    fn room(&self, _: u32) -> Option<String> {
        None
    }
    fn label(&self, _: u16) -> Option<String> {
        None
    }
    fn source(&self, _: u16) -> Option<String> {
        Some("127.0.0.1".to_owned())
    }
}

#[test]
fn a_killed_process_loses_no_more_than_the_last_second_of_its_log() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return write_until_killed(Path::new(&folder));
    }
    let parent = tempfile::tempdir().expect("a folder");
    let folder = RunFolder::create(parent.path(), "killed").expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("the test's own program"))
        .args(["--exact", "a_killed_process_loses_no_more_than_the_last_second_of_its_log", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    // The child reports its progress; it is killed while it is working, well after its first flush.
    let mut sent = 0;
    for line in BufReader::new(child.stdout.take().expect("its output")).lines() {
        let Some(number) = line.expect("a line").strip_prefix("sent ").and_then(|number| number.parse().ok())
        else {
            continue;
        };
        sent = number;
        if sent >= 5 * BATCHES_PER_SECOND {
            break;
        }
    }
    child.kill().expect("it is running");
    child.wait().expect("it is over");

    let again = recount(folder.path()).expect("readable");
    // One second until the flush, and two more for a machine busy with other tests.
    let flushed = sent - 3 * FLUSH_INTERVAL.as_secs() * BATCHES_PER_SECOND;
    let batches = again.rows / ROWS;
    assert!(batches >= flushed, "{batches} batches in the log of {sent}, of which {flushed} were flushed");
    assert_eq!(again.statistics.counts().received, again.rows, "every row is whole");
}

const BATCHES_PER_SECOND: u64 = 20;
const ROWS: u64 = 100;

fn write_until_killed(folder: &Path) {
    let folder = RunFolder::open(folder).expect("the parent's folder");
    let start = Instant::now();
    let config = CollectorConfig {
        start,
        folder: Some(folder),
        log: LogForm::Zstd,
        names: Arc::new(Unnamed),
        samples_seed: None,
        parts: None,
        spans_machines: false,
    };
    let collector = Collector::start(config).expect("a collector");
    let sink = collector.sink();
    for number in 1.. {
        if start.elapsed() > PATIENCE {
            return;
        }
        sink.send(Batch { shard: 0, observations: vec![receipt(start.elapsed()); ROWS as usize] })
            .expect("taken");
        println!("sent {number}");
        // The load of a run: a fixed number of batches per second.
        let due = Duration::from_secs(1) * number / BATCHES_PER_SECOND as u32;
        std::thread::sleep(due.saturating_sub(start.elapsed()));
    }
}

fn receipt(elapsed: Duration) -> Observation {
    let at = elapsed.as_nanos() as u64;
    Observation {
        at,
        intended: at,
        began: at,
        message: 1,
        user: 0,
        room: NO_ROOM,
        bytes: 64,
        count: 0,
        label: NO_LABEL,
        source: 0,
        code: 0,
        kind: Kind::Receive,
        outcome: Outcome::Ok,
    }
}
