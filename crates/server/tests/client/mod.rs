//! A minimal WebSocket client: one upgrade, text frames, and the server's frames one by one.

// Each test program uses only part of this.
#![allow(dead_code, reason = "each test binary uses its own part of this")]

use crate::throng::DEADLINE;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};

const MASKED: u8 = 0x80;
const FINAL_TEXT: u8 = 0x81;
const FINAL_CLOSE: u8 = 0x88;

/// A frame from the server.
#[derive(Debug, PartialEq)]
pub(crate) enum Said {
    Text(String),
    /// A close frame with this code.
    Close(u16),
}

/// The transport of a client: TCP or TLS.
pub(crate) trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// One open connection.
pub(crate) struct Client {
    stream: Box<dyn Stream>,
}

impl Client {
    /// Connects to `path` and upgrades.
    pub(crate) fn open(address: SocketAddr, path: &str) -> Client {
        Client::try_open(address, path, "").expect("upgraded")
    }

    /// Connects and requests the upgrade with further header lines, each with its line end. Returns the status of a
    /// refusal.
    pub(crate) fn try_open(address: SocketAddr, path: &str, headers: &str) -> Result<Client, u16> {
        let stream = TcpStream::connect(address).expect("connected");
        stream.set_read_timeout(Some(DEADLINE)).expect("set");
        Client::upgrade(Box::new(stream), address, path, headers).expect("an answer")
    }

    /// Requests the upgrade on a connection. Fails if the connection ends before the answer.
    pub(crate) fn upgrade(
        mut stream: Box<dyn Stream>,
        address: SocketAddr,
        path: &str,
        headers: &str,
    ) -> io::Result<Result<Client, u16>> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text");
        match head.split(' ').nth(1).and_then(|status| status.parse().ok()) {
            Some(101) => Ok(Ok(Client { stream })),
            Some(status) => Ok(Err(status)),
            None => panic!("no status in {head:?}"),
        }
    }

    /// Sends a text frame. A masking key of zeros leaves the text as it is (RFC 6455 section 5.3).
    pub(crate) fn send(&mut self, text: &str) {
        let length = u8::try_from(text.len()).ok().filter(|length| *length < 126).expect("a short text");
        let mut frame = vec![FINAL_TEXT, MASKED | length, 0, 0, 0, 0];
        frame.extend_from_slice(text.as_bytes());
        self.stream.write_all(&frame).expect("written");
    }

    /// Returns the next frame.
    pub(crate) fn hear(&mut self) -> Said {
        let [kind, length] = self.bytes();
        let length = match length {
            126 => usize::from(u16::from_be_bytes(self.bytes())),
            127 => usize::try_from(u64::from_be_bytes(self.bytes())).expect("a length"),
            short => usize::from(short),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).expect("a whole frame");
        match kind {
            FINAL_TEXT => Said::Text(String::from_utf8(payload).expect("text")),
            FINAL_CLOSE => Said::Close(u16::from_be_bytes([payload[0], payload[1]])),
            other => panic!("a frame that starts with {other:#04x}"),
        }
    }

    /// Returns the next frame, which must be text.
    pub(crate) fn hear_text(&mut self) -> String {
        match self.hear() {
            Said::Text(text) => text,
            Said::Close(code) => panic!("closed with {code}"),
        }
    }

    /// Reads up to the close frame and returns its code.
    pub(crate) fn hear_close(&mut self) -> u16 {
        loop {
            if let Said::Close(code) = self.hear() {
                return code;
            }
        }
    }

    /// Joins a topic and waits for the reply.
    pub(crate) fn join(&mut self, topic: &str, payload: &str) {
        self.send(&format!(r#"["1","1","{topic}","phx_join",{payload}]"#));
        let reply = self.hear_text();
        assert_eq!(reply, format!(r#"["1","1","{topic}","phx_reply",{{"status":"ok","response":{{}}}}]"#));
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).expect("a whole frame");
        bytes
    }
}
