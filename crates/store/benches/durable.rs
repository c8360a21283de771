//! How many messages a second are durable, beside a bare loop on the same disk.
//!
//! `cargo bench --package store --bench durable -- --messages 20000 --senders 1000`. It prints what it measured and the
//! ratios; it judges nothing. Figures of different runs are of different disks: compare ratios.

#![allow(clippy::print_stdout, reason = "it is a program")]

use chat::verbs::{Append, CreateCommunity, CreateRoom, Join, Meet, OpenDirect};
use chat::*;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};
use store::{SqliteOptions, SqliteStore};

static DRAWN: AtomicU64 = AtomicU64::new(1);

fn main() {
    let messages = argument("--messages", 5_000);
    let senders = argument("--senders", 1_000).max(2) & !1;
    let alone = (messages / 10).max(100);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let bare = bare(&folder.path().join("bare.sqlite3"), alone);
    let one = one_sender(&folder.path().join("one.sqlite3"), alone);
    let many = many_senders(&folder.path().join("many.sqlite3"), senders, messages);
    print("bare rusqlite loop, a commit each", &bare);
    print("one sender", &one);
    print(&format!("{senders} senders in conversations of two"), &many);
    println!("one sender / bare loop: {:.2}", one.rate() / bare.rate());
    println!("{senders} senders / bare loop: {:.2}", many.rate() / bare.rate());
}

struct Measured {
    acks: Vec<Duration>,
    took: Duration,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.acks.len() as f64 / self.took.as_secs_f64()
    }

    fn percentile_ms(&self, percent: usize) -> f64 {
        let mut acks = self.acks.clone();
        acks.sort();
        let place = (acks.len() * percent / 100).min(acks.len().saturating_sub(1));
        acks.get(place).map_or(0.0, |ack| ack.as_secs_f64() * 1_000.0)
    }
}

fn print(what: &str, measured: &Measured) {
    println!(
        "{what}: {:.0} messages/s, ack p50 {:.2} ms, p99 {:.2} ms",
        measured.rate(),
        measured.percentile_ms(50),
        measured.percentile_ms(99)
    );
}

fn argument(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments
        .next()
        .map_or(default, |value| value.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
}

/// What a program without any rule would do: a row with its text, a commit, again.
fn bare(path: &Path, messages: usize) -> Measured {
    let connection = rusqlite::Connection::open(path).expect("a new file opens");
    for (pragma, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
        connection.pragma_update(None, pragma, value).expect("it is known");
    }
    connection
        .execute_batch("CREATE TABLE messages (conversation INTEGER, seq INTEGER, text TEXT, PRIMARY KEY (conversation, seq))")
        .expect("the file is new");
    let mut statement = connection.prepare("INSERT INTO messages VALUES (1, ?1, ?2)").expect("it is SQL");
    let begun = Instant::now();
    let acks = (0..messages)
        .map(|nth| {
            let sent = Instant::now();
            statement.execute((nth as i64, text(nth))).expect("the disk has room");
            sent.elapsed()
        })
        .collect();
    Measured { acks, took: begun.elapsed() }
}

fn one_sender(path: &Path, messages: usize) -> Measured {
    let store = SqliteStore::open(SqliteOptions::new(path)).expect("a new file opens");
    let room = prepare(&store);
    meet(&store, "p0");
    store.ask(call("p0").ask(Join { conversation: room, invitation: None })).expect("they may");
    let begun = Instant::now();
    let acks = (0..messages)
        .map(|nth| {
            let sent = Instant::now();
            store.ask(append("p0", room, nth)).expect("they may");
            sent.elapsed()
        })
        .collect();
    Measured { acks, took: begun.elapsed() }
}

/// Each sender has one message on its way, and sends the next one when it is acknowledged.
fn many_senders(path: &Path, senders: usize, messages: usize) -> Measured {
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open(SqliteOptions::new(path)).expect("a new file opens"));
    let room = prepare(&*store);
    let names: Vec<String> = (0..senders).map(|nth| format!("p{nth}")).collect();
    for name in &names {
        meet(&*store, name);
        store.ask(call(name).ask(Join { conversation: room, invitation: None })).expect("they may");
    }
    let mut conversations = Vec::with_capacity(senders);
    for pair in names.chunks(2) {
        let with = PersonId::parse(&pair[1]).expect("it is a name");
        let id = store.ask(call(&pair[0]).ask(OpenDirect { with })).expect("they share the room").id;
        conversations.extend([id, id]);
    }
    let acks = Arc::new(Mutex::new(Vec::with_capacity(messages)));
    let (ready, is_ready) = mpsc::channel();
    let begun = Instant::now();
    let send = |sender: usize, nth: usize| {
        let (acks, ready, sent) = (acks.clone(), ready.clone(), Instant::now());
        store.submit_verb(append(&names[sender], conversations[sender], nth), move |outcome| {
            outcome.expect("they may");
            acks.lock().unwrap_or_else(PoisonError::into_inner).push(sent.elapsed());
            ready.send(sender).expect("the bench waits");
        });
    };
    for sender in 0..senders.min(messages) {
        send(sender, sender);
    }
    for nth in senders..messages {
        let sender = is_ready.recv().expect("all are answered");
        send(sender, nth);
    }
    for _ in 0..senders.min(messages) {
        is_ready.recv().expect("all are answered");
    }
    let took = begun.elapsed();
    let acks = acks.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Measured { acks, took }
}

fn prepare(store: &dyn Store) -> ConversationId {
    let service = || Call { by: By::Service, ..call("p0") };
    store.ask(service().ask(CreateCommunity { settings: Settings::named("Bench") })).expect("it is new");
    let name = RoomName::parse("room").expect("it is a name");
    store.ask(service().ask(CreateRoom::public(name, "Room"))).expect("it is new").id
}

fn meet(store: &dyn Store, name: &str) {
    let profile = Profile { name: name.to_owned(), avatar: None, guest: false, role: None };
    store.ask(call(name).ask(Meet { profile })).expect("they may come");
}

fn call(name: &str) -> Call {
    let nth = DRAWN.fetch_add(1, Ordering::Relaxed);
    let community = CommunityId::parse("bench").expect("it is a name");
    let by = By::Person(PersonId::parse(name).expect("it is a name"));
    let now = Moment::from_millis(1_700_000_000_000 + nth / 10);
    Call { community, by, now, entropy: Entropy((u128::from(nth) << 8).to_be_bytes()) }
}

fn append(name: &str, conversation: ConversationId, nth: usize) -> Asked<Append> {
    let client_id = ClientId::parse(&format!("c{nth}")).expect("it is an id");
    call(name).ask(Append { conversation, draft: Draft::text(Some(client_id), &text(nth)) })
}

/// 64 bytes of different words.
fn text(nth: usize) -> String {
    let mut text = format!("word{} number{} of many other words in a message", nth % 5_000, nth);
    text.truncate(64);
    text
}
