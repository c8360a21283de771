//! The server side: threads that share only a port and their wake-ups.
//!
//! Owns descriptors and byte counts. After the upgrade request, whose key must be answered, it must not examine what it
//! receives; only the exchange of the C10K test has to.

use std::io::{self, Read, Write, stdin, stdout};
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use bench_load::CONNECTIONS_PER_THREAD_MAX;
use bench_load::sys::{self, Epoll, Ready, Wakeup};

use crate::accept::accepting_head;
use crate::cli::ServeArguments;
use crate::exchange::{Consequence, Exchange};
use crate::unmask;

/// The kernel limits this to `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

/// Planned share of a descriptor table, less than the whole because connections are distributed over listeners at
/// random.
const PLANNED_PER_THREAD: usize = CONNECTIONS_PER_THREAD_MAX * 9 / 10;

const READ_BUFFER_BYTES: usize = 64 * 1024;

const LISTENER: u64 = u64::MAX;
const WAKEUP: u64 = u64::MAX - 1;

/// Serves until standard input is closed or a thread fails.
pub(crate) fn serve(arguments: &ServeArguments) -> io::Result<()> {
    sys::raise_descriptor_limit()?;
    let threads = arguments.threads.max(arguments.connections.div_ceil(PLANNED_PER_THREAD));
    let exchange = Arc::new(Exchange::new(arguments.exchange, &arguments.topic));
    // Created before any table is unshared, so that every thread knows all of them by the same descriptor numbers.
    let wakeups = (0..threads).map(|_| Wakeup::new()).collect::<io::Result<Vec<_>>>()?;
    let wakeups: Arc<[Wakeup]> = wakeups.into();

    let (listening, addresses) = channel();
    let mut address = arguments.listen;
    for index in 0..threads {
        let (exchange, wakeups, listening) = (Arc::clone(&exchange), Arc::clone(&wakeups), listening.clone());
        thread::spawn(move || {
            end_process_on_failure(run_shard(index, address, exchange, wakeups, &listening))
        });
        // The first listener may choose the port; the others share it.
        address = next_address(&addresses)?;
    }
    writeln!(stdout(), "listening {address}")?;
    stdout().flush()?;
    wait_for_end_of_input()
}

fn run_shard(
    index: usize,
    address: SocketAddrV4,
    exchange: Arc<Exchange>,
    wakeups: Arc<[Wakeup]>,
    listening: &Sender<SocketAddrV4>,
) -> io::Result<()> {
    sys::unshare_descriptor_table()?;
    let mut shard = Shard::new(index, address, exchange, wakeups)?;
    // The receiver is gone only when the process ends.
    let _ = listening.send(sys::local_address(&shard.listener)?);
    loop {
        shard.turn()?;
    }
}

struct Shard {
    index: usize,
    exchange: Arc<Exchange>,
    wakeups: Arc<[Wakeup]>,
    listener: OwnedFd,
    epoll: Epoll,
    /// Indexed by descriptor.
    pairs: Vec<Option<Pair>>,
    buffer: Box<[u8]>,
}

struct Pair {
    socket: OwnedFd,
    answered: u8,
    /// Bytes of a message that has not arrived completely.
    begun_bytes: u16,
}

impl Shard {
    fn new(
        index: usize,
        address: SocketAddrV4,
        exchange: Arc<Exchange>,
        wakeups: Arc<[Wakeup]>,
    ) -> io::Result<Self> {
        let (epoll, listener) = (Epoll::new()?, sys::listen(address, BACKLOG)?);
        epoll.add(&listener, LISTENER, false)?;
        epoll.add(wakeups[index].descriptor(), WAKEUP, false)?;
        let buffer = vec![0; READ_BUFFER_BYTES].into_boxed_slice();
        Ok(Self { index, exchange, wakeups, listener, epoll, pairs: Vec::new(), buffer })
    }

    fn turn(&mut self) -> io::Result<()> {
        for index in 0..self.epoll.wait(None)? {
            let ready = self.epoll.ready(index);
            match ready.token {
                LISTENER => self.accept()?,
                WAKEUP => self.broadcast_own(self.wakeups[self.index].take()),
                _ => self.serve(ready)?,
            }
        }
        Ok(())
    }

