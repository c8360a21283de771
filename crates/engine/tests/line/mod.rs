//! A driver for tests that exchanges lines over real sockets, and what a test needs to start it and to watch it.
#![allow(dead_code, unused_imports, reason = "each test binary uses its own part of this")]
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "tests only"
)]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use engine::{
    Admission, ConnectionId, Delivery, Driver, EndCause, Engine, EngineConfig, HandedOff, Io, ListenerIndex,
    Mailboxes, ShardCounters, ShardIndex, Tables,
};

pub(crate) use crate::watching::{PATIENCE, config, value, wait_until};

/// What the driver reports to the test.
#[derive(Debug, PartialEq, Eq, Clone)]
pub enum Seen {
    Accepted,
    Adopted(&'static str),
    Line(Vec<u8>),
    Delivered(Delivery),
    Expired,
    Overflowed,
    Mail(u32),
    Ended(ConnectionId, EndCause),
}

/// What a test may post.
#[derive(Debug)]
pub enum Post {
    Number(u32),
    /// Blocks the shard until the other end is dropped.
    Hold(mpsc::Receiver<()>),
    /// Delivers these bytes to every connection.
    Broadcast(Bytes),
    CloseAllWith(&'static [u8]),
    /// Whether connections whose peers are gone shall wait.
    HoldPartings(bool),
    Panic,
}

#[derive(Debug)]
pub struct Peer {
    idle_limit_ms: u32,
    quiet: bool,
}

pub struct LineDriver {
    seen: mpsc::Sender<Seen>,
    idle_limit_ms: u32,
    refuse: bool,
    /// The connection that gets a line in each of the coming turns, and how many are left.
    counting: Option<(ConnectionId, u32)>,
}

impl LineDriver {
    fn tell(&self, seen: Seen) {
        let _ = self.seen.send(seen);
    }

    fn obey(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, line: &[u8], rest: &[u8]) {
        let (verb, object) = match line.iter().position(|byte| *byte == b' ') {
            Some(space) => (&line[..space], &line[space + 1..]),
            None => (line, &b""[..]),
        };
        let number = || std::str::from_utf8(object).unwrap().parse::<u32>().unwrap();
        match verb {
            b"close" => io.close(id),
            b"bye" => io.close_with(id, object),
            b"abort" => io.abort(id),
            b"handoff" => io.hand_off(id, rest.to_vec()),
            b"limit" => io.peer(id).unwrap().idle_limit_ms = number(),
            b"count" => self.counting = Some((id, number())),
            b"shared" => io.send_shared(id, &Bytes::copy_from_slice(object)),
            b"deliver" => {
                let delivery = io.deliver(id, &Bytes::copy_from_slice(object));
                self.tell(Seen::Delivered(delivery));
            }
            // As many messages as requested, each of 1,000 bytes: digits and a newline.
            b"flood" => {
                for message in 0..number() {
                    let text = Bytes::from(format!("{message:0>999}\n"));
                    let delivery = io.deliver(id, &text);
                    if delivery == Delivery::Gone {
                        break;
                    }
                }
            }
            _ => {
                let mut answer = line.to_vec();
                answer.push(b'\n');
                io.send(id, &answer);
            }
        }
    }
}

impl Driver for LineDriver {
    type Peer = Peer;
    type Mail = Post;
    type Seed = &'static str;

    fn accepted(&mut self, _: ListenerIndex, _: SocketAddr) -> Admission<Peer> {
        if self.refuse {
            return Admission::Refuse(Bytes::from_static(b"no\n"));
        }
        self.tell(Seen::Accepted);
        Admission::Admit(Peer { idle_limit_ms: self.idle_limit_ms, quiet: false })
    }

    fn peer_for(&mut self, seed: &&'static str) -> Peer {
        Peer { idle_limit_ms: self.idle_limit_ms, quiet: *seed == "quiet" }
    }

    fn adopted(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, seed: &'static str) {
        self.tell(Seen::Adopted(seed));
        if !io.peer(id).unwrap().quiet {
            io.send(id, b"welcome\n");
        }
    }

    fn received(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, bytes: &mut [u8]) -> usize {
        let mut consumed = 0;
        while let Some(length) = bytes[consumed..].iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes[consumed..].split_at(length);
            self.tell(Seen::Line(line.to_vec()));
            self.obey(io, id, line, &rest[1..]);
            consumed += length + 1;
        }
        consumed
    }

    fn ended(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, _: Peer, cause: EndCause) {
        assert!(io.peer(id).is_none(), "the id names nobody any more");
        self.tell(Seen::Ended(id, cause));
    }

    fn idle_limit(&self, peer: &Peer) -> Option<Duration> {
        (peer.idle_limit_ms > 0).then(|| Duration::from_millis(peer.idle_limit_ms.into()))
    }

    fn expired(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        self.tell(Seen::Expired);
        io.close_with(id, b"idle\n");
    }

