//! One thread's share of a crowd: its readiness loop, its connections and their counts.
//!
//! A worker runs one command at a time and waits for nothing but its own sockets.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Failure, Progress};
use crate::sys::{self, Epoll, Ready};
use crate::{CONNECTIONS_PER_THREAD_MAX, Target};

/// Maximum number of connections from one source address: well below its 28,232 ephemeral ports, so that the kernel
/// finds a port quickly.
const CONNECTIONS_PER_SOURCE: usize = 10_000;

/// Maximum number of handshakes in progress per worker: far below a listener's backlog, but enough to keep a server
/// busy.
const HANDSHAKES_MAX: usize = 128;

const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Maximum delay before a worker notices the stop flag.
const WAIT: Duration = Duration::from_millis(20);

/// The counters of a worker that other threads may read while it runs.
#[derive(Debug)]
pub(crate) struct Tally {
    epoch: Instant,
    messages: AtomicU64,
    last_message_at_ns: AtomicU64,
}

impl Tally {
    pub(crate) fn new(epoch: Instant) -> Self {
        Self { epoch, messages: AtomicU64::new(0), last_message_at_ns: AtomicU64::new(0) }
    }

    /// Returns the number of messages received on open connections so far.
    pub(crate) fn messages(&self) -> u64 {
        self.messages.load(Ordering::Acquire)
    }

    /// Returns the time of the latest message.
    pub(crate) fn last_message_at(&self) -> Instant {
        self.epoch + Duration::from_nanos(self.last_message_at_ns.load(Ordering::Acquire))
    }

    fn add(&self, messages: u64) {
        let elapsed_ns = self.epoch.elapsed().as_nanos() as u64;
        self.last_message_at_ns.store(elapsed_ns, Ordering::Release);
        self.messages.fetch_add(messages, Ordering::AcqRel);
    }
}

/// The states of a worker's connections; the three are disjoint.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Census {
    pub(crate) open: usize,
    pub(crate) failed: usize,
    pub(crate) closed: usize,
}

/// Missing and extra messages, over all connections.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Miscount {
    pub(crate) lost: u64,
    pub(crate) extra: u64,
}

#[derive(Debug)]
pub(crate) struct Worker {
    index: usize,
    target: Arc<Target>,
    tally: Arc<Tally>,
    epoll: Epoll,
    connections: Vec<Option<Connection>>,
    census: Census,
    echo: Option<Echo>,
    buffer: Box<[u8]>,
    messages_in_batch: u64,
}

/// What a connection sends for each message that it receives.
#[derive(Debug)]
struct Echo {
    frame_bytes: usize,
    frames: Vec<u8>,
}

impl Worker {
    pub(crate) fn new(index: usize, target: Arc<Target>, tally: Arc<Tally>) -> io::Result<Self> {
        Ok(Self {
            index,
            target,
            tally,
            epoll: Epoll::new()?,
            connections: Vec::new(),
            census: Census::default(),
            echo: None,
            buffer: vec![0; READ_BUFFER_BYTES].into_boxed_slice(),
            messages_in_batch: 0,
        })
    }

    /// Opens connections until `quota` have been attempted since the start, and all are open or have failed.
    pub(crate) fn open_until(&mut self, quota: usize, deadline: Instant) -> io::Result<Census> {
        while self.settled() < quota && Instant::now() < deadline {
            while self.connections.len() < quota && self.connections.len() - self.settled() < HANDSHAKES_MAX {
                self.open_one()?;
            }
            self.pump()?;
        }
        Ok(self.census)
    }

    /// Counts messages until `stop` is set: when they arrive, or that often.
    pub(crate) fn receive(&mut self, every: Option<Duration>, stop: &AtomicBool) -> io::Result<()> {
        while !stop.load(Ordering::Acquire) {
            match every {
                None => {
                    self.pump()?;
                }
                Some(pause) => {
                    thread::sleep(pause);
                    // What arrives meanwhile is read after the next pause.
                    while self.pump_for(Duration::ZERO)? == sys::EVENTS_PER_WAIT {}
                }
            }
        }
        Ok(())
    }

