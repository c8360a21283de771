//! Clients in a process of their own, to be killed together.

use crate::client::{Client, upgrade_request};
use crate::wire::{Opcode, frame};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// What a crowd joins.
pub const CROWD_TOPIC: &str = "room:crowd";

/// Connects `count` clients, each of which has joined [`CROWD_TOPIC`] when this returns. The request and the join go
/// out together, for all before the first answer is read.
#[must_use]
pub fn gather(server: SocketAddr, target: &str, count: usize) -> Vec<Client> {
    let mut opening = upgrade_request(target, "");
    let join = format!(r#"["1","1","{CROWD_TOPIC}","phx_join",{{}}]"#);
    opening.extend(frame(Opcode::Text, join.as_bytes()));
    let connect = |_| {
        let mut client = Client::connect(server);
        client.send(&opening);
        client
    };
    let mut clients: Vec<Client> = (0..count).map(connect).collect();
    for client in &mut clients {
        assert_eq!(client.answer().status, 101);
        assert_eq!(client.reply("1", CROWD_TOPIC)["status"], "ok");
    }
    clients
}

/// The program `crowd`, seen from the test that runs it.
pub struct Crowd {
    process: Child,
}

impl Crowd {
    /// Starts it; [`Crowd::wait_until_joined`] says when everybody is there.
    #[must_use]
    pub fn start(program: &str, server: SocketAddr, target: &str, count: usize) -> Crowd {
        let arguments = [server.to_string(), target.to_owned(), count.to_string()];
        // It ends with its standard input, so with the test too.
        let command =
            Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        Crowd { process: command.expect("a program of this package") }
    }

    /// Waits for its word that all have joined.
    pub fn wait_until_joined(&mut self) {
        let mut line = String::new();
        let output = self.process.stdout.as_mut().expect("it is piped");
        BufReader::new(output).read_line(&mut line).expect("text");
        assert_eq!(line.trim(), "joined", "the crowd could not gather");
    }

    /// Kills it without waiting, so that several die together.
    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // Dead already where the test got so far.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
