//! Kills of writers and servers.

use crate::postgres_server::PostgresServer;
use crate::writer::{Acked, Writer, acked, append, open, room, verify};
use chat::{Ask as _, Failure, StoreErrorKind};
use std::sync::mpsc;

const ROUNDS: usize = 20;
const ROUNDS_OF_POSTGRES: usize = 5;

/// Kills a writer repeatedly while appends are in flight, a little later each time.
fn kill_again_and_again(target: &str, rounds: usize) {
    let mut all = Acked::new();
    let mut there = 0;
    for round in 0..rounds {
        let name = format!("r{round}");
        let writer = Writer::start(&[], target, &name);
        let mut lines = writer.until("ready");
        for _ in 0..=round {
            lines.extend(writer.until("acked"));
        }
        lines.extend(writer.kill());
        let new = acked(&lines);
        let least = there + new.len() as u64;
        all.extend(new);
        there = verify(&*open(target), &all);
        assert!(there >= least, "what was read after an earlier kill is there still: {there} of {least}");
    }
}

pub(crate) fn sqlite_is_killed() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("killed.sqlite3");
    kill_again_and_again(file.to_str().expect("the path is text"), ROUNDS);
}

pub(crate) fn writer_is_killed() {
    let server = PostgresServer::start();
    kill_again_and_again(&server.url(), ROUNDS_OF_POSTGRES);
}

pub(crate) fn server_is_killed() {
    let mut server = PostgresServer::start();
    let store = open(&server.url());
    let room = room(&*store, "before");
    let mut all = Acked::new();
    let mut nth = 0;
    for _ in 0..3 {
        for _ in 0..20 {
            let said = store.ask(append(room, "a", nth)).expect("the server is there").message;
            all.insert(said.client_id.to_string(), said.seq.0);
            nth += 1;
        }
        server.kill();
        let missed = store.ask(append(room, "a", nth));
        let away =
            matches!(&missed, Err(Failure::Unavailable(trouble)) if trouble.kind == StoreErrorKind::Away);
        assert!(away, "no acknowledgement without a server: {missed:?}");
        server.start_again();
        // A retry is the same message, whether or not the server had stored it.
        let said = store.ask(append(room, "a", nth)).expect("the server is there again").message;
        all.insert(said.client_id.to_string(), said.seq.0);
        nth += 1;
        assert_eq!(verify(&*store, &all), nth);
    }
}

pub(crate) fn two_servers() {
    const MESSAGES: u64 = 200;
    let server = PostgresServer::start();
    let stores = [open(&server.url()), open(&server.url())];
    assert_eq!(stores[0].epoch(), stores[1].epoch());
    let room = room(&*stores[0], "before");
    let (answer, answers) = mpsc::channel();
    for nth in 0..MESSAGES {
        for store in &stores {
            let answer = answer.clone();
            store.submit_verb(append(room, "a", nth), move |outcome| {
                answer.send(outcome).expect("the test waits")
            });
        }
    }
    let mut all = Acked::new();
    let mut stored = 0;
    for outcome in answers.iter().take(2 * MESSAGES as usize) {
        let appended = outcome.expect("both may");
        stored += u64::from(!appended.repeated);
        let (id, seq) = (appended.message.client_id.to_string(), appended.message.seq.0);
        assert_eq!(*all.entry(id).or_insert(seq), seq, "both servers give it the same place");
    }
    assert_eq!(stored, MESSAGES);
    assert_eq!(verify(&*stores[1], &all), MESSAGES);
}
