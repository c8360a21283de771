//! Servers that do what they should.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::ServerConfig;

use crate::server::{path_of, upgrade_response};
use crate::{Counter, Peer, Server};

/// Sends every message back. The counter has the messages.
#[must_use]
pub fn echo() -> (Server, Counter) {
    echo_after(Duration::ZERO)
}

/// Sends every message back after it has thought, one message of a connection after the other.
#[must_use]
pub fn echo_after(thought: Duration) -> (Server, Counter) {
    let messages = Counter::default();
    let counted = messages.clone();
    let server = Server::start(move |peer| answer(peer, thought, &counted));
    (server, messages)
}

/// Sends every message back, by TLS. The counter has the messages.
#[must_use]
pub fn echo_by_tls(config: Arc<ServerConfig>) -> (Server, Counter) {
    let messages = Counter::default();
    let counted = messages.clone();
    let server = Server::start(move |peer| {
        peer.begin_tls(&config)?;
        answer(peer, Duration::ZERO, &counted)
    });
    (server, messages)
}

fn answer(peer: &mut Peer, thought: Duration, messages: &Counter) -> io::Result<()> {
    peer.upgrade()?;
    while let Some(message) = peer.message()? {
        std::thread::sleep(thought);
        peer.send(&message)?;
        messages.increase();
    }
    Ok(())
}

/// The path is a room: a message goes to everybody who is there, its sender too. The counter has the messages.
#[must_use]
pub fn rooms() -> (Server, Counter) {
    let rooms = Rooms::default();
    let messages = Counter::default();
    let counted = messages.clone();
    let server = Server::start(move |peer| {
        let (room, number) = rooms.enter(peer)?;
        let outcome = (|| {
            while let Some(message) = peer.message()? {
                counted.increase();
                rooms.publish(&room, &message.unmasked());
            }
            Ok(())
        })();
        rooms.leave(&room, number);
        outcome
    });
    (server, messages)
}

#[derive(Default)]
struct Rooms(Mutex<HashMap<String, Members>>);

#[derive(Default)]
struct Members {
    newest: u64,
    streams: Vec<(u64, TcpStream)>,
}

impl Rooms {
    /// The 101 goes out under the lock: whoever has it gets what is published from then on, and nothing comes before it.
    fn enter(&self, peer: &mut Peer) -> io::Result<(String, u64)> {
        let head = peer.request()?;
        let room = path_of(&head).to_owned();
        let response = upgrade_response(&head)?;
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let members = rooms.entry(room.clone()).or_default();
        members.newest += 1;
        members.streams.push((members.newest, peer.writer()?));
        peer.write(response.as_bytes())?;
        Ok((room, members.newest))
    }

    fn publish(&self, room: &str, bytes: &[u8]) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, stream) in rooms.get_mut(room).into_iter().flat_map(|members| &mut members.streams) {
            // Who has gone is found by its own thread.
            let _ = stream.write_all(bytes);
        }
    }

    fn leave(&self, room: &str, number: u64) {
        let mut rooms = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(members) = rooms.get_mut(room) {
            members.streams.retain(|(member, _)| *member != number);
        }
    }
}
