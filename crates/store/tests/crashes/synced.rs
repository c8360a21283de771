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
    let groups = check(&text).unwrap_or_else(|line| panic!("the sync failed, or had not ended: {line}"));
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

/// Checks the trace; returns how many groups were written, synced and acknowledged, or the line of a sync that failed or of
/// an acknowledgement that came too early.
fn check(trace: &str) -> Result<usize, &str> {
    let mut is_synced = true;
    let mut was_synced_since_ack = false;
    // The thread whose sync another thread's line has split in two.
    let mut syncing = None;
    let mut groups = 0;
    for line in trace.lines().skip_while(|line| !line.contains("\"ready")) {
        let thread = line.split(' ').next();
        let is_log = line.contains("-wal>");
        let ends_sync = if is_log && line.contains("sync(") {
            syncing = thread.filter(|_| line.contains("<unfinished"));
            syncing.is_none()
        } else {
            line.contains("sync resumed") && syncing.take_if(|syncing| Some(*syncing) == thread).is_some()
        };
        if ends_sync {
            if line.contains("= -1") {
                return Err(line);
            }
            is_synced = true;
            was_synced_since_ack = true;
        } else if is_log && line.contains("write") {
            is_synced = false;
        } else if line.contains("\"acked") {
            if !is_synced {
                return Err(line);
            }
            groups += usize::from(was_synced_since_ack);
            was_synced_since_ack = false;
        }
    }
    Ok(groups)
}

/// An acknowledgement before the end of the sync, and a sync that failed, are found in a trace.
pub(crate) fn what_is_too_early_is_found() {
    const READY: &str = "1 write(1<pipe:[1]>, \"ready\\n\", 6) = 6\n";
    const WRITTEN: &str = "2 pwrite64(9</s.sqlite3-wal>, \"\"..., 4096, 0) = 4096\n";
    const SYNCED: &str = "2 fdatasync(9</s.sqlite3-wal>) = 0\n";
    const BEGUN: &str = "2 fdatasync(9</s.sqlite3-wal> <unfinished ...>\n";
    const ENDED: &str = "2 <... fdatasync resumed>) = 0\n";
    const OTHERS_ENDED: &str = "1 <... fdatasync resumed>) = 0\n";
    const FAILED: &str = "2 fdatasync(9</s.sqlite3-wal>) = -1 EIO\n";
    const ACKED: &str = "1 write(1<pipe:[1]>, \"acked 1\\n\", 8) = 8\n";
    for (lines, groups) in [
        (&[WRITTEN, SYNCED, ACKED][..], Ok(1)),
        (&[WRITTEN, BEGUN, ENDED, ACKED], Ok(1)),
        (&[WRITTEN, ACKED, SYNCED], Err(ACKED.trim_end())),
        (&[WRITTEN, BEGUN, ACKED, ENDED], Err(ACKED.trim_end())),
        (&[WRITTEN, BEGUN, OTHERS_ENDED, ACKED, ENDED], Err(ACKED.trim_end())),
        (&[WRITTEN, FAILED, ACKED], Err(FAILED.trim_end())),
    ] {
        let trace = format!("{READY}{}", lines.concat());
        assert_eq!(check(&trace), groups, "{trace}");
    }
}
