//! A driver that panics must not leave a server that hangs: the process ends and says so. The server is a process of
//! its own.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod line;
mod watching;

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use engine::ShardIndex;
use line::{Fixture, PATIENCE, Post};

/// The number of SIGABRT.
const ABORTED: i32 = 6;

#[test]
fn a_panic_of_a_driver_ends_the_process() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "server"])
        .env("ENGINE_TEST_PANIC", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.signal(), Some(ABORTED));
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("the driver was told to panic"), "{text}");
}

#[test]
#[ignore = "a part of the other test, which runs it in a process of its own"]
fn server() {
    if std::env::var_os("ENGINE_TEST_PANIC").is_none() {
        return;
    }
    let fixture = Fixture::start();
    fixture.mailboxes.post(ShardIndex(0), Post::Panic);
    std::thread::park_timeout(PATIENCE);
    unreachable!("the process outlives the panic of its shard");
}
