//! Clients that do not use the heap once they are connected, so that its growth is the server's.

use proto::ws::{Opcode, encode_client_frame, encode_frame};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Time limit for a response.
const PATIENCE: Duration = Duration::from_secs(20);
const HEAD_BYTES_MAX: usize = 1024;
const FRAME_BYTES_MAX: usize = 256;

/// One WebSocket.
pub(crate) struct Client(TcpStream);

/// What went wrong between client and server.
#[derive(Debug)]
pub(crate) enum Disagreement {
    /// An error of the system or a disconnect, and the operation during which it occurred.
    Io(&'static str, io::Error),
    /// The server refused the upgrade; the beginning of its response.
    NotUpgraded(String),
    /// The server sent something other than expected.
    Unexpected { wanted: String, got: String },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Disagreement::Io(what, error) => write!(f, "{what}: {error}"),
            Disagreement::NotUpgraded(said) => write!(f, "the server did not upgrade a connection: {said}"),
            Disagreement::Unexpected { wanted, got } => write!(f, "wanted {wanted:?}, got {got:?}"),
        }
    }
}

impl Client {
    /// Connects and upgrades at `path`.
    pub(crate) fn connect(address: SocketAddr, path: &str) -> Result<Client, Disagreement> {
        let while_connecting = |error| Disagreement::Io("a client could not connect", error);
        let socket = TcpStream::connect(address).map_err(while_connecting)?;
        socket.set_nodelay(true).map_err(while_connecting)?;
        socket.set_read_timeout(Some(PATIENCE)).map_err(while_connecting)?;
        let mut client = Client(socket);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        client.send(request.as_bytes())?;
        client.upgraded()?;
        Ok(client)
    }

    /// Reads the response's head. A server sends nothing after it until the client sends something.
    fn upgraded(&mut self) -> Result<(), Disagreement> {
        let mut head = [0; HEAD_BYTES_MAX];
        let mut len = 0;
        while !head[..len].ends_with(b"\r\n\r\n") {
            let read = self.0.read(&mut head[len..]);
            match read.map_err(|error| Disagreement::Io("a client waited for its upgrade", error))? {
                0 => break,
                bytes => len += bytes,
            }
        }
        let said = String::from_utf8_lossy(&head[..len]);
        if said.starts_with("HTTP/1.1 101 ") { Ok(()) } else { Err(Disagreement::NotUpgraded(said.into())) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<(), Disagreement> {
        self.0.write_all(bytes).map_err(|error| Disagreement::Io("a client could not send", error))
    }

    /// Reads as many bytes as `wanted` has, and compares them.
    pub(crate) fn expect(&mut self, wanted: &[u8]) -> Result<(), Disagreement> {
        let mut buffer = [0; FRAME_BYTES_MAX];
        let got = &mut buffer[..wanted.len()];
        self.0.read_exact(got).map_err(|error| Disagreement::Io("a client waited for a message", error))?;
        if got == wanted {
            return Ok(());
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Err(Disagreement::Unexpected { wanted: text(wanted), got: text(got) })
    }
}

/// Encodes a text as a client sends it.
pub(crate) fn said(text: &str) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_client_frame(&mut frame, Opcode::Text, text.as_bytes(), [1, 2, 3, 4]);
    frame
}

/// Encodes a text as a server sends it.
pub(crate) fn heard(text: &str) -> Vec<u8> {
    let mut frame = Vec::new();
    encode_frame(&mut frame, Opcode::Text, text.as_bytes());
    assert!(frame.len() <= FRAME_BYTES_MAX, "more than a client reads at once");
    frame
}
