//! How many rows PostgreSQL reads to find what belongs to one person, by its own count.

use crate::acme::{self, call};
use crate::postgres_server::PostgresServer;
use chat::verbs::{Append, BlockPerson, CreateRoom, Join, Meet, OpenDirect};
use chat::*;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use store::{PostgresOptions, PostgresStore};

const PEOPLE: usize = 200;
const GROUPS: u64 = 5;
const DEADLINE: Duration = Duration::from_secs(60);
/// Rows of a table read per message: the row itself, once for the facts and once where it is changed, and versions of
/// it that are not vacuumed yet.
const LOOKUPS_MAX: u64 = 20;

fn person(nth: usize) -> PersonId {
    PersonId::parse(&format!("p{nth}")).expect("it is a name")
}

/// People who are all in one room; each has a direct conversation with the next one, and has blocked the one after
/// that.
fn meet(store: &PostgresStore) -> Vec<ConversationId> {
    acme::create(store);
    let name = RoomName::parse("lobby").expect("it is a name");
    let room = store.ask(call(By::Service).ask(CreateRoom::public(name, "Lobby"))).expect("new").id;
    for nth in 0..PEOPLE {
        let by = || call(By::Person(person(nth)));
        let profile = Profile { name: nth.to_string(), avatar: None, guest: false, role: None };
        store.ask(by().ask(Meet { profile })).expect("they may");
        store.ask(by().ask(Join { conversation: room, invitation: None })).expect("they may");
    }
    let open = |nth: usize| {
        let by = || call(By::Person(person(nth)));
        let opened = store.ask(by().ask(OpenDirect { with: person(nth ^ 1) })).expect("they share the room");
        store.ask(by().ask(BlockPerson { person: person((nth + 2) % PEOPLE) })).expect("they may");
        opened.id
    };
    (0..PEOPLE).map(open).collect()
}

/// Everybody sends a message at once, so that they are appended in groups.
fn talk(store: &PostgresStore, conversations: &[ConversationId]) {
    let (told, hears) = mpsc::channel();
    for (nth, conversation) in conversations.iter().enumerate() {
        let append = Append { conversation: *conversation, draft: Draft::text(None, "hello") };
        let told = told.clone();
        store.submit_verb(call(By::Person(person(nth))).ask(append), move |outcome| {
            told.send(outcome.map(drop)).expect("the test waits");
        });
    }
    for _ in conversations {
        hears.recv().expect("all are answered").expect("they may");
    }
}

/// Waits until the store's connections have ended: a connection reports its counts before it is gone.
fn wait_for_its_end(counts: &mut postgres::Client) {
    let others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    let deadline = Instant::now() + DEADLINE;
    while counts.query_one(others, &[]).expect("it counts").get::<_, i64>(0) > 0 {
        assert!(Instant::now() < deadline, "the store's connections go on");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Rows of a table that were read since the server started.
fn rows_read(counts: &mut postgres::Client, table: &str) -> u64 {
    let sql = "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = $1";
    let read: i64 = counts.query_one(sql, &[&table]).expect("it counts").get(0);
    read.unsigned_abs()
}

#[test]
fn senders_are_found_by_their_keys_and_not_among_all_of_a_community() {
    let server = PostgresServer::start();
    let store = PostgresStore::open(PostgresOptions::new(&server.url())).expect("a new database opens");
    let conversations = meet(&store);
    let mut other = postgres::Client::connect(&server.url(), postgres::NoTls).expect("it runs");
    // As the database would analyze its tables in its first minute.
    other.batch_execute("ANALYZE").expect("it may");
    talk(&store, &conversations);
    drop(store);
    wait_for_its_end(&mut other);
    let tables = ["people", "members", "blocks", "conversations"];
    let before = tables.map(|table| rows_read(&mut other, table));
    let store = PostgresStore::open(PostgresOptions::new(&server.url())).expect("it opens again");
    for _ in 0..GROUPS {
        talk(&store, &conversations);
    }
    drop(store);
    wait_for_its_end(&mut other);
    let messages = GROUPS * PEOPLE as u64;
    for (table, before) in tables.into_iter().zip(before) {
        let read = rows_read(&mut other, table) - before;
        assert!(read <= LOOKUPS_MAX * messages, "{read} rows of {table} for {messages} messages");
        // Nobody has blocked the other person of their direct conversation.
        let least = if table == "blocks" { 0 } else { messages };
        assert!(read >= least, "{read} rows of {table} for {messages} messages: they were not counted");
    }
}