    /// Accepts all waiting connections; the driver limits how many connect at once.
    fn accept(&mut self) -> io::Result<()> {
        loop {
            let socket = match sys::accept(&self.listener) {
                Ok(socket) => socket,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The peer disconnected before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error),
            };
            let descriptor = socket.as_raw_fd() as usize;
            self.epoll.add(&socket, descriptor as u64, false)?;
            if self.pairs.len() <= descriptor {
                self.pairs.resize_with(descriptor + 1, || None);
            }
            self.pairs[descriptor] = Some(Pair { socket, answered: 0, begun_bytes: 0 });
        }
    }

    fn serve(&mut self, ready: Ready) -> io::Result<()> {
        let descriptor = ready.token as usize;
        let Some(mut pair) = self.pairs[descriptor].take() else { return Ok(()) };
        let publications = match pair.serve(&self.exchange, &mut self.buffer) {
            Ok(publications) if !ready.hung_up => publications,
            // Closed or reset by the peer: benchmark clients end in no other way.
            Ok(_) | Err(_) => return Ok(()),
        };
        self.pairs[descriptor] = Some(pair);
        if publications > 0 { self.broadcast(publications) } else { Ok(()) }
    }

    fn broadcast(&mut self, publications: u64) -> io::Result<()> {
        for (index, wakeup) in self.wakeups.iter().enumerate() {
            if index != self.index {
                wakeup.raise(publications)?;
            }
        }
        self.broadcast_own(publications);
        Ok(())
    }

    fn broadcast_own(&mut self, publications: u64) {
        let Consequence::Broadcast { frame } = &self.exchange.consequence else { return };
        let handshake_steps = self.exchange.handshake_steps();
        for _ in 0..publications {
            for pair in self.pairs.iter().flatten().filter(|pair| pair.answered == handshake_steps) {
                // What the kernel does not accept is lost here, and the driver counts it.
                let _ = sys::send(&pair.socket, frame);
            }
        }
    }
}

impl Pair {
    /// Reads once and answers; returns the number of publications.
    fn serve(&mut self, exchange: &Exchange, buffer: &mut [u8]) -> io::Result<u64> {
        let read = match sys::receive(&self.socket, buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
            Err(error) => return Err(error),
        };
        if self.answered < exchange.handshake_steps() {
            return self.shake_hands(exchange, &buffer[..read]).map(|()| 0);
        }
        let bytes = usize::from(self.begun_bytes) + read;
        let messages = bytes / exchange.message_bytes;
        self.begun_bytes = (bytes % exchange.message_bytes) as u16;
        match &exchange.consequence {
            Consequence::Broadcast { .. } => Ok(messages as u64),
            Consequence::Answer { answer_bytes, answers } => {
                let answers = answers.get(..messages * answer_bytes).ok_or(io::ErrorKind::InvalidInput)?;
                self.send_whole(answers).map(|()| 0)
            }
            // Such a short message, sent once a second, always arrives whole.
            Consequence::Unmask => self.send_whole(&unmask::echoes(&buffer[..read])?).map(|()| 0),
        }
    }

    fn shake_hands(&mut self, exchange: &Exchange, request: &[u8]) -> io::Result<()> {
        self.answered += 1;
        match &exchange.join_reply {
            Some(reply) if self.answered == exchange.handshake_steps() => self.send_whole(reply),
            Some(_) | None => self.send_whole(&accepting_head(request)?),
        }
    }

    /// Sends a canned answer. It always fits into a socket buffer that the peer drains; a pair where it does not is
    /// closed.
    fn send_whole(&self, bytes: &[u8]) -> io::Result<()> {
        if sys::send(&self.socket, bytes)? == bytes.len() {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }
}

fn next_address(addresses: &Receiver<SocketAddrV4>) -> io::Result<SocketAddrV4> {
    addresses.recv().map_err(|_| io::Error::other("no thread listens"))
}

fn end_process_on_failure(result: io::Result<()>) {
    if let Err(error) = result {
        eprintln!("floor: {error}");
        std::process::exit(1);
    }
}

fn wait_for_end_of_input() -> io::Result<()> {
    let mut byte = [0];
    while stdin().read(&mut byte)? > 0 {}
    Ok(())
}
