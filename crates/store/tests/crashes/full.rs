//! Full disks, files at their size limit, full queues.

use crate::writer::{Acked, Writer, acked, append, call, open, room, verify};
use chat::verbs::{ChangeCommunity, Expire};
use chat::{Ask as _, By, CommunityLimits, Failure, Settings, Store as _, StoreErrorKind};
use std::process::Command;
use std::sync::mpsc;
use store::{SqliteOptions, SqliteStore};

/// The operating system limits the file size of a running process, and later lifts the limit.
pub(crate) fn the_disk_takes_nothing() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("full.sqlite3");
    let target = file.to_str().expect("the path is text");
    // Writing beyond the limit must be an error, not death by the signal; an ignored signal stays ignored through
    // `exec`.
    let shell = ["sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"];
    let writer = Writer::start(&shell, target, "r");
    let mut lines = writer.until("acked");
    for _ in 0..3 {
        limit_file_size(writer.id(), "1");
        lines.extend(writer.until("failed unavailable"));
        limit_file_size(writer.id(), "unlimited");
        lines.extend(writer.until("acked"));
    }
    lines.extend(writer.kill());
    // Failed messages may or may not be stored; nobody was told that they are.
    verify(&*open(target), &acked(&lines));
}

fn limit_file_size(pid: u32, bytes: &str) {
    let limited = Command::new("prlimit")
        .args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:unlimited")])
        .status();
    assert!(limited.is_ok_and(|status| status.success()), "prlimit is missing or refused (`make deps`)");
}

pub(crate) fn the_file_may_not_grow() {
    const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("small.sqlite3");
    let options = SqliteOptions { bytes_max: Some(400 << 10), ..SqliteOptions::new(&path) };
    let store = SqliteStore::open(options).expect("a new file opens");
    let room = room(&store, "r");
    let limits = CommunityLimits { history_days: Some(1), ..CommunityLimits::default() };
    let settings = Settings { limits, ..Settings::named("Crash") };
    store.ask(call(By::Service, "r", 1).ask(ChangeCommunity { settings })).expect("a key may");
    let mut all = Acked::new();
    let mut nth = 10;
    let refused = loop {
        match store.ask(append(room, "r", nth)) {
            Ok(said) => all.insert(said.message.client_id.to_string(), said.message.seq.0),
            Err(failure) => break failure,
        };
        nth += 1;
        assert!(nth < 100_000, "the file grew beyond what it may");
    };
    assert!(
        matches!(&refused, Failure::Unavailable(trouble) if trouble.kind == StoreErrorKind::Full),
        "{refused}"
    );
    assert_eq!(verify(&store, &all), all.len() as u64, "reading goes on, and what was refused is not there");
    // Dropping old messages makes room.
    let later = |nth| call(By::Service, "r", nth + 2 * DAY_MS);
    while store.ask(later(1).ask(Expire)).expect("dropping needs no room").more {}
    let said = store.ask(append(room, "r", nth)).expect("there is room again").message;
    assert_eq!(said.seq.0, all.len() as u64 + 1, "no place is used twice");
}

pub(crate) fn a_full_queue_is_busy() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("busy.sqlite3");
    // A single community can fill half of it.
    let options = SqliteOptions { queue_max: 8, ..SqliteOptions::new(&path) };
    let store = SqliteStore::open(options).expect("a new file opens");
    let room = room(&store, "r");
    // An answer callback that does not return blocks the writer for as long as this test wants.
    let (entered, has_entered) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    store.submit_verb(append(room, "r", 0), move |_| {
        entered.send(()).expect("the test waits");
        may_go_on.recv().expect("the test goes on");
    });
    has_entered.recv().expect("it is answered");
    let (answer, answers) = mpsc::channel();
    for nth in 1..=10 {
        let answer = answer.clone();
        store.submit_verb(append(room, "r", nth), move |outcome| {
            answer.send(outcome).expect("the test waits")
        });
    }
    for _ in 0..6 {
        let refused = answers.recv().expect("it is answered").map(drop);
        let busy =
            matches!(&refused, Err(Failure::Unavailable(trouble)) if trouble.kind == StoreErrorKind::Busy);
        assert!(busy, "{refused:?}");
    }
    go_on.send(()).expect("the writer waits");
    let done = answers.iter().take(4).filter(Result::is_ok).count();
    assert_eq!(done, 4, "what found a place is done");
    assert!(!store.epoch().is_empty());
}
