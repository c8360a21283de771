//! The system calls between an append and its acknowledgement.

use crate::writer::Writer;
use std::fs;

/// In the trace, for one group after another, the log is written, then synced, then the acknowledgement is written.
pub(crate) fn a_sync_stands_between() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("synced.sqlite3");
    let trace = folder.path().join("trace");
    let trace_path = trace.to_str().expect("the path is text");
    let calls = "trace=write,pwrite64,pwritev,fsync,fdatasync";
    let strace =
        ["strace", "--follow-forks", "--decode-fds=path", "--string-limit=16", "-e", calls, "-o", trace_path];
    let writer = Writer::start(&strace, file.to_str().expect("the path is text"), "r");
    writer.until("ready");
    for _ in 0..200 {
        writer.until("acked");
    }
    end(&writer);
    writer.kill();
    let text = fs::read_to_string(&trace).expect("strace has written it");
    let groups = check(&text);
    assert!(groups >= 3, "only {groups} groups in the trace");
}

/// `strace` exits with the program that it traces.
fn end(writer: &Writer) {
    let children = format!("/proc/{0}/task/{0}/children", writer.id());
    let children = fs::read_to_string(children).expect("strace is there");
    for child in children.split_whitespace() {
        let killed = std::process::Command::new("kill").args(["-KILL", child]).status();
        assert!(killed.is_ok_and(|status| status.success()), "the writer was there");
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Log {
    Synced,
    Written,
}

/// Checks the trace; returns how many groups were written, synced and acknowledged.
fn check(trace: &str) -> usize {
    let mut log = Log::Synced;
    let mut groups = 0;
    let mut was_synced_since_ack = false;
    for line in trace.lines().skip_while(|line| !line.contains("\"ready")) {
        let is_log = line.contains("-wal>");
        if is_log && line.contains("write") {
            log = Log::Written;
        } else if is_log && (line.contains("fdatasync(") || line.contains("fsync(")) {
            // A call that another thread's line splits is over when it is resumed; the writer's thread does nothing in
            // between, so its start can be taken for its end.
            assert!(!line.contains("= -1"), "a sync failed: {line}");
            log = Log::Synced;
            was_synced_since_ack = true;
        } else if line.contains("\"acked") {
            assert_eq!(log, Log::Synced, "acknowledged before the log was synced: {line}");
            groups += usize::from(was_synced_since_ack);
            was_synced_since_ack = false;
        }
    }
    groups
}
