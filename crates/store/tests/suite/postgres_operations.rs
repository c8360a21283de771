//! Operations on a PostgreSQL database behind the store's back, as described in docs/operations.md.

use crate::acme::{self, call};
use crate::postgres_server::PostgresServer;
use chat::verbs::{Append, Around, CreateRoom, ReadPage};
use chat::*;
use store::{OpenError, PostgresOptions, PostgresStore};

fn open(server: &PostgresServer) -> Result<PostgresStore, OpenError> {
    PostgresStore::open(PostgresOptions::new(&server.url()))
}

fn operator(server: &PostgresServer) -> postgres::Client {
    postgres::Client::connect(&server.url(), postgres::NoTls).expect("it runs")
}

fn room(store: &PostgresStore) -> ConversationId {
    acme::create(store);
    let name = RoomName::parse("lobby").expect("it is a name");
    store.ask(call(By::Service).ask(CreateRoom::public(name, "Lobby"))).expect("it is new").id
}

fn say(store: &PostgresStore, room: ConversationId, text: &str) -> Result<(), Failure> {
    let append = Append { conversation: room, draft: Draft::text(None, text) };
    store.ask(call(By::Service).ask(append)).map(drop)
}

fn texts(store: &PostgresStore, room: ConversationId) -> Vec<String> {
    let read = ReadPage { conversation: room, around: Around::Newest, limit: 9 };
    let page = store.ask(call(By::Service).ask(read)).expect("it can be read");
    page.messages.into_iter().map(|shown| shown.message.text).collect()
}

#[test]
fn a_database_that_is_newer_than_the_program_is_refused_and_left_alone() {
    let server = PostgresServer::start();
    drop(open(&server).expect("a new database opens"));
    let mut operator = operator(&server);
    operator.batch_execute("UPDATE store SET version = 1000").expect("it may");
    let refused = open(&server).map(drop);
    assert!(matches!(refused, Err(OpenError::Newer { found: 1_000, .. })), "{refused:?}");
    let version: i64 = operator.query_one("SELECT version FROM store", &[]).expect("it is there").get(0);
    assert_eq!(version, 1_000);
}

#[test]
fn a_restored_database_begins_a_new_epoch_with_all_that_it_has() {
    let server = PostgresServer::start();
    let store = open(&server).expect("a new database opens");
    let (room, before) = (room(&store), store.epoch().to_owned());
    say(&store, room, "hello").expect("it is stored");
    drop(store);
    operator(&server).batch_execute("UPDATE store SET epoch = ''").expect("it may");
    let store = open(&server).expect("it opens");
    assert_ne!(store.epoch(), before);
    assert_eq!(texts(&store, room), ["hello"]);
}

#[test]
fn a_database_that_takes_nothing_for_a_time_acknowledges_nothing_and_is_written_again_afterwards() {
    let server = PostgresServer::start();
    let store = open(&server).expect("a new database opens");
    let room = room(&store);
    say(&store, room, "before").expect("it is stored");
    let mut operator = operator(&server);
    let let_write = |operator: &mut postgres::Client, setting: &str| {
        let sql = format!("ALTER DATABASE postgres SET default_transaction_read_only = {setting}");
        operator.batch_execute(&sql).expect("it may");
        let ended =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'throng'";
        operator.batch_execute(ended).expect("it may");
    };
    let_write(&mut operator, "on");
    for _ in 0..3 {
        let refused = say(&store, room, "meanwhile");
        let Err(Failure::Unavailable(trouble)) = refused else { panic!("{refused:?}") };
        assert_eq!(trouble.kind, StoreErrorKind::ReadOnly, "{trouble}");
    }
    assert_eq!(texts(&store, room), ["before"], "it is read all the while");
    operator.batch_execute("SET default_transaction_read_only = off").expect("it may");
    let_write(&mut operator, "off");
    say(&store, room, "after").expect("it is stored");
    assert_eq!(texts(&store, room), ["before", "after"]);
}
