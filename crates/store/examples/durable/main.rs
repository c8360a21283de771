//! Measures durable messages per second, next to a bare loop on the same disk.
//!
//! `cargo run --release --package store --example durable -- --messages 20000 --senders 1000`. Prints a line of JSON
//! per measurement and judges nothing; `bench/run messenger` does. Results of different runs come from different disk
//! conditions: compare ratios. With `--postgres URL` the store is that database, which must be empty, instead of a
//! file; with `--bare` in addition, a client without rules writes the same rows into the tables that the store has
//! created. With `--every-us N` there is no store either: bare commits of one message each, so many microseconds apart, and
//! what one costs the processor.

#![allow(clippy::print_stdout, reason = "it is a program")]

mod bare;
mod bare_postgres;
mod measured;
mod paced;
mod senders;

use measured::Measured;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use store::{PostgresOptions, PostgresStore, SqliteOptions, SqliteStore};

fn main() {
    let messages = number("--messages", 5_000);
    let senders = number("--senders", 1_000).max(2) & !1;
    let alone = (messages / 10).max(100);
    if let Some(url) = argument("--postgres") {
        let open = || Arc::new(PostgresStore::open(PostgresOptions::new(&url)).expect("it can be opened"));
        if std::env::args().any(|argument| argument == "--bare") {
            let pairs = senders::pairs("bare", &*open(), senders);
            bare_postgres::run(&url, "bare", &pairs, messages).print("bare client");
            return;
        }
        senders::one("postgres", &*open(), alone).print("one sender");
        senders::many("postgres", open(), senders, messages).print("many senders");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = |name: &str| folder.path().join(name);
    if argument("--every-us").is_some() {
        let interval = Duration::from_micros(number("--every-us", 1_000) as u64);
        let paced = paced::run(&file("paced.sqlite3"), messages as u32, interval);
        println!("{}", paced.to_json("bare commits"));
        return;
    }
    // Run the bare loop before and after: a disk whose speed changes in between is noticed.
    bare::run(&file("before.sqlite3"), alone).print("bare loop");
    senders::one("file", &open(&file("one.sqlite3")), alone).print("one sender");
    senders::many("file", Arc::new(open(&file("many.sqlite3"))), senders, messages).print("many senders");
    bare::run(&file("after.sqlite3"), alone).print("bare loop, again");
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(SqliteOptions::new(path)).expect("a new file opens")
}

fn argument(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn number(name: &str, default: usize) -> usize {
    let parse = |value: String| value.parse().unwrap_or_else(|_| panic!("{name} takes a number"));
    argument(name).map_or(default, parse)
}

impl Measured {
    fn print(&self, what: &str) {
        println!("{}", self.to_json(what));
    }
}