    /// Sends `in_flight` copies of `frame` on each connection, and one more for each message that comes back, until
    /// `stop` is set.
    pub(crate) fn echo(&mut self, frame: &[u8], in_flight: usize, stop: &AtomicBool) -> io::Result<()> {
        let frames = frame.repeat(in_flight);
        for slot in 0..self.connections.len() {
            if self.connections[slot].as_ref().is_some_and(|c| c.is_open() && c.send(&frames).is_err()) {
                self.census.open -= 1;
                self.census.closed += 1;
                self.connections[slot] = None;
            }
        }
        self.echo = Some(Echo { frame_bytes: frame.len(), frames });
        self.receive(None, stop)?;
        self.echo = None;
        Ok(())
    }

    /// Sends `frame` on the first open connection; returns whether there was one.
    pub(crate) fn send_one(&self, frame: &[u8]) -> bool {
        self.connections.iter().flatten().find(|c| c.is_open()).is_some_and(|c| c.send(frame).is_ok())
    }

    /// Handles what has arrived, and returns the state of the connections.
    pub(crate) fn census(&mut self) -> io::Result<Census> {
        while self.pump_for(Duration::ZERO)? > 0 {}
        Ok(self.census)
    }

    /// Returns how far the connections are from having received `expected` messages each since they opened.
    pub(crate) fn miscount(&self, expected: u32) -> Miscount {
        let gone = self.census.closed as u64 * u64::from(expected);
        let mut miscount = Miscount { lost: gone, extra: 0 };
        for connection in self.connections.iter().flatten().filter(|c| c.is_open()) {
            miscount.lost += u64::from(expected.saturating_sub(connection.messages));
            miscount.extra += u64::from(connection.messages.saturating_sub(expected));
        }
        miscount
    }

    fn settled(&self) -> usize {
        self.census.open + self.census.failed + self.census.closed
    }

    fn open_one(&mut self) -> io::Result<()> {
        let slot = self.connections.len();
        self.connections.push(None);
        let Ok(socket) = sys::connect(self.source(slot), self.target.address) else {
            self.census.failed += 1;
            return Ok(());
        };
        let mut connection = Connection::new(socket);
        if connection.start(&self.target).is_err() {
            self.census.failed += 1;
            return Ok(());
        }
        self.epoll.add(&connection.socket, slot as u64, !connection.is_started())?;
        self.connections[slot] = Some(connection);
        Ok(())
    }

    fn source(&self, slot: usize) -> Ipv4Addr {
        let address = (self.index * CONNECTIONS_PER_THREAD_MAX + slot) / CONNECTIONS_PER_SOURCE;
        Ipv4Addr::new(127, 1, (address / 250) as u8, (address % 250 + 1) as u8)
    }

    fn pump(&mut self) -> io::Result<usize> {
        self.pump_for(WAIT)
    }

    fn pump_for(&mut self, timeout: Duration) -> io::Result<usize> {
        let count = self.epoll.wait(Some(timeout))?;
        for index in 0..count {
            self.handle(self.epoll.ready(index));
        }
        if self.messages_in_batch > 0 {
            self.tally.add(std::mem::take(&mut self.messages_in_batch));
        }
        Ok(count)
    }

    fn handle(&mut self, ready: Ready) {
        let slot = ready.token as usize;
        let Some(mut connection) = self.connections[slot].take() else { return };
        match self.drive(&mut connection, ready.hung_up) {
            Ok(()) => self.connections[slot] = Some(connection),
            Err(_) if connection.is_open() => {
                self.census.open -= 1;
                self.census.closed += 1;
            }
            Err(_) => self.census.failed += 1,
        }
    }

    fn drive(&mut self, connection: &mut Connection, hung_up: bool) -> Result<(), Failure> {
        connection.start(&self.target)?;
        loop {
            let read = match sys::receive(&connection.socket, &mut self.buffer) {
                Ok(0) => return Err(Failure::Closed),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(_) => return Err(Failure::Io),
            };
            match connection.receive(&self.buffer[..read], &self.target)? {
                Progress::Pending => {}
                Progress::Opened => self.census.open += 1,
                Progress::Messages(count) => self.answer(connection, count)?,
            }
            // A short read means that nothing is left, except possibly the end of the stream.
            if read < self.buffer.len() && !hung_up {
                return Ok(());
            }
        }
    }

    fn answer(&mut self, connection: &Connection, count: u32) -> Result<(), Failure> {
        self.messages_in_batch += u64::from(count);
        let Some(echo) = &self.echo else { return Ok(()) };
        let bytes = (count as usize * echo.frame_bytes).min(echo.frames.len());
        if bytes == 0 { Ok(()) } else { connection.send(&echo.frames[..bytes]) }
    }
}
