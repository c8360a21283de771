//! A connection between controller and agent: messages as lines, with limits on their size and on waiting.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum time that one write may block.
const WRITE_MAX: Duration = Duration::from_secs(10);
/// Read size, in bytes.
const READ_BYTES: usize = 64 * 1024;
/// A line buffer that has grown beyond this is freed when it is empty.
const BUFFER_KEPT_BYTES: usize = 1024 * 1024;

/// A bidirectional byte stream, encrypted or not.
pub(super) trait Stream: Read + Write + Send {}

impl<S: Read + Write + Send> Stream for S {}

/// Why a connection has failed.
#[derive(Debug)]
pub enum LinkError {
    /// The other side closed it.
    Closed,
    /// An I/O error.
    Broken(io::Error),
    /// A message exceeds the size limit.
    TooLong {
        /// The limit, in bytes.
        bytes_max: usize,
    },
    /// The received data is not a valid message.
    Garbled(String),
    /// The other side did not send an expected message within this time.
    Silent(Duration),
    /// The other side reported why it cannot continue.
    GaveUp(String),
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection was closed"),
            Self::Broken(error) => write!(f, "the connection failed: {error}"),
            Self::TooLong { bytes_max } => write!(f, "a message exceeds {bytes_max} bytes"),
            Self::Garbled(error) => {
                write!(f, "unexpected data, not a message of an agent or controller: {error}")
            }
            Self::Silent(time) => write!(f, "no data received for {} s", time.as_secs()),
            Self::GaveUp(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for LinkError {}

/// A connection for messages.
pub(super) struct Link {
    stream: Box<dyn Stream>,
    /// The same connection, for setting its timeouts.
    socket: TcpStream,
    /// Received data that is not a complete line yet.
    pending: Vec<u8>,
    /// Length of the prefix of `pending` that is known to contain no line end.
    searched: usize,
    bytes_max: usize,
    heard: Instant,
}

impl Link {
    /// Sends and receives messages of at most `bytes_max` bytes over `stream`, whose connection is `socket`.
    pub(super) fn new(
        stream: Box<dyn Stream>,
        socket: TcpStream,
        bytes_max: usize,
    ) -> Result<Self, LinkError> {
        socket.set_write_timeout(Some(WRITE_MAX)).map_err(LinkError::Broken)?;
        // Each message is written at once, and clock probes must not be delayed.
        socket.set_nodelay(true).map_err(LinkError::Broken)?;
        Ok(Self { stream, socket, pending: Vec::new(), searched: 0, bytes_max, heard: Instant::now() })
    }

    /// Changes the limit on message size.
    pub(super) fn allow(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
    }

    /// Sends one message.
    pub(super) fn send(&mut self, message: &impl Serialize) -> Result<(), LinkError> {
        let mut line = serde_json::to_vec(message).map_err(|error| LinkError::Garbled(error.to_string()))?;
        line.push(b'\n');
        self.stream.write_all(&line).and_then(|()| self.stream.flush()).map_err(broken)
    }

    /// Returns the next message; `None` if there is none within `patience`.
    pub(super) fn receive<T: DeserializeOwned>(
        &mut self,
        patience: Duration,
    ) -> Result<Option<T>, LinkError> {
        let until = Instant::now() + patience;
        loop {
            if let Some(end) = self.line_end() {
                let message = serde_json::from_slice(&self.pending[..end]);
                self.pending.drain(..=end);
                if self.pending.is_empty() && self.pending.capacity() > BUFFER_KEPT_BYTES {
                    self.pending = Vec::new();
                }
                self.heard = Instant::now();
                return message.map(Some).map_err(|error| LinkError::Garbled(error.to_string()));
            }
            if self.pending.len() > self.bytes_max {
                return Err(LinkError::TooLong { bytes_max: self.bytes_max });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !self.read(left)? {
                return Ok(None);
            }
        }
    }

    /// Returns the next message, which must arrive within `patience`.
    pub(super) fn expect<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T, LinkError> {
        self.receive(patience)?.ok_or(LinkError::Silent(patience))
    }

    /// Returns how long nothing has been received.
    pub(super) fn silent_for(&self) -> Duration {
        self.heard.elapsed()
    }

    fn line_end(&mut self) -> Option<usize> {
        let found = memchr::memchr(b'\n', &self.pending[self.searched..]).map(|end| self.searched + end);
        self.searched = if found.is_some() { 0 } else { self.pending.len() };
        found
    }

    /// Reads available data; returns whether any arrived within `patience`.
    fn read(&mut self, patience: Duration) -> Result<bool, LinkError> {
        // A timeout of zero is rejected by `set_read_timeout`.
        let patience = patience.max(Duration::from_millis(1));
        self.socket.set_read_timeout(Some(patience)).map_err(LinkError::Broken)?;
        let filled = self.pending.len();
        self.pending.resize(filled + READ_BYTES, 0);
        let read = self.stream.read(&mut self.pending[filled..]);
        self.pending.truncate(filled + read.as_ref().map_or(0, |bytes| *bytes));
        match read {
            Ok(0) => Err(LinkError::Closed),
            Ok(_) => {
                // A long message counts as a sign of life while it is received.
                self.heard = Instant::now();
                Ok(true)
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(false),
                ErrorKind::Interrupted => Ok(true),
                _ => Err(broken(error)),
            },
        }
    }
}

/// Maps errors that only mean that the other side has gone to [`LinkError::Closed`].
fn broken(error: io::Error) -> LinkError {
    match error.kind() {
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe => LinkError::Closed,
        _ => LinkError::Broken(error),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn pair(bytes_max: usize) -> (Link, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let other = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        let (socket, _) = listener.accept().expect("the other end");
        let stream = Box::new(socket.try_clone().expect("a copy"));
        (Link::new(stream, socket, bytes_max).expect("a link"), other)
    }

    #[test]
    fn messages_come_whole_however_their_bytes_come() {
        let (mut link, mut other) = pair(1_000);
        other.write_all(b"[1,2]\n[3").expect("written");
        assert_eq!(link.expect::<Vec<u8>>(PATIENCE).expect("a message"), [1, 2]);
        assert!(link.receive::<Vec<u8>>(Duration::from_millis(1)).expect("no error").is_none());
        other.write_all(b"]\n[4]\n").expect("written");
        assert_eq!(link.expect::<Vec<u8>>(PATIENCE).expect("a message"), [3]);
        assert_eq!(link.expect::<Vec<u8>>(PATIENCE).expect("a message"), [4]);
        drop(other);
        assert!(matches!(link.expect::<Vec<u8>>(PATIENCE), Err(LinkError::Closed)));
    }

    #[test]
    fn what_is_no_message_and_what_is_too_long_is_refused() {
        let (mut link, mut other) = pair(1_000);
        other.write_all(b"GET / HTTP/1.1\r\n").expect("written");
        assert!(matches!(link.expect::<Vec<u8>>(PATIENCE), Err(LinkError::Garbled(_))));
        let (mut link, mut other) = pair(1_000);
        other.write_all(&[b'1'; 1_001]).expect("written");
        assert!(matches!(link.expect::<Vec<u8>>(PATIENCE), Err(LinkError::TooLong { bytes_max: 1_000 })));
    }
}
