//! A driver for tests that connects to others, echoes what its own listeners receive, and reports to the test what it
//! sees.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use engine::{
    Admission, ConnectionId, Dial, Driver, EndCause, Engine, EngineConfig, Io, ListenerIndex, ShardCounters,
    ShardIndex,
};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;

pub(crate) use crate::watching::{PATIENCE, config, value, wait_until};

/// Identifies a call by a number that the test chose.
pub(crate) type Label = u32;

/// What the driver reports to the test.
#[derive(Debug, PartialEq, Eq, Clone)]
pub(crate) enum Seen {
    Accepted(SocketAddr),
    Begun(Label),
    Failed(Label, io::ErrorKind, Option<i32>),
    Connected(Label),
    Heard(Label, Vec<u8>),
    Expired(Label),
    Ended(Label, EndCause),
    TlsError(Label, String),
    Answered(u32),
}

/// A call as mail: a [`Dial`] that owns what it needs.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) label: Label,
    pub(crate) remote: SocketAddr,
    pub(crate) local: Option<SocketAddr>,
    pub(crate) tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    pub(crate) receive_buffer_bytes: Option<u32>,
    /// Sent at once, before the connection is established.
    pub(crate) early: &'static [u8],
    /// Sent as soon as it is established.
    pub(crate) greeting: &'static [u8],
    /// Reading pauses at each of these bytes.
    pub(crate) pause_at: Option<u8>,
    pub(crate) idle_limit: Option<Duration>,
}

impl Call {
    pub(crate) fn new(label: Label, remote: SocketAddr) -> Self {
        Self {
            label,
            remote,
            local: None,
            tls: None,
            receive_buffer_bytes: None,
            early: b"",
            greeting: b"",
            pause_at: None,
            idle_limit: None,
        }
    }
}

/// What a test may post.
#[derive(Debug)]
pub(crate) enum Post {
    Call(Call),
    /// Begins all these calls and then aborts them, in one driver call.
    CallAndAbort(Vec<Call>),
    Say(Label, Vec<u8>),
    Pause(Label),
    Resume(Label),
    Close(Label),
    Abort(Label),
    AbortAll,
    /// Gets an answer, so that a test knows what has been handled.
    Ask(u32),
}

pub(crate) enum Peer {
    /// Came in by a listener.
    Echo,
    Called(Box<Callee>),
}

pub(crate) struct Callee {
    label: Label,
    greeting: &'static [u8],
    pause_at: Option<u8>,
    idle_limit: Option<Duration>,
}

pub(crate) struct Caller {
    seen: mpsc::Sender<Seen>,
    calls: HashMap<Label, ConnectionId>,
}

impl Caller {
    fn tell(&self, seen: Seen) {
        let _ = self.seen.send(seen);
    }

    fn call(&mut self, io: &mut Io<'_, Self>, call: Call) {
        let Call { label, remote, local, tls, receive_buffer_bytes, early, greeting, pause_at, idle_limit } =
            call;
        let tls = tls.as_ref().map(|(config, name)| (config, name.clone()));
        let dial = Dial { remote, local, tls, receive_buffer_bytes };
        let callee = Box::new(Callee { label, greeting, pause_at, idle_limit });
        match io.connect(&dial, Peer::Called(callee)) {
            Ok(id) => {
                self.calls.insert(label, id);
                self.tell(Seen::Begun(label));
                io.send(id, early);
            }
            Err(error) => self.tell(Seen::Failed(label, error.kind(), error.raw_os_error())),
        }
    }
}

impl Driver for Caller {
    type Peer = Peer;
    type Mail = Post;
    type Seed = ();

    fn accepted(&mut self, _: ListenerIndex, remote: SocketAddr) -> Admission<Peer> {
        self.tell(Seen::Accepted(remote));
        Admission::Admit(Peer::Echo)
    }

    fn peer_for(&mut self, (): &()) -> Peer {
        Peer::Echo
    }

