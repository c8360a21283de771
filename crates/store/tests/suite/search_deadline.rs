//! A search that takes too long fails with an explanation, and its connection remains usable.

use crate::acme::{self, call};
use crate::postgres_server::PostgresServer;
use chat::verbs::SearchMessages;
use chat::*;
use store::{PostgresOptions, PostgresStore};

fn found(store: &PostgresStore) -> Result<usize, Failure> {
    let search = SearchMessages { query: "hello".into(), conversation: None, before: None, limit: 9 };
    store.ask(call(By::Service).ask(search)).map(|listed| listed.rows.len())
}

#[test]
fn a_search_that_takes_too_long_asks_for_more_words_on_postgres() {
    let server = PostgresServer::start();
    let options = PostgresOptions { readers: 1, ..PostgresOptions::new(&server.url()) };
    let store = PostgresStore::open(options).expect("a new database opens");
    acme::create(&store);
    assert_eq!(found(&store), Ok(0));

    // Waiting for a lock stands in for looking through many messages.
    let mut other = postgres::Client::connect(&server.url(), postgres::NoTls).expect("it runs");
    let mut held = other.transaction().expect("it runs");
    held.batch_execute("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE").expect("nobody else has it");
    match found(&store) {
        Err(Failure::Invalid(problems)) => {
            assert_eq!((problems[0].field.as_str(), problems[0].code), ("query", "too_broad"));
        }
        other => panic!("{other:?}"),
    }
    held.rollback().expect("it runs");
    assert_eq!(found(&store), Ok(0), "the same connection goes on");
}
