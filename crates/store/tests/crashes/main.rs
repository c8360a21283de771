//! Acknowledged messages survive kill -9, a full disk and a dying server; and the system calls between append and
//! acknowledgement are the right ones.
//!
//! The program that writes and is killed is this one, started again with `--write`.

mod full;
mod killed;
#[path = "../postgres_server/mod.rs"]
mod postgres_server;
mod synced;
mod writer;

use libtest_mimic::{Arguments, Trial};
use std::process::ExitCode;

const TESTS: [(&str, fn()); 9] = [
    (
        "whatever SQLite acknowledged is there once and in order after each of 20 kills",
        killed::sqlite_is_killed,
    ),
    (
        "whatever PostgreSQL acknowledged is there once and in order after the writer was killed",
        killed::writer_is_killed,
    ),
    ("a PostgreSQL server that dies is missed, waited for and found again", killed::server_is_killed),
    (
        "two servers on one database make one order, and a retry by the other one is the same message",
        killed::two_servers,
    ),
    ("a sync stands between append and acknowledgement", synced::a_sync_stands_between),
    ("an acknowledgement before the end of the sync is found in a trace", synced::what_is_too_early_is_found),
    (
        "nothing is acknowledged while the disk takes nothing, and the store recovers with it",
        full::the_disk_takes_nothing,
    ),
    (
        "a file that may not grow refuses writing, and takes it again when there is room",
        full::the_file_may_not_grow,
    ),
    ("a full queue answers at once that it is busy", full::a_full_queue_is_busy),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some(writer::FLAG) {
        let target = arguments.next().expect("where to write");
        writer::write(&target, &arguments.next().expect("what the round is called"));
        return ExitCode::SUCCESS;
    }
    let trials = TESTS.into_iter().map(|(sentence, test)| {
        Trial::test(sentence, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