    fn overflowed(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        self.tell(Seen::Overflowed);
        io.close_with(id, b"too slow\n");
    }

    fn mail(&mut self, io: &mut Io<'_, Self>, mail: Post) {
        let everyone: Vec<_> = (0..io.slots()).filter_map(|slot| io.id_of(slot)).collect();
        match mail {
            Post::Number(number) => self.tell(Seen::Mail(number)),
            Post::Hold(until) => while until.recv().is_ok() {},
            Post::Broadcast(bytes) => {
                let slots: Vec<u32> = (0..io.slots()).collect();
                io.deliver_each(&slots, &bytes);
            }
            Post::HoldPartings(held) => io.hold_partings(held),
            Post::Panic => panic!("the driver was told to panic"),
            Post::CloseAllWith(last) => {
                for id in everyone {
                    io.close_with(id, last);
                }
            }
        }
    }

    fn turn(&mut self, io: &mut Io<'_, Self>) -> Option<Duration> {
        let (id, left) = self.counting.take()?;
        io.send(id, format!("{left}\n").as_bytes());
        if left == 0 {
            return None;
        }
        self.counting = Some((id, left - 1));
        // Both ways to be called again: at once, and after a while.
        Some(Duration::from_millis(u64::from(left % 2)))
    }
}

/// An engine that exchanges lines, on a free port of the loopback address.
pub struct Fixture {
    pub engine: Engine<LineDriver>,
    pub address: SocketAddr,
    pub mailboxes: Mailboxes<Post>,
    pub handed_off: mpsc::Receiver<HandedOff>,
    seen: mpsc::Receiver<Seen>,
}

#[derive(Default)]
pub struct Options {
    pub idle_limit_ms: u32,
    pub refuse: bool,
}

impl Fixture {
    pub fn start() -> Self {
        Self::start_with(config(), Options::default())
    }

    pub fn start_with(config: EngineConfig, options: Options) -> Self {
        Self::start_after(config, options, |_| ()).0
    }

    /// Prepares the engine, calls `first` with the mailboxes, and starts it.
    pub fn start_after<T>(
        config: EngineConfig,
        options: Options,
        first: impl FnOnce(&Mailboxes<Post>) -> T,
    ) -> (Self, T) {
        let prepared = engine::prepare::<LineDriver>(config).unwrap();
        let address = prepared.local_addresses()[0];
        let mailboxes = prepared.mailboxes();
        let done = first(&mailboxes);
        let (seen_sender, seen) = mpsc::channel();
        let (handed_off_sender, handed_off) = mpsc::channel();
        let Options { idle_limit_ms, refuse } = options;
        let make = move |_| LineDriver { seen: seen_sender.clone(), idle_limit_ms, refuse, counting: None };
        let handoff = Box::new(move |connection| drop(handed_off_sender.send(connection)));
        let engine = prepared.start(make, handoff).unwrap();
        (Self { engine, address, mailboxes, handed_off, seen }, done)
    }

    /// Blocks the first shard until the returned sender is dropped. It is blocked when this returns.
    pub fn hold(&self) -> mpsc::SyncSender<()> {
        let (held, until) = mpsc::sync_channel(0);
        self.mailboxes.post(ShardIndex(0), Post::Hold(until));
        held.send(()).expect("the shard takes its mail");
        held
    }

    pub fn connect(&self) -> Client {
        Client::new(TcpStream::connect(self.address).unwrap())
    }

    pub fn counters(&self) -> Arc<ShardCounters> {
        self.engine.counters(ShardIndex(0))
    }

    /// Waits until the driver reports something that `matches`, and drops what it reported before.
    pub fn wait_for(&self, matches: impl Fn(&Seen) -> bool) -> Seen {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let seen = self.seen.recv_timeout(left).expect("the driver tells what the test waits for");
            if matches(&seen) {
                return seen;
            }
        }
    }

    pub fn wait_for_end(&self) -> EndCause {
        match self.wait_for(|seen| matches!(seen, Seen::Ended(..))) {
            Seen::Ended(_, cause) => cause,
            other => unreachable!("{other:?} is no end"),
        }
    }

    /// Returns everything reported and not waited for, after the engine has shut down.
    pub fn shut_down(self) -> Vec<Seen> {
        self.engine.shutdown();
        self.seen.iter().collect()
    }
}

pub fn config_with_tables(tables: Tables) -> EngineConfig {
    EngineConfig { tables, ..config() }
}

/// A blocking client.
pub struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    pub fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { reader: BufReader::new(stream) }
    }

    pub fn stream(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    pub fn say(&mut self, text: &str) {
        self.stream().write_all(text.as_bytes()).unwrap();
    }

    /// Returns the next line without its newline; an empty one at the end of the stream.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.truncate(line.trim_end().len());
        line
    }

    /// Returns all lines until the end of the stream.
    pub fn hear_all(self) -> Vec<String> {
        self.reader.lines().map_while(Result::ok).collect()
    }
}