    fn adopted(&mut self, _: &mut Io<'_, Self>, _: ConnectionId, (): ()) {}

    fn connected(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        let Some(Peer::Called(callee)) = io.peer(id) else { panic!("nobody called") };
        let (label, greeting) = (callee.label, callee.greeting);
        self.tell(Seen::Connected(label));
        io.send(id, greeting);
    }

    fn received(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, bytes: &mut [u8]) -> usize {
        match io.peer(id).unwrap() {
            Peer::Echo => io.send(id, bytes),
            Peer::Called(callee) => {
                let pauses = callee.pause_at.is_some_and(|pause_at| bytes.contains(&pause_at));
                self.tell(Seen::Heard(callee.label, bytes.to_vec()));
                if pauses {
                    io.pause_reading(id);
                }
            }
        }
        bytes.len()
    }

    fn ended(&mut self, io: &mut Io<'_, Self>, id: ConnectionId, peer: Peer, cause: EndCause) {
        assert!(io.peer(id).is_none(), "the id names nobody any more");
        assert_eq!(io.tls_error().is_some(), cause == EndCause::Tls);
        if let Peer::Called(callee) = peer {
            if let Some(error) = io.tls_error() {
                self.tell(Seen::TlsError(callee.label, error.to_string()));
            }
            self.calls.remove(&callee.label);
            self.tell(Seen::Ended(callee.label, cause));
        }
    }

    fn idle_limit(&self, peer: &Peer) -> Option<Duration> {
        match peer {
            Peer::Echo => None,
            Peer::Called(callee) => callee.idle_limit,
        }
    }

    fn expired(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        if let Some(Peer::Called(callee)) = io.peer(id) {
            let label = callee.label;
            self.tell(Seen::Expired(label));
        }
        io.abort(id);
    }

    fn overflowed(&mut self, io: &mut Io<'_, Self>, id: ConnectionId) {
        io.abort(id);
    }

    fn mail(&mut self, io: &mut Io<'_, Self>, mail: Post) {
        match mail {
            Post::Call(call) => self.call(io, call),
            Post::CallAndAbort(calls) => {
                for call in calls {
                    let label = call.label;
                    self.call(io, call);
                    io.abort(self.calls[&label]);
                }
            }
            Post::Say(label, bytes) => io.send(self.calls[&label], &bytes),
            Post::Pause(label) => io.pause_reading(self.calls[&label]),
            Post::Resume(label) => io.resume_reading(self.calls[&label]),
            Post::Close(label) => io.close(self.calls[&label]),
            Post::Abort(label) => io.abort(self.calls[&label]),
            Post::AbortAll => {
                let everyone: Vec<_> = (0..io.slots()).filter_map(|slot| io.id_of(slot)).collect();
                everyone.into_iter().for_each(|id| io.abort(id));
            }
            Post::Ask(number) => self.tell(Seen::Answered(number)),
        }
    }

    fn turn(&mut self, _: &mut Io<'_, Self>) -> Option<Duration> {
        None
    }
}

/// An engine that makes calls, and echoes what it receives where it listens.
pub(crate) struct Fixture {
    pub(crate) engine: Engine<Caller>,
    seen: mpsc::Receiver<Seen>,
}

impl Fixture {
    /// Starts without listening.
    pub(crate) fn start() -> Self {
        Self::start_with(EngineConfig::new(vec![]))
    }

    pub(crate) fn start_with(config: EngineConfig) -> Self {
        let (seen_sender, seen) = mpsc::channel();
        let prepared = engine::prepare::<Caller>(config).unwrap();
        let make = move |_| Caller { seen: seen_sender.clone(), calls: HashMap::new() };
        Self { engine: prepared.start(make, Box::new(drop)).unwrap(), seen }
    }

    pub(crate) fn post(&self, post: Post) {
        self.post_to(0, post);
    }

    pub(crate) fn post_to(&self, shard: u16, post: Post) {
        self.engine.mailboxes().post(ShardIndex(shard), post);
    }

    pub(crate) fn call(&self, call: Call) {
        self.post(Post::Call(call));
    }

    pub(crate) fn say(&self, label: Label, bytes: &[u8]) {
        self.post(Post::Say(label, bytes.to_vec()));
    }

    pub(crate) fn counters(&self) -> Arc<ShardCounters> {
        self.engine.counters(ShardIndex(0))
    }

    /// Returns what the driver reports next.
    pub(crate) fn next(&self) -> Seen {
        self.seen.recv_timeout(PATIENCE).expect("the driver tells what the test waits for")
    }

    /// Waits until the driver reports something that `matches`, and drops what it reported before.
    pub(crate) fn wait_for(&self, matches: impl Fn(&Seen) -> bool) -> Seen {
        loop {
            let seen = self.next();
            if matches(&seen) {
                return seen;
            }
        }
    }

    pub(crate) fn wait_for_end(&self) -> EndCause {
        match self.wait_for(|seen| matches!(seen, Seen::Ended(..))) {
            Seen::Ended(_, cause) => cause,
            other => unreachable!("{other:?} is no end"),
        }
    }

    /// Collects what a call receives until it has received `length` bytes.
    pub(crate) fn hear(&self, label: Label, length: usize) -> Vec<u8> {
        let mut heard = Vec::new();
        while heard.len() < length {
            if let Seen::Heard(by, bytes) = self.next()
                && by == label
            {
                heard.extend_from_slice(&bytes);
            }
        }
        heard
    }

    /// Returns what the driver has reported up to now, waited for or not.
    pub(crate) fn told_until_now(&self) -> Vec<Seen> {
        const LAST: Seen = Seen::Answered(u32::MAX);
        self.post(Post::Ask(u32::MAX));
        std::iter::from_fn(|| Some(self.next())).take_while(|seen| *seen != LAST).collect()
    }

    /// Returns everything reported and not waited for, after the engine has shut down.
    pub(crate) fn shut_down(self) -> Vec<Seen> {
        self.engine.shutdown();
        self.seen.iter().collect()
    }
}

/// Returns a loopback address; port 0 is any port.
pub(crate) fn loopback(last: u8, port: u16) -> SocketAddr {
    (Ipv4Addr::new(127, 0, 0, last), port).into()
}
