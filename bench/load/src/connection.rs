//! One client connection: a state machine over the bytes that the server sends.
//!
//! Owns its socket, and must never block.

use std::io;
use std::os::fd::OwnedFd;

use crate::frames::{FrameReader, Seen};
use crate::target::Conversation;
use crate::{Target, sys};

const HEAD_END: &[u8] = b"\r\n\r\n";
const HEAD_START: &[u8] = b"HTTP/1.1 101";
const JOINED: &[u8] = br#""status":"ok""#;
const SUBSCRIBED: &[u8] = b"PONG\r\n";
const NATS_ERROR: &[u8] = b"-ERR";

/// A connection that is not closed.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: OwnedFd,
    pub(crate) messages: u32,
    frames: FrameReader,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Connecting,
    /// The request has been sent; `end_matched` bytes of the blank line that ends the response have arrived.
    Upgrading {
        end_matched: u8,
    },
    /// The hello has been sent.
    Greeting,
    Open,
}

/// The result of handling an event.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Progress {
    /// Nothing to report yet.
    Pending,
    /// The connection has just opened.
    Opened,
    /// This many messages have arrived on an open connection.
    Messages(u32),
}

/// Why a connection is no longer usable.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The kernel reported an error, or accepted less than a whole message.
    Io,
    /// The server sent a close frame or closed the connection.
    Closed,
    /// The response was not a 101, or the join or subscription was refused.
    Refused,
}

impl Connection {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        Self { socket, messages: 0, frames: FrameReader::default(), phase: Phase::Connecting }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Sends the upgrade request if the connection is established and the request has not been sent.
    pub(crate) fn start(&mut self, target: &Target) -> Result<(), Failure> {
        if self.phase != Phase::Connecting {
            return Ok(());
        }
        match sys::send(&self.socket, &target.request) {
            Ok(sent) if sent == target.request.len() => self.phase = Phase::Upgrading { end_matched: 0 },
            Err(error) if is_early(&error) => {}
            Ok(_) | Err(_) => return Err(Failure::Io),
        }
        Ok(())
    }

    pub(crate) fn is_started(&self) -> bool {
        self.phase != Phase::Connecting
    }

    /// Sends the whole `message`.
    pub(crate) fn send(&self, message: &[u8]) -> Result<(), Failure> {
        match sys::send(&self.socket, message) {
            Ok(sent) if sent == message.len() => Ok(()),
            Ok(_) | Err(_) => Err(Failure::Io),
        }
    }

    /// Handles bytes from the server.
    pub(crate) fn receive(&mut self, bytes: &[u8], target: &Target) -> Result<Progress, Failure> {
        match self.phase {
            Phase::Connecting => Err(Failure::Refused),
            Phase::Upgrading { end_matched } => self.receive_head(bytes, end_matched, target),
            Phase::Greeting => self.receive_reply(bytes, target),
            Phase::Open => {
                let seen = self.count(bytes, target)?;
                Ok(Progress::Messages(seen.messages))
            }
        }
    }

    fn receive_head(&mut self, bytes: &[u8], end_matched: u8, target: &Target) -> Result<Progress, Failure> {
        if end_matched == 0 && bytes.starts_with(b"HTTP/") && !bytes.starts_with(HEAD_START) {
            return Err(Failure::Refused);
        }
        let mut matched = usize::from(end_matched);
        for (index, byte) in bytes.iter().enumerate() {
            matched =
                if *byte == HEAD_END[matched] { matched + 1 } else { usize::from(*byte == HEAD_END[0]) };
            if matched == HEAD_END.len() {
                return self.upgraded(&bytes[index + 1..], target);
            }
        }
        self.phase = Phase::Upgrading { end_matched: matched as u8 };
        Ok(Progress::Pending)
    }

    /// Handles the end of the response head; `rest` is what followed it, because a server may send first.
    fn upgraded(&mut self, rest: &[u8], target: &Target) -> Result<Progress, Failure> {
        self.count(rest, target)?;
        let Some(hello) = &target.hello else {
            self.phase = Phase::Open;
            return Ok(Progress::Opened);
        };
        self.send(hello)?;
        self.phase = Phase::Greeting;
        Ok(Progress::Pending)
    }

    fn receive_reply(&mut self, bytes: &[u8], target: &Target) -> Result<Progress, Failure> {
        match target.conversation {
            Conversation::Upgrade => Err(Failure::Refused),
            Conversation::Join(_) => self.receive_join_reply(bytes, target),
            Conversation::Subscribe(_) => self.receive_pong(bytes, target),
        }
    }

    fn receive_join_reply(&mut self, bytes: &[u8], target: &Target) -> Result<Progress, Failure> {
        if self.count(bytes, target)?.messages == 0 {
            return Ok(Progress::Pending);
        }
        // A reply is far shorter than a segment, so it arrives whole, possibly followed by a broadcast.
        if !contains(bytes, JOINED) {
            return Err(Failure::Refused);
        }
        self.messages -= 1;
        self.phase = Phase::Open;
        Ok(Progress::Opened)
    }

    /// Handles the answer to the ping after the subscription; it is far shorter than a segment and arrives whole. The
    /// server's greeting precedes it, and nothing received up to here was a delivery.
    fn receive_pong(&mut self, bytes: &[u8], target: &Target) -> Result<Progress, Failure> {
        self.count(bytes, target)?;
        if contains(bytes, NATS_ERROR) {
            return Err(Failure::Refused);
        }
        if !contains(bytes, SUBSCRIBED) {
            return Ok(Progress::Pending);
        }
        self.messages = 0;
        self.phase = Phase::Open;
        Ok(Progress::Opened)
    }

    fn count(&mut self, bytes: &[u8], target: &Target) -> Result<Seen, Failure> {
        let seen = self.frames.feed(bytes, target.message_bytes_min);
        self.messages += seen.messages;
        if seen.close { Err(Failure::Closed) } else { Ok(seen) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        sys::reset_on_close(&self.socket);
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn is_early(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotConnected)
}
