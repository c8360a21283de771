//! A TCP connection with a buffer in front of it, read against a deadline.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Instant;

use crate::PATIENCE;
use crate::failure::Failure;

/// Bytes asked of the kernel at once.
const READ_BYTES: usize = 16 * 1024;

/// One connection to the server.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
    ended: bool,
}

impl Wire {
    /// Connects within [`PATIENCE`].
    ///
    /// # Errors
    /// The connection cannot be made.
    pub(crate) fn connect(address: SocketAddr) -> Result<Self, Failure> {
        let doing = || Failure::broken(format!("connecting to {address}"));
        let stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(doing())?;
        stream.set_nodelay(true).map_err(doing())?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(doing())?;
        Ok(Self { stream, unread: Vec::new(), ended: false })
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// The server is gone or does not read.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.stream.write_all(bytes).map_err(Failure::broken("writing to the server"))
    }

    /// What has arrived and is not consumed yet.
    pub(crate) fn unread(&self) -> &[u8] {
        &self.unread
    }

    /// Takes the first `count` unread bytes.
    pub(crate) fn consume(&mut self, count: usize) -> Vec<u8> {
        self.unread.drain(..count).collect()
    }

    /// Waits for more bytes; `false` when the server has ended the connection, orderly or by a reset.
    ///
    /// # Errors
    /// Nothing came before the deadline.
    pub(crate) fn fill(&mut self, deadline: Instant) -> Result<bool, Failure> {
        if self.ended {
            return Ok(false);
        }
        let count = self.read_more(deadline).map_err(Failure::broken("reading from the server in time"))?;
        self.ended = count == 0;
        Ok(!self.ended)
    }

    /// Cuts the connection without a word, as a crashed client would.
    pub(crate) fn cut(&self) {
        // A connection that the server has ended before needs no cutting.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    fn read_more(&mut self, deadline: Instant) -> io::Result<usize> {
        let mut chunk = [0; READ_BYTES];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::new(ErrorKind::TimedOut, "nothing came before the deadline"));
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut chunk) {
                Ok(count) => {
                    self.unread.extend_from_slice(&chunk[..count]);
                    return Ok(count);
                }
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted | ErrorKind::WouldBlock | ErrorKind::TimedOut => {}
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                        return Ok(0);
                    }
                    _ => return Err(error),
                },
            }
        }
    }
}
