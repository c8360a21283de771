//! A gateway in this process, with one shard, and clients on real sockets.

use crate::client::{Client, Disagreement, heard, said};
use crate::room::{PLANTED_BYTES, Room, TOPIC, join, join_reply};
use gateway::{Gateway, Mount, StartError, machine};
use std::fmt;
use std::net::SocketAddr;

/// A running gateway. Dropping it leaves the gateway running, but the process ends soon.
pub(crate) struct Server {
    address: SocketAddr,
}

/// Why measuring on sockets failed.
#[derive(Debug)]
pub(crate) enum Failure {
    Start(StartError),
    /// The descriptor limit is too low for clients and server together.
    Descriptors {
        needed: u64,
        limit: u64,
    },
    Client(Disagreement),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Start(error) => write!(f, "the gateway did not start: {error}"),
            Failure::Descriptors { needed, limit } => write!(
                f,
                "{needed} descriptors are needed and the limit is {limit}: raise it (ulimit -n {needed})"
            ),
            Failure::Client(error) => error.fmt(f),
        }
    }
}

impl From<Disagreement> for Failure {
    fn from(error: Disagreement) -> Failure {
        Failure::Client(error)
    }
}

/// Descriptors for everything other than connections.
const SPARE_DESCRIPTORS: u64 = 200;

/// Raises the descriptor limit, and checks that it suffices for both ends of this many connections.
pub(crate) fn make_room(connections: u32) -> Result<(), Failure> {
    // A limit that cannot be raised may still suffice.
    let limit = machine::raise_descriptor_limit().unwrap_or_else(|_| machine::descriptor_limit());
    let needed = 2 * u64::from(connections) + SPARE_DESCRIPTORS;
    match limit.soft {
        Some(limit) if limit < needed => Err(Failure::Descriptors { needed, limit }),
        Some(_) | None => Ok(()),
    }
}

impl Server {
    pub(crate) fn start(planted: bool) -> Result<Server, Failure> {
        let socket = Mount::channels("/socket").idle_timeout(None);
        let socket = if planted {
            socket.channel("room:*", Room::<PLANTED_BYTES>::new)
        } else {
            socket.channel("room:*", Room::<0>::new)
        };
        let echo = Mount::echo("/echo").idle_timeout(None);
        let gateway = Gateway::builder().listen(([127, 0, 0, 1], 0)).shards(1).mount(socket).mount(echo);
        let running = gateway.start().map_err(Failure::Start)?;
        Ok(Server { address: running.local_addresses()[0] })
    }

    /// Connects a plain WebSocket whose messages are echoed.
    pub(crate) fn echo(&self) -> Result<Client, Failure> {
        Ok(Client::connect(self.address, "/echo/websocket")?)
    }

    /// Connects a client that has joined the topic.
    pub(crate) fn member(&self) -> Result<Client, Failure> {
        let mut client = Client::connect(self.address, "/socket/websocket?vsn=2.0.0")?;
        client.send(&said(&join(TOPIC)))?;
        client.expect(&heard(&join_reply()))?;
        Ok(client)
    }
}
