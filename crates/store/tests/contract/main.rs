//! The contract of every store: the same cases on memory, SQLite and PostgreSQL.
//!
//! Each case has a community of its own, in a store that others use at the same time. PostgreSQL is a real server that
//! this program starts and stops.

mod agreement;
mod belonging;
mod changes;
mod communities;
mod crowds;
mod cursors;
mod deliveries;
mod direct;
mod erased_rooms;
mod erasure;
mod exchange;
mod guests;
mod history;
mod moderation;
#[path = "../postgres_server/mod.rs"]
mod postgres_server;
mod retries;
mod revocations;
mod rooms;
mod scene;
mod search;
mod seen;
mod servers;

use chat::{MemoryStore, Store};
use libtest_mimic::{Arguments, Trial};
use postgres_server::PostgresServer;
use scene::Scene;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};

/// A claim, and the check of it.
type Case = (&'static str, fn(&Scene));

const CASES: &[&[Case]] = &[
    agreement::CASES,
    belonging::CASES,
    changes::CASES,
    communities::CASES,
    crowds::CASES,
    cursors::CASES,
    deliveries::CASES,
    direct::CASES,
    erased_rooms::CASES,
    erasure::CASES,
    exchange::CASES,
    guests::CASES,
    history::CASES,
    moderation::CASES,
    retries::CASES,
    revocations::CASES,
    rooms::CASES,
    search::CASES,
    seen::CASES,
];

type Open = fn() -> Arc<dyn Store>;

const STORES: [(&str, Open); 4] = [
    ("memory", memory),
    ("sqlite", sqlite),
    ("sqlite with an index of all but the newest message", sqlite_indexed),
    ("postgres", postgres),
];

fn memory() -> Arc<dyn Store> {
    static STORE: LazyLock<Arc<MemoryStore>> = LazyLock::new(Arc::default);
    STORE.clone()
}

fn sqlite() -> Arc<dyn Store> {
    static STORE: LazyLock<Arc<SqliteStore>> = LazyLock::new(|| {
        let path = scene::folder().join("contract.sqlite3");
        Arc::new(SqliteStore::open(SqliteOptions::new(path)).expect("a new file opens"))
    });
    STORE.clone()
}

fn sqlite_indexed() -> Arc<dyn Store> {
    static STORE: LazyLock<Arc<SqliteStore>> = LazyLock::new(|| {
        let path = scene::folder().join("indexed.sqlite3");
        let options = SqliteOptions { unindexed_max: 1, ..SqliteOptions::new(path) };
        Arc::new(SqliteStore::open(options).expect("a new file opens"))
    });
    STORE.clone()
}

/// A static, because cases share it; `main` stops it, since statics are never dropped.
static SERVER: Mutex<Option<PostgresServer>> = Mutex::new(None);

fn postgres() -> Arc<dyn Store> {
    static STORE: LazyLock<Arc<PostgresStore>> = LazyLock::new(|| {
        let server = PostgresServer::start();
        let store = PostgresStore::open(PostgresOptions::new(&server.url())).expect("a new database opens");
        *SERVER.lock().unwrap_or_else(PoisonError::into_inner) = Some(server);
        Arc::new(store)
    });
    STORE.clone()
}

/// A second server's store in the same database.
fn another_postgres() -> Arc<dyn Store> {
    // Starts the server, if no case has done so yet.
    drop(postgres());
    let server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    let url = server.as_ref().expect("it runs").url();
    Arc::new(PostgresStore::open(PostgresOptions::new(&url)).expect("a second server may open it"))
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for (store, open) in STORES {
        for (sentence, run) in CASES.iter().copied().flatten() {
            let run = *run;
            let name = format!("{store}: {sentence}");
            trials.push(Trial::test(name, move || {
                run(&Scene::new(open()));
                Ok(())
            }));
        }
    }
    for (sentence, run) in servers::CASES {
        trials.push(Trial::test(format!("two servers on postgres: {sentence}"), || {
            run(&Scene::new(postgres()), another_postgres());
            Ok(())
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    drop(SERVER.lock().unwrap_or_else(PoisonError::into_inner).take());
    scene::remove_folder();
    conclusion.exit_code()
}
