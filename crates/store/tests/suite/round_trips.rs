//! How often the store waits for PostgreSQL, counted by a proxy between them; and a connection that breaks.

use crate::acme::call;
use crate::ann::{self, ann};
use crate::postgres_server::PostgresServer;
use chat::verbs::{Append, Around, ReadPage};
use chat::*;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use store::{PostgresOptions, PostgresStore};

/// A counting proxy to a server, on a port of its own.
#[derive(Clone, Default)]
struct Way {
    /// How often something was sent after an answer had come.
    trips: Arc<AtomicU64>,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Way {
    /// Starts a proxy to the server at that URL; also returns the URL of the proxy.
    fn to(url: &str) -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let port = listener.local_addr().expect("it is bound").port().to_string();
        let own = url.rsplit(':').next().and_then(|rest| rest.split('/').next()).expect("it has a port");
        let (way, target) = (Self::default(), format!("127.0.0.1:{own}"));
        let through = url.replace(own, &port);
        let carrying = way.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                carrying.carry(client.expect("somebody"), TcpStream::connect(&target).expect("it runs"));
            }
        });
        (way, through)
    }

    fn carry(&self, mut client: TcpStream, mut server: TcpStream) {
        let clone = |stream: &TcpStream| stream.try_clone().expect("there are descriptors");
        let (mut to_client, mut from_server) = (clone(&client), clone(&server));
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(clone(&client));
        let (answered, trips) = (Arc::new(AtomicBool::new(true)), self.trips.clone());
        let has_answered = answered.clone();
        thread::spawn(move || {
            let mut bytes = [0; 64 << 10];
            while let Ok(count @ 1..) = client.read(&mut bytes) {
                trips.fetch_add(u64::from(answered.swap(false, SeqCst)), SeqCst);
                if server.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            // It may already be closed.
            let _ = server.shutdown(Shutdown::Both);
        });
        thread::spawn(move || {
            let mut bytes = [0; 64 << 10];
            while let Ok(count @ 1..) = from_server.read(&mut bytes) {
                has_answered.store(true, SeqCst);
                if to_client.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _ = to_client.shutdown(Shutdown::Both);
        });
    }

    fn trips(&self) -> u64 {
        self.trips.load(SeqCst)
    }

    /// Breaks all connections.
    fn cut(&self) {
        for connection in self.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

/// A store behind such a proxy, with Ann in a room.
fn begin(server: &PostgresServer) -> (Way, PostgresStore, ConversationId) {
    let (way, url) = Way::to(&server.url());
    let options = PostgresOptions { readers: 1, ..PostgresOptions::new(&url) };
    let store = PostgresStore::open(options).expect("a new database opens");
    let room = ann::in_a_room(&store);
    (way, store, room)
}

fn send(store: &PostgresStore, conversation: ConversationId, id: &str) -> Result<u64, Failure> {
    let draft = Draft::text(Some(ClientId::parse(id).expect("it is a name")), "hello");
    store.ask(call(ann()).ask(Append { conversation, draft })).map(|appended| appended.message.seq.0)
}

fn count(store: &PostgresStore, conversation: ConversationId) -> usize {
    let read = ReadPage { conversation, around: Around::Newest, limit: 9 };
    store.ask(call(ann()).ask(read)).expect("she may").messages.len()
}

#[test]
fn a_message_is_stored_by_two_questions_one_for_its_facts_and_one_for_all_that_it_changes() {
    let server = PostgresServer::start();
    let (way, store, room) = begin(&server);
    assert_eq!(send(&store, room, "a").expect("she may"), 1, "this prepares the statements");
    let before = way.trips();
    assert_eq!(send(&store, room, "b").expect("she may"), 2);
    assert_eq!(way.trips() - before, 2);
    assert_eq!(send(&store, room, "b").expect("she may"), 2, "it is there already");
    assert_eq!(count(&store, room), 2);
}

#[test]
fn a_connection_that_broke_while_nobody_asked_is_made_again_unnoticed() {
    let server = PostgresServer::start();
    let (way, store, room) = begin(&server);
    for nth in 1..=3 {
        assert_eq!(send(&store, room, &nth.to_string()).expect("nobody notices"), nth);
        assert_eq!(count(&store, room), nth as usize);
        way.cut();
    }
}
